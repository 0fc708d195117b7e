import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Message } from '../../contracts/api/message.ts'
import { messageColumns } from '../../src/messages/columns.ts'
import { toMessage } from '../../src/messages/message.ts'
import { toEvent, toUnknownOutcomeEvent } from '../../src/messages/status/to-event.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { failed, type Field, listMissing } from './missing-fields.ts'

/**
 * Whoever adds a column of a message finds here where it is still missing. What a place leaves out on purpose is
 * listed beside the reason. `test/dashboard/message-fields.test.ts` does the same for the dashboard.
 */

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

test('the list has every column of the table', async () => {
  const { rows } = await sql<{ name: string }>`
    select column_name as name from information_schema.columns
    where table_schema = current_schema() and table_name = 'messages'`.execute(server.deps.db)

  // The database writes it, to find what stays pending.
  const unlisted = ['recorded_at']
  const listed = Object.values(messageColumns).map(({ name }) => name)
  expect(rows.map(({ name }) => name).toSorted()).toEqual([...listed, ...unlisted].toSorted())
})

/** Whoever reads a message is this account, or its owner. */
const ownAccount: Field[] = ['accountId']

test('a message in the API shows every column', async () => {
  expect(await listMissing(toMessage)).toEqual(ownAccount)
})

test('the contract has every field that the API shows, and no other', () => {
  expect(Object.keys(toMessage(failed)).toSorted()).toEqual(Object.keys(Message.shape).toSorted())
  expect(Message.parse(toMessage(failed))).toEqual(toMessage(failed))
})

const at = new Date('2026-11-20T10:00:00Z')
/** An event has a time of its own. */
const times: Field[] = ['createdAt', 'sentAt', 'deliveredAt', 'readAt', 'failedAt']

test('an event of a status shows every column', async () => {
  expect(await listMissing((message) => toEvent(message, at))).toEqual([...ownAccount, ...times])
})

test('an event of an unknown outcome shows what the request asked for', async () => {
  // The message is pending: WhatsApp has said nothing of it.
  const untold: Field[] = ['status', 'waMessageId', 'errorCode', 'errorMessage']
  const missing = await listMissing((message) => toUnknownOutcomeEvent(message, at))
  expect(missing.toSorted()).toEqual([...ownAccount, ...times, ...untold].toSorted())
})

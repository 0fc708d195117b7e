import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { Message } from '../../contracts/api/message.ts'
import { messageColumns, toMessage } from '../../src/messages/message.ts'
import { toEvents, toUnknownOutcomeEvent } from '../../src/messages/status/apply-statuses.ts'
import { forFile } from '../support/lifetime.ts'
import { startTestServer } from '../support/server.ts'
import { failed, type Field, listMissing } from './missing-fields.ts'

/**
 * These tests fail wherever a new message column is still missing. Deliberate omissions are listed with their
 * reason. `test/dashboard/pages/messages/message-fields.unit.test.ts` does the same for the dashboard.
 */

const server = await forFile(startTestServer())

test('lists every column of the table', async () => {
  const { rows } = await sql<{ name: string }>`
    select column_name as name from information_schema.columns
    where table_schema = current_schema() and table_name = 'messages'`.execute(server.deps.db)

  // Set by the database to find stale pending messages.
  const unlisted = ['recorded_at']
  const listed = Object.values(messageColumns).map(({ name }) => name)
  expect(rows.map(({ name }) => name).toSorted()).toEqual([...listed, ...unlisted].toSorted())
})

/** Only the account itself or its users can read a message. */
const ownAccount: Field[] = ['accountId']
/** The dashboard shows costs as sums; a single message has no price until Meta's invoice. */
const costs: Field[] = ['pricing']

test('shows every column of a message in the API', async () => {
  expect(await listMissing(toMessage)).toEqual([...ownAccount, ...costs])
})

test('declares exactly the fields that the API shows', () => {
  // It was sent to a number, so it has no `recipient`.
  const shown = [...Object.keys(toMessage(failed)), 'recipient']
  expect(shown.toSorted()).toEqual(Object.keys(Message.shape).toSorted())
  expect(Message.parse(toMessage(failed))).toEqual(toMessage(failed))
})

const at = new Date('2026-11-20T10:00:00Z')
/** An event has its own timestamp. */
const times: Field[] = ['createdAt', 'sentAt', 'deliveredAt', 'readAt', 'failedAt']

test('shows every column in a status event', async () => {
  expect(await listMissing((message) => toEvents(message, message, at))).toEqual([...ownAccount, ...times, ...costs])
})

test('shows the fields of the request in an event about an unknown outcome', async () => {
  // The message is pending, so WhatsApp has reported nothing yet.
  const unreported: Field[] = ['status', 'waMessageId', 'errorCode', 'errorMessage']
  const missing = await listMissing((message) => toUnknownOutcomeEvent(message, at))
  expect(missing.toSorted()).toEqual([...ownAccount, ...times, ...costs, ...unreported].toSorted())
})

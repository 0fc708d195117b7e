import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { openSendJournal, startSendJournalReplay } from '../../src/messages/send-journal-file.ts'
import type { JournalLocation } from '../../src/platform/journal.ts'
import type { PendingMessage } from '../../src/messages/message.ts'
import { fingerprintRequest } from '../../src/messages/send/idempotency.ts'
import { recordPending } from '../../src/messages/send/record-store.ts'
import { forFile } from '../support/lifetime.ts'
import { listRecordedEvents } from '../support/events.ts'
import { startTestServer } from '../support/server.ts'
import { newPendingMessage } from '../support/stored-messages.ts'

const log = pino({ level: 'silent' })

const server = await forFile(startTestServer())
const account = await server.account()
let location: JournalLocation
let replay: ReturnType<typeof startSendJournalReplay> | undefined
beforeEach(() => {
  location = { folder: mkdtempSync(path.join(tmpdir(), 'waybill-journal-')), database: 'db-1', bootId: 'boot-1' }
})
afterEach(async () => {
  await replay?.stop()
  replay = undefined
  rmSync(location.folder, { recursive: true })
})

const newMessage = () => newPendingMessage(server.deps, account)

async function readState(
  message: PendingMessage,
): Promise<{ status: string | undefined; keys: number; journals: number }> {
  const row = await server.deps.db
    .selectFrom('messages')
    .select('status')
    .where('account_id', '=', message.accountId)
    .where('id', '=', message.id)
    .executeTakeFirst()
  const keys = await server.deps.db
    .selectFrom('idempotency_keys')
    .select('key')
    .where('message_id', '=', message.id)
    .execute()
  const journals = readdirSync(location.folder).filter((name) => name.endsWith('.journal'))
  return { status: row?.status, keys: keys.length, journals: journals.length }
}

/** Records a message like a process that dies afterwards. */
async function recordAndDie({ isWritten }: { isWritten: boolean }): Promise<PendingMessage> {
  const journal = openSendJournal(location, log)
  const message = newMessage()
  const request = fingerprintRequest(message.id, sendMessage.example.input, server.deps.secrets)
  expect(await recordPending(server.deps.db, { message, request, journal })).toBe(true)
  if (isWritten) {
    // Another message keeps the journal file in place.
    journal.recording([{ accountId: 'acc_1', id: 'msg_unknown' }])
    journal.writing(message.id)
  }
  journal.close()
  return message
}

test('marks an unwritten message of a dead process as failed and frees its key', async () => {
  const message = await recordAndDie({ isWritten: false })
  expect(await readState(message)).toEqual({ status: 'pending', keys: 1, journals: 1 })

  replay = startSendJournalReplay(server.deps, location)

  await expect.poll(() => readState(message)).toEqual({ status: 'failed', keys: 0, journals: 0 })
  expect(readdirSync(location.folder)).toEqual([])
})

test('emits no event for an unwritten message, because its caller repeats the request', async () => {
  const message = await recordAndDie({ isWritten: false })
  replay = startSendJournalReplay(server.deps, location)
  await expect.poll(() => readState(message)).toMatchObject({ status: 'failed' })
  expect(await listRecordedEvents(server.deps, account, message.id)).toEqual([])
})

test('emits an event for an unwritten message whose outcome was reported as unknown', async () => {
  const message = await recordAndDie({ isWritten: false })
  const { accountId, id } = message
  const reported = { account_id: accountId, id, reported_at: new Date() }
  await server.deps.db.insertInto('overdue_messages').values(reported).execute()

  replay = startSendJournalReplay(server.deps, location)

  await expect.poll(() => readState(message)).toMatchObject({ status: 'failed' })
  expect(await listRecordedEvents(server.deps, account, id)).toMatchObject([
    { type: 'message.failed', data: { messageId: id, error: { code: 'SERVICE_UNAVAILABLE' } } },
  ])
})

test('keeps a possibly written message of a dead process pending, with its key', async () => {
  const message = await recordAndDie({ isWritten: true })
  replay = startSendJournalReplay(server.deps, location, { maxInsertMilliseconds: 10, retryEveryMs: 10 })
  await expect.poll(() => readState(message)).toEqual({ status: 'pending', keys: 1, journals: 0 })
})

test('waits for an insert that commits after its process died', async () => {
  const message = newMessage()
  const journal = openSendJournal(location, log)
  journal.recording([message])
  journal.close()
  replay = startSendJournalReplay(server.deps, location, { retryEveryMs: 10 })

  const request = fingerprintRequest(message.id, sendMessage.example.input, server.deps.secrets)
  await recordPending(server.deps.db, { message, request, journal })

  await expect.poll(() => readState(message)).toEqual({ status: 'failed', keys: 0, journals: 0 })
})

test('keeps the status of a message that was updated in the meantime', async () => {
  const message = await recordAndDie({ isWritten: false })
  await server.deps.db.updateTable('messages').set({ status: 'delivered' }).where('id', '=', message.id).execute()
  replay = startSendJournalReplay(server.deps, location)
  await expect.poll(() => readState(message)).toEqual({ status: 'delivered', keys: 1, journals: 0 })
})

test('ignores the journal of a running process until it exits', async () => {
  const journal = openSendJournal(location, log)
  const message = newMessage()
  await recordPending(server.deps.db, { message, request: undefined, journal })
  const dead = await recordAndDie({ isWritten: false })
  replay = startSendJournalReplay(server.deps, location, { scanEveryMs: 10 })
  await expect.poll(() => readState(dead)).toMatchObject({ status: 'failed' })
  expect(await readState(message)).toEqual({ status: 'pending', keys: 0, journals: 1 })

  journal.close()
  await expect.poll(() => readState(message)).toEqual({ status: 'failed', keys: 0, journals: 0 })
})

test.each([
  { what: 'a different boot of the machine', other: { bootId: 'boot-2' } },
  { what: 'a different database', other: { database: 'db-2' } },
])('ignores the journal of $what', async ({ other }) => {
  const message = await recordAndDie({ isWritten: false })
  const folder = location.folder
  writeFileSync(path.join(folder, 'broken.journal'), 'nonsense')
  replay = startSendJournalReplay(server.deps, { ...location, ...other })
  const own = openSendJournal({ ...location, ...other }, log)
  own.recording([{ accountId: 'acc_1', id: 'msg_none' }])
  own.close()
  await replay.stop()
  replay = startSendJournalReplay(server.deps, { ...location, ...other }, { maxInsertMilliseconds: 0 })

  await expect.poll(() => readState(message)).toEqual({ status: 'pending', keys: 1, journals: 2 })
})

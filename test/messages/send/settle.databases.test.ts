import type { Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { sendMessage } from '../../../contracts/api/message.ts'
import { noSendJournal } from '../../../src/messages/send-journal.ts'
import type { PendingMessage } from '../../../src/messages/message.ts'
import { deleteExpiredIdempotencyKeys } from '../../../src/messages/send/idempotency-store.ts'
import { fingerprintRequest, type IdempotentRequest } from '../../../src/messages/send/idempotency.ts'
import { recordPending as record } from '../../../src/messages/send/record-store.ts'
import { type Acceptance, settleAccepted, settleFailed } from '../../../src/messages/send/settle-store.ts'
import { settle, settleNeverDispatched } from '../../../src/messages/send/settle.ts'
import { lockMessages } from '../../../src/messages/status/store.ts'
import type { Database } from '../../../src/platform/db/schema.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer } from '../../support/server.ts'
import { newPendingMessage } from '../../support/stored-messages.ts'

const server = await forFile(startTestServer())
const account = await server.account()

const newMessage = () => newPendingMessage(server.deps, account)

function recordPending(
  db: Kysely<Database>,
  pending: { message: PendingMessage; request: IdempotentRequest | undefined },
) {
  return record(db, { ...pending, journal: noSendJournal })
}

function findStatus(id: string) {
  return server.deps.db
    .selectFrom('messages')
    .select(['status', 'error_code'])
    .where('account_id', '=', account.accountId)
    .where('id', '=', id)
    .executeTakeFirst()
}

async function listKeys(): Promise<string[]> {
  const rows = await server.deps.db
    .selectFrom('idempotency_keys')
    .select('key')
    .where('account_id', '=', account.accountId)
    .orderBy('key')
    .execute()
  return rows.map((row) => row.key)
}

test('marks a message as failed and frees its key if its insert commits after the timeout', async () => {
  const message = newMessage()
  const request = fingerprintRequest('late', sendMessage.example.input, server.deps.secrets)

  await settleNeverDispatched(server.deps, message, request)
  expect(await recordPending(server.deps.db, { message, request })).toBe(true)

  await expect.poll(() => findStatus(message.id)).toEqual({ status: 'failed', error_code: 'SERVICE_UNAVAILABLE' })
  expect(await listKeys()).not.toContain('late')
})

test('marks only a pending message as failed', async () => {
  const message = newMessage()
  const failure = { code: '1', reason: 'x', at: server.deps.now(), releaseKey: undefined }
  expect(await settleFailed(server.deps.db, message, failure)).toBe(false)
  await recordPending(server.deps.db, { message, request: undefined })
  expect(await settleFailed(server.deps.db, message, failure)).toBe(true)
  expect(await settleFailed(server.deps.db, message, failure)).toBe(false)
})

/** Messages that WhatsApp has accepted, but that are still recorded as pending. */
async function acceptPending(count: number): Promise<Acceptance[]> {
  const acceptances = Array.from({ length: count }, () => {
    const message = { ...newMessage(), externalId: 'order-7' }
    return { message, waMessageId: `wamid.${message.id}`, sentAt: new Date(1_800_000_000_000) }
  })
  for (const { message } of acceptances) await recordPending(server.deps.db, { message, request: undefined })
  return acceptances
}

async function findByWamid({ message: { accountId }, waMessageId }: Acceptance) {
  const messages = await lockMessages(server.deps.db, [{ accountId, messageId: undefined, waMessageId }])
  return messages.map(({ id, status, sentAt, to, externalId }) => ({ id, status, sentAt, to, externalId }))
}

test.each([
  { count: 1, how: 'alone' },
  { count: 5, how: 'in one batch' },
])('finds messages by their wamid once they are settled $how', async ({ count }) => {
  const acceptances = await acceptPending(count)

  await Promise.all(acceptances.map((acceptance) => settleAccepted(server.deps.db, acceptance)))

  for (const acceptance of acceptances) {
    const { message, sentAt } = acceptance
    expect(await findByWamid(acceptance)).toEqual([
      { id: message.id, status: 'sent', sentAt, to: message.to, externalId: 'order-7' },
    ])
  }
})

test.each([1, 2])('keeps a status that arrived before the response to the send, in a batch of %i', async (count) => {
  const acceptances = await acceptPending(count)
  const earlier = new Date(1_700_000_000_000)
  await server.deps.db
    .updateTable('messages')
    .set({ status: 'delivered', wa_message_id: 'wamid.of-the-status', sent_at: earlier })
    .where('account_id', '=', account.accountId)
    .where(
      'id',
      'in',
      acceptances.map(({ message }) => message.id),
    )
    .execute()

  await Promise.all(acceptances.map((acceptance) => settleAccepted(server.deps.db, acceptance)))

  const references = acceptances.map(({ message: { accountId, id } }) => ({
    accountId,
    messageId: id,
    waMessageId: '',
  }))
  const kept = { status: 'delivered', waMessageId: 'wamid.of-the-status', sentAt: earlier }
  expect(await lockMessages(server.deps.db, references)).toMatchObject(acceptances.map(() => kept))
})

test.each(['40P01', '40001', '55P03', '57014'])('retries a settlement after error %s', async (code) => {
  const message = newMessage()
  await recordPending(server.deps.db, { message, request: undefined })
  let failures = 0
  const db = server.deps.db.withPlugin({
    transformQuery: ({ node }) => {
      if (failures++ === 0) throw Object.assign(new Error('in the way'), { code })
      return node
    },
    transformResult: ({ result }) => Promise.resolve(result),
  })

  const result = { kind: 'failed', code: '1', reason: 'x', final: true, error: new Error('x') as never } as const
  await settle({ ...server.deps, db }, message, result, undefined)

  await expect.poll(() => findStatus(message.id)).toMatchObject({ status: 'failed' })
})

test('deletes expired keys in batches and keeps the others', async () => {
  const expired = ['old-1', 'old-2', 'old-3', 'old-4', 'old-5']
  for (const key of [...expired, 'new']) {
    const request = fingerprintRequest(key, sendMessage.example.input, server.deps.secrets)
    await recordPending(server.deps.db, { message: newMessage(), request })
  }
  await server.deps.db
    .updateTable('idempotency_keys')
    .set({ created_at: new Date(Date.now() - 25 * 3_600_000) })
    .where('key', 'in', expired)
    .execute()

  expect(await deleteExpiredIdempotencyKeys(server.deps.db, new Date(0), 2)).toBe(0)
  expect(await deleteExpiredIdempotencyKeys(server.deps.db, new Date(), 2)).toBe(5)
  expect(await listKeys()).toEqual(['new'])
})

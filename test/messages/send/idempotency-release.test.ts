import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { failUnwritten, resolvePending, settleFailed } from '../../../src/messages/send/settle-store.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'

const server = await forFile(startTestServer())

/** Two pending messages recorded in one transaction two minutes ago. The key belongs to the second. */
async function recordTwo(account: TestAccount): Promise<{ accountId: string; first: string; second: string }> {
  const { accountId, whatsAppAccountId } = account
  const [first, second] = [server.deps.newId('msg'), server.deps.newId('msg')]
  await server.deps.db.transaction().execute(async (trx) => {
    for (const id of [first, second])
      await sql`
        insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language, created_at, recorded_at)
        values (${accountId}, ${id}, ${whatsAppAccountId}, 'pending', '34600111222', 'order_shipped', 'en', now(), now() - interval '2 minutes')`.execute(
        trx,
      )
    await sql`
      insert into idempotency_keys (account_id, key, request_hash, message_id, created_at)
      values (${accountId}, 'order-1', ${Buffer.alloc(32)}, ${second}, now() - interval '2 minutes')`.execute(trx)
  })
  return { accountId, first, second }
}

function listKeys(accountId: string): Promise<{ key: string; message_id: string }[]> {
  return server.deps.db
    .selectFrom('idempotency_keys')
    .select(['key', 'message_id'])
    .where('account_id', '=', accountId)
    .orderBy('key')
    .execute()
}

const failure = { code: 'WHATSAPP_UNAVAILABLE', reason: 'WhatsApp was not reached', at: new Date() }

/** Everything that marks a message as failed and releases its idempotency key. */
const releases = {
  settleFailed: (accountId: string, id: string) =>
    settleFailed(server.deps.db, { accountId, id }, { ...failure, releaseKey: 'order-1' }),
  failUnwritten: async (accountId: string, id: string) => {
    const { failed } = await failUnwritten(server.deps.db, [{ accountId, id }])
    return failed.length === 1
  },
  resolvePending: (accountId: string, id: string) => resolvePending(server.deps.db, { accountId, id }, 'failed'),
} as const

// Another message can claim an expired key while the first one is still pending.
test.each(Object.entries(releases))('%s keeps a key that belongs to another message', async (_name, release) => {
  const account = await server.account()
  const { accountId, first, second } = await recordTwo(account)

  expect(await release(accountId, first)).toBe(true)
  expect(await listKeys(accountId)).toEqual([{ key: 'order-1', message_id: second }])

  expect(await release(accountId, second)).toBe(true)
  expect(await listKeys(accountId)).toEqual([])
})

test.each(Object.entries(releases))(
  '%s keeps the key of a message that was sent according to a status',
  async (_name, release) => {
    const { accountId, second } = await recordTwo(await server.account())
    await server.deps.db.updateTable('messages').set({ status: 'delivered' }).where('id', '=', second).execute()

    expect(await release(accountId, second)).toBe(false)
    expect(await listKeys(accountId)).toEqual([{ key: 'order-1', message_id: second }])
  },
)

test.each(Object.entries(releases))('%s changes nothing once the message has failed', async (_name, release) => {
  const { accountId, second } = await recordTwo(await server.account())
  expect(await release(accountId, second)).toBe(true)

  expect(await release(accountId, second)).toBe(false)
})

test('resolvePending as sent keeps the key and stores no failure', async () => {
  const { accountId, second } = await recordTwo(await server.account())

  expect(await resolvePending(server.deps.db, { accountId, id: second }, 'sent')).toBe(true)

  expect(await listKeys(accountId)).toEqual([{ key: 'order-1', message_id: second }])
  const message = await server.deps.db
    .selectFrom('messages')
    .select(['status', 'failed_at', 'error_code', 'error_message'])
    .where('account_id', '=', accountId)
    .where('id', '=', second)
    .executeTakeFirstOrThrow()
  expect(message).toEqual({ status: 'sent', failed_at: null, error_code: null, error_message: null })
})

test('failUnwritten lists the messages that were recorded, and says why they failed', async () => {
  const { accountId, second } = await recordTwo(await server.account())
  const entries = [second, 'msg_never_recorded'].map((id) => ({ accountId, id }))

  expect(await failUnwritten(server.deps.db, entries)).toEqual({ found: [second], failed: [{ accountId, id: second }] })

  const { error_message: reason } = await server.deps.db
    .selectFrom('messages')
    .select('error_message')
    .where('account_id', '=', accountId)
    .where('id', '=', second)
    .executeTakeFirstOrThrow()
  expect(reason).toBe('the service was interrupted before the message was sent')
})

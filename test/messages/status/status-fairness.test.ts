import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { messagesCallback, post, report, sendOne, status } from '../../support/callbacks.ts'
import { forFile } from '../../support/lifetime.ts'
import { listRecordedEvents } from '../../support/events.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'

const server = await forFile(startTestServer())

/** Stores messages in their state after a send. */
async function storeSent({ accountId, whatsAppAccountId }: TestAccount, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => server.deps.newId('msg'))
  await sql`insert into messages (account_id, id, whatsapp_account_id, to_number, template_name, template_language,
      status, wa_message_id, created_at, sent_at)
    select ${accountId}, id, ${whatsAppAccountId}, '34600111222', 'order_shipped', 'en', 'sent', 'wamid.' || id, now(), now()
    from unnest(${ids}::text[]) as stored (id)`.execute(server.deps.db)
  return ids
}

async function postDelivered(customer: TestAccount, messageIds: string[]): Promise<number> {
  const statuses = messageIds.map((id) => ({
    // Short, so that 22,000 fit into 3 MB.
    id: `w${id.slice(-6)}`,
    status: 'delivered',
    timestamp: '1800000000',
    biz_opaque_callback_data: id,
  }))
  const callback = messagesCallback(customer.phoneNumberId, statuses)
  return (await post(server, callback, { to: customer.whatsAppAccountId })).statusCode
}

async function countDelivered({ accountId }: TestAccount): Promise<number> {
  const { count } = await server.deps.db
    .selectFrom('messages')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('account_id', '=', accountId)
    .where('status', '=', 'delivered')
    .executeTakeFirstOrThrow()
  return Number(count)
}

test('applies a single status without waiting for 22,000 statuses of another account', async () => {
  const noisy = await server.account()
  const quiet = await server.account()
  const many = await storeSent(noisy, 22_000)
  const large = postDelivered(noisy, many)
  await expect.poll(() => countDelivered(noisy)).toBeGreaterThan(0)

  const [messageId = ''] = await storeSent(quiet, 1)
  expect(await postDelivered(quiet, [messageId])).toBe(200)

  expect(await countDelivered(quiet)).toBe(1)
  // The single status overtakes the waiting ones; how many of those are applied by then depends on the machine.
  expect(await countDelivered(noisy)).toBeLessThan(22_000)
  expect(await large).toBe(200)
  expect(await countDelivered(noisy)).toBe(22_000)
})

test('emits the events of one callback in order, even across several transactions', async () => {
  const customer = await server.account()
  const { messageId, waMessageId } = await sendOne(customer)
  const others = await storeSent(customer, 1_500)
  const of = (name: string) => status(name, waMessageId, { callbackData: messageId })
  const filling = others.map((id) => status('delivered', `wamid.${id}`, { callbackData: id }))
  await report(server, customer, [of('delivered'), ...filling, of('read')])

  const events = await listRecordedEvents(server.deps, customer, messageId)
  expect(events.map(({ type }) => type)).toEqual(['message.delivered', 'message.read'])
})

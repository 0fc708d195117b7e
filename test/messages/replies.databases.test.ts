import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { deleteOldSeenReplies } from '../../src/messages/replies.ts'
import { addEndpoint } from '../../src/webhooks/endpoints/change.ts'
import { post, sendOne, status } from '../support/callbacks.ts'
import { exampleSend } from '../support/example-send.ts'
import { forFile } from '../support/lifetime.ts'
import { listRecorded, newWamid, repliesCallback, replyTime, tap, text, userMessage } from '../support/replies.ts'
import { startTestServer, type TestAccount } from '../support/server.ts'

const server = await forFile(startTestServer())
let account: TestAccount
beforeEach(async () => {
  account = await server.account()
})

async function reply(messages: object[], to: Pick<TestAccount, 'phoneNumberId'> = account): Promise<void> {
  expect((await post(server, repliesCallback(to.phoneNumberId, messages))).statusCode).toBe(200)
}

test.each([
  {
    kind: 'button',
    content: tap('Yes', 'order-9:yes'),
    reply: { kind: 'button', text: 'Yes', payload: 'order-9:yes' },
  },
  { kind: 'text', content: text('Where is it?'), reply: { kind: 'text', text: 'Where is it?' } },
  {
    kind: 'flow',
    content: {
      type: 'interactive',
      interactive: { type: 'nfm_reply', nfm_reply: { name: 'flow', body: 'Sent', response_json: '{"size":"M"}' } },
    },
    reply: { kind: 'flow', text: 'Sent', payload: '{"size":"M"}' },
  },
])('reports a reply of kind $kind to subscribed endpoints only', async ({ content, reply: expected }) => {
  await addEndpoint(server.deps, account.accountId, { url: 'http://127.0.0.1:9/', events: ['message.replied'] })
  await addEndpoint(server.deps, account.accountId, { url: 'http://127.0.0.1:9/' })
  const { messageId, waMessageId } = await sendOne(account, { externalId: 'order-9' })
  const id = newWamid()

  await reply([userMessage(content, waMessageId, { id })])

  expect(await listRecorded(server, account)).toEqual([
    {
      type: 'message.replied',
      deliveries: 1,
      data: {
        messageId,
        waMessageId,
        status: 'sent',
        to: exampleSend.to,
        template: exampleSend.template,
        language: exampleSend.language,
        accountId: account.whatsAppAccountId,
        externalId: 'order-9',
        reply: { waMessageId: id, from: exampleSend.to, ...expected },
      },
    },
  ])
})

test('lists replies with the other events of the message', async () => {
  const { messageId, waMessageId } = await sendOne(account)
  await reply([userMessage(tap('Yes'), waMessageId)])

  const { data } = (await account.get(`/api/v1/event?messageId=${messageId}&type=message.replied`)).json()

  expect(data['items']).toMatchObject([{ event: { type: 'message.replied', data: { messageId } } }])
  const typed = await account.trpc.event.list.query({ type: 'message.replied' })
  expect(typed.items[0]?.event.data).toMatchObject({ reply: { kind: 'button', text: 'Yes' } })
})

test('reports a reply once, however often and concurrently WhatsApp repeats it', async () => {
  const { waMessageId } = await sendOne(account)
  const same = userMessage(tap('Yes'), waMessageId)

  await reply([same, same])
  await Promise.all(Array.from({ length: 10 }, () => reply([same])))

  expect(await listRecorded(server, account)).toHaveLength(1)
})

test('reports several replies in the order in which they arrived', async () => {
  const { waMessageId } = await sendOne(account)

  await reply(Array.from({ length: 20 }, (_, n) => userMessage(text(`${n}`), waMessageId)))
  await reply([userMessage(text('last'), waMessageId)])

  const texts = (await listRecorded(server, account)).map(({ data }) => (data['reply'] as { text: string }).text)
  expect(texts).toEqual([...Array.from({ length: 20 }, (_, n) => `${n}`), 'last'])
})

test('matches a reply by the wamid that a status in the same callback reports', async () => {
  const { messageId, waMessageId } = await sendOne(account)
  // As after a send whose response was lost.
  await server.deps.db.deleteFrom('wa_message_ids').where('message_id', '=', messageId).execute()
  await server.deps.db.updateTable('messages').set({ wa_message_id: null }).where('id', '=', messageId).execute()
  const callback = repliesCallback(account.phoneNumberId, [userMessage(tap('Yes'), waMessageId)])
  Object.assign((callback as { entry: { changes: { value: object }[] }[] }).entry[0]?.changes[0]?.value ?? {}, {
    statuses: [status('delivered', waMessageId, { callbackData: messageId })],
  })

  await post(server, callback)

  expect(await listRecorded(server, account)).toMatchObject([{ data: { messageId, status: 'delivered' } }])
})

test('ignores a reply to a message of another account or of another number', async () => {
  const other = await server.account()
  const { waMessageId } = await sendOne(account)
  const secondNumber = await account.addWhatsAppAccount({ phoneNumberId: '777000111222333' })
  expect(secondNumber).toMatch(/^wa_/)

  await reply([userMessage(tap('Yes'), waMessageId)], other)
  await reply([userMessage(tap('Yes'), waMessageId)], { phoneNumberId: '777000111222333' })
  await reply([userMessage(tap('Yes'), waMessageId)], { phoneNumberId: '999' })

  expect(await listRecorded(server, account)).toEqual([])
  expect(await listRecorded(server, other)).toEqual([])
  // The ignored replies do not count as repetitions of this one.
  await reply([userMessage(tap('Yes'), waMessageId)])
  expect(await listRecorded(server, account)).toHaveLength(1)
})

test('ignores a reply that is signed by the app of another number', async () => {
  const { waMessageId } = await sendOne(account)
  const phoneNumberId = '777000111222444'
  await account.addWhatsAppAccount({ phoneNumberId, appSecret: 'secret-of-another-app' })
  const callback = repliesCallback(account.phoneNumberId, [userMessage(text('STOP'), waMessageId)])

  const response = await post(
    server,
    { ...callback, hint: { phone_number_id: phoneNumberId } },
    { secret: 'secret-of-another-app' },
  )

  expect(response.statusCode).toBe(200)
  expect(await listRecorded(server, account)).toEqual([])
})

test('ignores texts of a chat, media, reactions and malformed messages', async () => {
  const { waMessageId } = await sendOne(account)

  await reply([
    userMessage(text('Hello!'), undefined),
    userMessage(tap('Yes'), undefined),
    userMessage({ type: 'image', image: { id: '1', mime_type: 'image/png' } }, waMessageId),
    { from: exampleSend.to, id: newWamid(), timestamp: '1', type: 'reaction', reaction: { message_id: waMessageId } },
    userMessage({ type: 'text', text: 'not an object' }, waMessageId),
    userMessage({ type: 'button' }, waMessageId),
    userMessage(text('no such message'), 'wamid.forged'),
    userMessage(text('NUL'), `${waMessageId}\0x`),
    userMessage(text('no id'), waMessageId, { id: '' }),
    { type: 'text' },
  ])

  expect(await listRecorded(server, account)).toEqual([])
})

test('cuts off enormous texts and payloads', async () => {
  const { waMessageId } = await sendOne(account)

  await reply([
    userMessage(text('x'.repeat(4095) + '😀'.repeat(100_000)), waMessageId),
    userMessage(tap('y'.repeat(500_000), 'z'.repeat(500_000)), waMessageId),
  ])

  const replies = (await listRecorded(server, account)).map(({ data }) => data['reply'] as Record<string, string>)
  expect(replies.map(({ text, payload }) => [text?.length, payload?.length])).toEqual([
    // Not 4096, which would end in half of an emoji.
    [4095, undefined],
    [4096, 16_384],
  ])
  expect(replies).toMatchObject([{ truncated: true }, { truncated: true }])
})

test('reports a reply without a number when WhatsApp hides it', async () => {
  const { waMessageId } = await sendOne(account)
  const { from: _, ...hidden } = userMessage(tap('Yes'), waMessageId) as { from: string }

  await reply([hidden])

  const [event] = await listRecorded(server, account)
  expect(event?.data['reply']).toEqual({ waMessageId: expect.any(String), kind: 'button', text: 'Yes', payload: 'Yes' })
})

async function readCounters(): Promise<number[]> {
  const text = (await server.request('GET', '/metrics')).text
  return ['applied', 'repeated', 'unknown'].map((result) =>
    Number(new RegExp(`waybill_whatsapp_replies_total\\{result="${result}"\\} (\\d+)`).exec(text)?.[1] ?? 0),
  )
}

test('counts replies by result', async () => {
  const { waMessageId } = await sendOne(account)
  const same = userMessage(tap('Yes'), waMessageId)
  const before = await readCounters()

  await reply([same, same, userMessage(tap('Yes'), 'wamid.forged')])

  expect((await readCounters()).map((count, index) => count - (before[index] ?? 0))).toEqual([1, 1, 1])
})

test('applies the other replies of a batch when WhatsApp sends a thousand at once', async () => {
  const { waMessageId } = await sendOne(account)
  const messages = Array.from({ length: 1_500 }, (_, n) =>
    userMessage(text(`${n}`), n % 2 === 0 ? waMessageId : 'wamid.x'),
  )

  await reply(messages)

  expect(await listRecorded(server, account)).toHaveLength(750)
})

test('loses and repeats nothing when the database fails in the middle', async () => {
  const { waMessageId } = await sendOne(account)
  const callback = repliesCallback(account.phoneNumberId, [userMessage(text('STOP'), waMessageId)])
  const { db } = server.deps
  // The event of the opt-out is written last.
  await sql`create function fail_opt_out() returns trigger language plpgsql as $$ begin raise exception 'disk full'; end $$`.execute(
    db,
  )
  await sql`create trigger fail_opt_out before insert on events for each row when (new.type = 'recipient.opted_out')
    execute function fail_opt_out()`.execute(db)
  const failed = await post(server, callback)
  await sql`drop function fail_opt_out cascade`.execute(db)

  expect(failed.statusCode).toBeGreaterThanOrEqual(500)
  expect(await listRecorded(server, account)).toEqual([])
  expect((await account.trpc.suppression.list.query({})).items).toEqual([])
  // WhatsApp repeats the callback.
  expect((await post(server, callback)).statusCode).toBe(200)
  expect((await post(server, callback)).statusCode).toBe(200)
  expect((await listRecorded(server, account)).map(({ type }) => type)).toEqual([
    'message.replied',
    'recipient.opted_out',
  ])
})

test('forgets replies after WhatsApp has stopped repeating them', async () => {
  const { waMessageId } = await sendOne(account)
  await reply([userMessage(tap('Yes'), waMessageId)])
  await reply([userMessage(tap('No'), waMessageId)])
  const count = async () =>
    (await server.deps.db.selectFrom('seen_replies').selectAll().where('account_id', '=', account.accountId).execute())
      .length

  await deleteOldSeenReplies(server.deps.db, new Date())
  expect(await count()).toBe(2)
  await server.deps.db
    .updateTable('seen_replies')
    .set({ received_at: new Date(replyTime * 1000 - 90 * 86_400_000) })
    .execute()
  await deleteOldSeenReplies(server.deps.db, new Date(0))
  expect(await count()).toBe(2)
  await deleteOldSeenReplies(server.deps.db, new Date(), 1)
  expect(await count()).toBe(0)
})

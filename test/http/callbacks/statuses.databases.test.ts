import { expect, test } from 'vitest'
import type { contracts } from '../../../contracts/index.ts'
import type { OutputOf } from '../../../contracts/procedure.ts'
import {
  changeCallback,
  getMessage,
  messagesCallback,
  post,
  report,
  sendOne,
  status,
  templateUpdate,
} from '../../support/callbacks.ts'
import { exampleSend } from '../../support/example-send.ts'
import { forFile } from '../../support/lifetime.ts'
import { listRecordedEvents } from '../../support/events.ts'
import { nodeForTest, startTestServer, type TestAccount, through } from '../../support/server.ts'

const server = await forFile(startTestServer())
const account = await server.account()

const listEvents = (customer: TestAccount, messageId: string) => listRecordedEvents(server.deps, customer, messageId)

async function listEventTypes(customer: TestAccount, messageId: string): Promise<string[]> {
  return (await listEvents(customer, messageId)).map(({ type }) => type)
}

test('records the time of each status and emits an event for each', async () => {
  const { messageId, waMessageId } = await sendOne(account)

  await report(server, account, [status('sent', waMessageId, { at: 1_800_000_001, callbackData: messageId })])
  await report(server, account, [status('delivered', waMessageId, { at: 1_800_000_002, callbackData: messageId })])
  await report(server, account, [status('read', waMessageId, { at: 1_800_000_003, callbackData: messageId })])

  expect(await getMessage(account, messageId)).toMatchObject({
    status: 'read',
    deliveredAt: new Date(1_800_000_002_000).toISOString(),
    readAt: new Date(1_800_000_003_000).toISOString(),
  })
  expect(await listEventTypes(account, messageId)).toEqual(['message.delivered', 'message.read'])
})

test('matches a status without a message ID by its wamid', async () => {
  const { messageId, waMessageId } = await sendOne(account)
  await report(server, account, [status('delivered', waMessageId)])
  expect(await getMessage(account, messageId)).toMatchObject({ status: 'delivered' })
})

test('ignores repeated and late statuses and emits no event for them', async () => {
  const { messageId, waMessageId } = await sendOne(account)
  const [sent, delivered, read] = ['sent', 'delivered', 'read'].map((name) =>
    status(name, waMessageId, { callbackData: messageId }),
  )

  await report(server, account, [read ?? {}, delivered ?? {}, read ?? {}])
  await report(server, account, [sent ?? {}, delivered ?? {}, read ?? {}])

  expect(await getMessage(account, messageId)).toMatchObject({ status: 'read' })
  expect(await listEventTypes(account, messageId)).toEqual(['message.delivered', 'message.read'])
})

test('reports the delivery that a read implies, once', async () => {
  const { messageId, waMessageId } = await sendOne(account)

  await report(server, account, [status('read', waMessageId, { at: 1_800_000_003 })])

  const readAt = new Date(1_800_000_003_000).toISOString()
  const message = await getMessage(account, messageId)
  expect(message).toMatchObject({ status: 'read', deliveredAt: readAt, readAt })
  const events = await listEvents(account, messageId)
  expect(events).toMatchObject([
    { type: 'message.delivered', timestamp: readAt, data: { messageId, status: 'delivered', implied: true } },
    { type: 'message.read', timestamp: readAt, data: { messageId, status: 'read' } },
  ])
  expect(events[1]?.data).not.toHaveProperty('implied')

  // The real delivery.
  await report(server, account, [status('delivered', waMessageId, { at: 1_800_000_004 })])
  await report(server, account, [status('read', waMessageId, { at: 1_800_000_005 })])

  expect(await getMessage(account, messageId)).toEqual(message)
  expect(await listEvents(account, messageId)).toEqual(events)
})

test('says of no delivery that WhatsApp reports that it is implied', async () => {
  const { messageId, waMessageId } = await sendOne(account)

  await report(server, account, [status('delivered', waMessageId), status('read', waMessageId)])

  const events = await listEvents(account, messageId)
  expect(events.map(({ type }) => type)).toEqual(['message.delivered', 'message.read'])
  for (const { data } of events) expect(data).not.toHaveProperty('implied')
})

test('reports the reason of a failure in the message and its event', async () => {
  const { messageId, waMessageId } = await sendOne(account, { externalId: 'order-9' })
  await report(server, account, [
    status('failed', waMessageId, {
      callbackData: messageId,
      errors: [
        {
          code: 131026,
          title: 'Message undeliverable',
          message: 'Message undeliverable',
          error_data: { details: 'The recipient is not on WhatsApp.' },
          href: 'https://exampleSend.com',
        },
      ],
    }),
  ])

  const error = {
    code: '131026',
    message: expect.stringMatching(
      /^The recipient is not on WhatsApp\. .*Check the number, or contact them another way\.$/,
    ),
  }
  expect(await getMessage(account, messageId)).toMatchObject({ status: 'failed', error, failedAt: expect.any(String) })
  expect(await listEvents(account, messageId)).toEqual([
    {
      type: 'message.failed',
      timestamp: new Date(1_800_000_000_000).toISOString(),
      data: {
        messageId,
        waMessageId,
        status: 'failed',
        to: exampleSend.to,
        template: exampleSend.template,
        language: exampleSend.language,
        accountId: account.whatsAppAccountId,
        externalId: 'order-9',
        error,
      },
    },
  ])
})

test('applies a status with a time in milliseconds, and the others', async () => {
  const [late, good] = [await sendOne(account), await sendOne(account)]
  await report(server, account, [
    status('delivered', late.waMessageId, { callbackData: late.messageId, at: 1_800_000_000_000 }),
    status('delivered', good.waMessageId, { callbackData: good.messageId }),
  ])

  expect(await getMessage(account, late.messageId)).toMatchObject({ status: 'delivered' })
  expect(await getMessage(account, good.messageId)).toMatchObject({ status: 'delivered' })
})

test('accepts a callback with characters that PostgreSQL cannot store', async () => {
  const { messageId, waMessageId } = await sendOne(account)
  await report(server, account, [
    status('failed', `${waMessageId}\0`, { callbackData: messageId, errors: [{ code: 1, title: 'a\0b\ud800' }] }),
  ])
  expect(await getMessage(account, messageId)).toMatchObject({ status: 'failed', error: { code: '1' } })

  expect((await post(server, messagesCallback('1\0', [status('read', waMessageId)]))).statusCode).toBe(200)
  const update = changeCallback('1\0', 'message_template_status_update', templateUpdate('PAUSED'))
  expect((await post(server, update)).statusCode).toBe(200)
})

test('clears a failure when the message is delivered', async () => {
  const { messageId, waMessageId } = await sendOne(account)
  await report(server, account, [
    status('failed', waMessageId, { callbackData: messageId, errors: [{ code: 131026 }] }),
  ])
  await report(server, account, [status('delivered', waMessageId, { callbackData: messageId })])

  const message = await getMessage(account, messageId)
  expect(message).toMatchObject({ status: 'delivered' })
  expect(message).not.toHaveProperty('error')
  expect(message).not.toHaveProperty('failedAt')
  expect(await listEventTypes(account, messageId)).toEqual(['message.failed', 'message.delivered'])
})

test('completes a pending message with its first status', async () => {
  const customer = await server.account()
  const unknown = await customer.post('/api/v1/message/send', { ...exampleSend, to: '15559000004', externalId: 'lost' })
  expect(unknown.json().error.code).toBe('SEND_OUTCOME_UNKNOWN')
  const [pending] = (await customer.get('/api/v1/message?externalId=lost')).json().data['items'] as [
    { messageId: string; status: string },
  ]
  expect(pending.status).toBe('pending')

  await report(server, customer, [
    status('sent', 'wamid.found-later', { callbackData: pending.messageId, at: 1_800_000_005 }),
  ])

  expect(await getMessage(customer, pending.messageId)).toMatchObject({
    status: 'sent',
    waMessageId: 'wamid.found-later',
    sentAt: new Date(1_800_000_005_000).toISOString(),
  })
  // From now on, the wamid alone identifies the message.
  await report(server, customer, [status('delivered', 'wamid.found-later')])
  expect(await getMessage(customer, pending.messageId)).toMatchObject({ status: 'delivered' })
})

test("applies a status that arrives before WhatsApp's response to the send", async () => {
  const customer = await server.account()
  const slow = await nodeForTest(server, { sendDeadlineMilliseconds: 60_000 })
  const answer = Promise.withResolvers<undefined>()
  server.simulator.intercept(() => answer.promise)
  const response = through(slow, customer).post('/api/v1/message/send', exampleSend)
  const find = async () =>
    ((await customer.get('/api/v1/message')).json().data['items'] as { messageId: string }[])[0]?.messageId
  await expect.poll(find).toBeDefined()
  const messageId = (await find()) ?? ''

  await report(server, customer, [status('delivered', 'wamid.overtaking', { callbackData: messageId })])
  server.simulator.intercept(undefined)
  answer.resolve(undefined)
  expect((await response).statusCode).toBe(200)

  expect(await getMessage(customer, messageId)).toMatchObject({
    status: 'delivered',
    waMessageId: 'wamid.overtaking',
    sentAt: expect.any(String),
  })
})

test('emits message.sent once, and only if an endpoint subscribes to it', async () => {
  const customer = await server.account()
  await server.deps.db
    .insertInto('webhook_endpoints')
    .values({
      id: server.deps.newId('ep'),
      account_id: customer.accountId,
      url: 'https://exampleSend.com/',
      events: ['message.sent'],
      secret_encrypted: 'x',
    })
    .execute()
  const { messageId, waMessageId } = await sendOne(customer)
  await report(server, customer, [status('sent', waMessageId, { callbackData: messageId })])

  expect(await listEventTypes(customer, messageId)).toEqual(['message.sent'])
  const deliveries = await server.deps.db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('account_id', '=', customer.accountId)
    .execute()
  expect(deliveries).toHaveLength(1)
})

test('applies a thousand statuses of one callback', async () => {
  const customer = await server.account()
  const sent = await Promise.all(Array.from({ length: 25 }, () => sendOne(customer)))
  const statuses = Array.from({ length: 1000 }, (_, index) => {
    const { messageId, waMessageId } = sent[index % sent.length] ?? { messageId: '', waMessageId: '' }
    return status(['sent', 'delivered', 'read'][index % 3] ?? 'sent', waMessageId, { callbackData: messageId })
  })

  await report(server, customer, statuses)

  for (const { messageId } of sent) expect(await getMessage(customer, messageId)).toMatchObject({ status: 'read' })
})

test('pages through settled events by cursor', async () => {
  const customer = await server.account()
  const sent = [await sendOne(customer), await sendOne(customer), await sendOne(customer)]
  for (const { messageId, waMessageId } of sent)
    await report(server, customer, [status('delivered', waMessageId, { callbackData: messageId })])

  const list = async (query: string) =>
    (await customer.get(`/api/v1/event${query}`)).json().data as OutputOf<typeof contracts.event.list>
  await expect.poll(async () => (await list('')).items.length).toBe(3)

  const first = await list('?limit=2')
  const second = await list(`?limit=2&cursor=${first.nextCursor}`)
  expect([...first.items, ...second.items].map(({ event }) => event.data.messageId)).toEqual(
    sent.map(({ messageId }) => messageId),
  )
  expect(second.nextCursor).toBeUndefined()
  expect((await list('?type=message.failed')).items).toEqual([])
  expect((await list(`?messageId=${sent[1]?.messageId}`)).items).toHaveLength(1)
})

import { afterAll, expect, test } from 'vitest'
import type { MessagePage } from '../../contracts/api/message.ts'
import type { getMessage } from '../../contracts/dashboard/message.ts'
import type { OutputOf } from '../../contracts/procedure.ts'
import { applyStatuses } from '../../src/messages/status/apply-statuses.ts'
import { retryDelivery } from '../../src/webhooks/deliveries/delivery.ts'
import { addEndpoint } from '../../src/webhooks/endpoints/change.ts'
import { Worker } from '../../src/webhooks/queue/worker.ts'
import { post } from '../support/callbacks.ts'
import { exampleSend } from '../support/example-send.ts'
import { forFile } from '../support/lifetime.ts'
import { repliesCallback, replyTime, tap, text, userMessage } from '../support/replies.ts'
import { signedInOwner } from '../support/user.ts'
import { startTestServer, type TestAccount } from '../support/server.ts'
import { respond, startWebhookReceiver } from '../support/webhook-receiver.ts'
import { webhookConfig } from '../support/webhooks.ts'

const server = await forFile(startTestServer())
const receiver = await forFile(startWebhookReceiver())
const worker = new Worker(server.deps, { ...webhookConfig, retrySeconds: [3600] }, { pollMilliseconds: 20 })
worker.start()

afterAll(() => worker.stop({ graceMilliseconds: 0 }))

type History = OutputOf<typeof getMessage>

async function setUp() {
  const account = await server.account()
  const { accountId } = account
  const owner = await signedInOwner(server, accountId)
  const read = async (messageId: string) => (await owner.query<History>('message.get', { accountId, messageId })).data
  return { account, accountId, owner, read }
}

async function send(account: TestAccount, externalId: string, to = '34600111222') {
  const { messageId, waMessageId } = await account.trpc.message.send.mutate({ ...exampleSend, to, externalId })
  return { messageId, waMessageId, accountId: account.accountId }
}

function report(
  message: { accountId: string; messageId: string; waMessageId: string },
  status: 'delivered' | 'failed',
  error?: { code: string; message: string },
) {
  const { waMessageId } = message
  return applyStatuses(server.deps, [{ ...message, report: { waMessageId, status, at: new Date(), error } }])
}

test('explains a failure and lists the webhook deliveries of a message', async () => {
  const { account, accountId, read } = await setUp()
  receiver.behave(respond(500), '/broken')
  const { endpointId } = await addEndpoint(server.deps, accountId, { url: `${receiver.url}/broken` })
  const message = await send(account, 'order-1')
  await report(message, 'failed', { code: '131026', message: 'Message undeliverable' })

  await expect.poll(async () => (await read(message.messageId)).deliveries[0]?.attempts).toHaveLength(1)

  expect(await read(message.messageId)).toMatchObject({
    message: { messageId: message.messageId, status: 'failed', error: { code: '131026' } },
    failure: {
      meaning: 'The message cannot reach this recipient.',
      advice: expect.stringContaining('Check the number'),
    },
    deliveries: [
      {
        endpointId,
        url: `${receiver.url}/broken`,
        type: 'message.failed',
        state: 'waiting',
        attempts: [{ number: 1, statusCode: 500, error: 'HTTP 500', responseStart: 'answer 500' }],
      },
    ],
  })
})

test('shows the payload of a webhook as it was sent', async () => {
  const { account, accountId, read } = await setUp()
  await addEndpoint(server.deps, accountId, { url: `${receiver.url}/payload` })
  const message = await send(account, 'order-1')
  await report(message, 'delivered')
  const readDelivery = async () => (await read(message.messageId)).deliveries[0]
  await expect.poll(async () => (await readDelivery())?.state).toBe('delivered')

  expect((await readDelivery())?.payload).toBe(receiver.at('/payload').at(-1)?.body)
})

test('lists the replies to a message with the labels of tapped buttons, also without an endpoint', async () => {
  const { account, read } = await setUp()
  const { messageId, waMessageId } = await send(account, 'order-1')
  const replies = [
    userMessage(tap('Yes', 'order-1:yes'), waMessageId),
    userMessage(text('Where is it?'), waMessageId, { at: replyTime + 10 }),
    userMessage(text('Unrelated'), undefined),
  ]
  await post(server, repliesCallback(account.phoneNumberId, replies))

  expect((await read(messageId)).replies).toEqual([
    { at: new Date(replyTime * 1000).toISOString(), kind: 'button', label: 'Yes' },
    { at: new Date((replyTime + 10) * 1000).toISOString(), kind: 'text' },
  ])
})

test('continues the attempt numbers of a retried delivery', async () => {
  const { account, accountId, read } = await setUp()
  const { endpointId } = await addEndpoint(server.deps, accountId, { url: `${receiver.url}/fine` })
  const message = await send(account, 'order-1')
  await report(message, 'delivered')
  const readDelivery = async () => (await read(message.messageId)).deliveries[0]
  await expect.poll(async () => (await readDelivery())?.state).toBe('delivered')
  const { deliveryId } = (await readDelivery()) ?? { deliveryId: '' }
  const event = receiver.at('/fine').at(-1)

  await retryDelivery(server.deps, { accountId, endpointId, eventId: event?.id ?? '' }, deliveryId)

  await expect.poll(async () => (await readDelivery())?.attempts.map(({ number }) => number)).toEqual([1, 2])
  expect(receiver.at('/fine').map(({ id }) => id)).toEqual([event?.id, event?.id])
})

test('marks a message that was never sent to WhatsApp', async () => {
  const { account, accountId, owner, read } = await setUp()
  // For this recipient, the simulator returns an HTML page.
  await expect(send(account, 'order-1', '15559000008')).rejects.toThrow('unavailable')
  const { data } = await owner.query<MessagePage>('message.list', { accountId })

  expect(await read(data.items[0]?.messageId ?? '')).toMatchObject({
    message: { status: 'failed', error: { code: 'WHATSAPP_UNAVAILABLE' } },
    failure: { meaning: expect.stringContaining('Nothing was sent.') },
  })
})

test("shows WhatsApp's own message for an unknown error code", async () => {
  const { account, read } = await setUp()
  const message = await send(account, 'order-1')
  await report(message, 'failed', { code: '999999', message: 'Unheard of' })

  const data = await read(message.messageId)

  expect(data.failure).toMatchObject({ meaning: 'Unheard of' })
  expect(data.deliveries).toEqual([])
})

test('filters and pages through the log', async () => {
  const { account, accountId, owner } = await setUp()
  const first = await send(account, 'order-1')
  const second = await send(account, 'order-2', '34600111333')
  await report(second, 'delivered')
  const third = await send(account, 'order-3')
  const list = async (filter: object) => (await owner.query<MessagePage>('message.list', { accountId, ...filter })).data
  const idsOf = async (filter: object) => (await list(filter)).items.map(({ messageId }) => messageId)
  const [hourAgo, inAnHour] = [-1, 1].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString())

  expect(await idsOf({})).toEqual([third.messageId, second.messageId, first.messageId])
  expect(await idsOf({ to: '34600111333' })).toEqual([second.messageId])
  expect(await idsOf({ status: 'delivered' })).toEqual([second.messageId])
  expect(await idsOf({ status: 'delivered', externalId: 'order-1' })).toEqual([])
  expect(await idsOf({ template: 'no_such_template' })).toEqual([])
  expect(await idsOf({ from: hourAgo, until: inAnHour })).toHaveLength(3)
  expect(await idsOf({ from: inAnHour })).toEqual([])
  expect(await idsOf({ until: hourAgo })).toEqual([])
  const page = await list({ limit: 2 })
  expect(await idsOf({ limit: 2, cursor: page.nextCursor })).toEqual([first.messageId])
})

test('reports an invalid filter with its field', async () => {
  const { accountId, owner } = await setUp()

  const response = await owner.query('message.list', { accountId, to: '+34 600' })

  expect(response).toMatchObject({ statusCode: 400, error: { data: { fields: { to: expect.any(String) } } } })
})

import { expect, test } from 'vitest'
import type { z } from 'zod'
import type { MessageDelivery } from '../../../contracts/dashboard/message.ts'
import type { Delivery } from '../../../contracts/dashboard/webhook.ts'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { Worker } from '../../../src/webhooks/queue/worker.ts'
import { post, sendOne } from '../../support/callbacks.ts'
import {
  createPopulatedAccount,
  inputsOf,
  listSettingsContracts,
  type PopulatedAccount,
} from '../../support/dashboard.ts'
import { forFile } from '../../support/lifetime.ts'
import { callOperator, signedInOperator } from '../../support/operator.ts'
import { repliesCallback, text, userMessage } from '../../support/replies.ts'
import { startTestServer } from '../../support/server.ts'
import { signedInOwner, type TestOwner } from '../../support/user.ts'
import { startWebhookReceiver } from '../../support/webhook-receiver.ts'
import { webhookConfig } from '../../support/webhooks.ts'
import { eventually } from '../../support/eventually.ts'

const variable = 'Parcel for Ada Lovelace'
const reply = 'Leave it with my neighbour'

const server = await forFile(startTestServer())
const receiver = await forFile(startWebhookReceiver())
receiver.behave(({ body }, response) => void response.writeHead(500).end(body))
/** An account with a reply, which its endpoint received and returned. */
let account = await createPopulatedAccount(server)
const { accountId } = account
const member = await signedInOwner(server, accountId)
await member.mutate('publicApi.setMessageContents', { accountId, keptDays: 30 })
account = { ...account, ...(await deliverReply()) }
const operator = await signedInOperator(server)
await callOperator(server, operator, { name: 'account.view', kind: 'mutation' }, { accountId })

async function deliverReply(): Promise<Pick<PopulatedAccount, 'endpointId' | 'messageId' | 'deliveryId'>> {
  const { endpointId } = await addEndpoint(server.deps, account.accountId, {
    url: `${receiver.url}/echo`,
    events: ['message.replied', 'message.sent'],
  })
  const { messageId, waMessageId } = await sendOne(account, { variables: { '1': variable, '2': 'WB-1042' } })
  await post(server, repliesCallback(account.phoneNumberId, [userMessage(text(reply), waMessageId)]))
  const worker = new Worker(server.deps, { ...webhookConfig, retrySeconds: [] }, { pollMilliseconds: 20 })
  worker.start()
  try {
    return await eventually(async () => {
      const { items } = await listDeliveries(member, endpointId)
      expect(items.map(({ attempts }) => attempts.length)).toEqual([1, 1])
      const deliveryId = items.find(({ type }) => type === 'message.replied')?.deliveryId ?? ''
      return { endpointId, messageId, deliveryId }
    })
  } finally {
    await worker.stop({ graceMilliseconds: 0 })
  }
}

async function listDeliveries(user: TestOwner, endpointId = account.endpointId): Promise<{ items: Delivery[] }> {
  return (await read<{ items: Delivery[] }>(user, 'webhook.deliveries', { endpointId })).data
}

function read<T>(user: TestOwner, name: string, input: object = inputsOf(account)[name] ?? {}) {
  return user.query<T>(name, { accountId: account.accountId, ...input })
}

const queries = listSettingsContracts().filter(
  ({ contract: { kind, allowed } }) => kind === 'query' && (allowed === 'owner' || allowed === 'viewer'),
)

test.each(queries)('$name shows an operator neither what a message said nor its reply', async ({ name }) => {
  const response = JSON.stringify(await read(operator, name))

  for (const hidden of [variable, reply]) expect(response).not.toContain(hidden)
})

test.each(['webhook.payload', 'message.content'])('%s rejects an operator and allows a member', async (name) => {
  expect(await read(operator, name)).toMatchObject({
    statusCode: 403,
    error: {
      message: 'You view this account as an operator, and only its members can read this.',
      data: { code: 'ROLE_REQUIRED' },
    },
  })
  expect((await read(member, name)).statusCode).toBe(200)
})

test('shows payloads to members, and operators the same deliveries without them', async () => {
  interface History {
    replies: object[]
    deliveries: z.infer<typeof MessageDelivery>[]
  }

  const toMember = await read<History>(member, 'message.get')
  const toOperator = await read<History>(operator, 'message.get')

  expect(JSON.stringify(toMember.data)).toContain(reply)
  expect(toOperator.data.deliveries.map(({ deliveryId }) => deliveryId)).toEqual(
    toMember.data.deliveries.map(({ deliveryId }) => deliveryId),
  )
  for (const delivery of toOperator.data.deliveries) expect(delivery).not.toHaveProperty('payload')
  expect(toOperator.data.replies).toMatchObject([{ kind: 'text' }])
})

const firstAttempts = ({ items }: { items: Delivery[] }) =>
  new Map(items.map(({ type, attempts }) => [type, attempts[0]]))

test('hides what an endpoint returned for a reply, and shows operators what it returned for a status', async () => {
  const toMember = firstAttempts(await listDeliveries(member))
  const toOperator = firstAttempts(await listDeliveries(operator))

  expect(toMember.get('message.replied')?.responseStart).toContain(reply)
  const { responseStart: _, ...visible } = toMember.get('message.replied') ?? {}
  expect(toOperator.get('message.replied')).toEqual(visible)
  expect(toOperator.get('message.sent')).toEqual(toMember.get('message.sent'))
})

async function urlsOf(user: TestOwner): Promise<Set<string>> {
  const { items } = (await read<{ items: { url: string }[] }>(user, 'webhook.list')).data
  const { deliveries } = (await read<{ deliveries: { url: string }[] }>(user, 'message.get')).data
  return new Set([...items, ...deliveries].map(({ url }) => url))
}

test('shows an operator only the origin of webhook URLs', async () => {
  expect(await urlsOf(member)).toContain(`${receiver.url}/echo`)
  const origins = await urlsOf(operator)
  expect(origins).toContain(receiver.url)
  expect([...origins].filter((url) => new URL(url).origin !== url)).toEqual([])
})

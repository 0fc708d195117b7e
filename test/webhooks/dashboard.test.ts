import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { addEndpoint, Delivery, Endpoint, recoverDeliveries } from '../../contracts/dashboard/webhook.ts'
import type { OutputOf } from '../../contracts/procedure.ts'
import { encodeIdsInOrder } from '../../src/platform/ids.ts'
import { Worker } from '../../src/webhooks/queue/worker.ts'
import { insertEvents } from '../support/events.ts'
import { forFile } from '../support/lifetime.ts'
import { accountWithOwner, signedInOwner } from '../support/user.ts'
import { startTestServer } from '../support/server.ts'
import { createPopulatedAccount } from '../support/dashboard.ts'
import { respond, startWebhookReceiver } from '../support/webhook-receiver.ts'
import { webhookConfig } from '../support/webhooks.ts'

const server = await forFile(startTestServer())
const receiver = await forFile(startWebhookReceiver())
const { accountId, owner } = await accountWithOwner(server)

type Added = OutputOf<typeof addEndpoint>

async function add(url = `${receiver.url}/hooks`): Promise<Added> {
  return (await owner.mutate<Added>('webhook.add', { accountId, url })).data
}

async function findEndpoint(endpointId: string): Promise<Endpoint | undefined> {
  const { data } = await owner.query<{ items: Endpoint[] }>('webhook.list', { accountId })
  return data.items.find((endpoint) => endpoint.endpointId === endpointId)
}

async function readAudit() {
  return (await owner.query<{ items: { what: string; outcome: string }[] }>('audit.list', { accountId })).data.items
}

test('reveals the secret of an added endpoint and records who revealed it', async () => {
  const { endpointId, secret } = await add()

  const revealed = await owner.mutate('webhook.revealSecret', { accountId, endpointId })

  expect(secret).toMatch(/^whsec_/)
  expect(revealed.data).toEqual({ secret })
  expect((await readAudit())[0]).toMatchObject({ what: `revealed the secret of ${endpointId}`, outcome: 'done' })
  expect(JSON.stringify(await readAudit())).not.toContain(secret)
})

test('rotates a secret with the overlap of the request', async () => {
  const { endpointId } = await add()
  const rotate = async (overlapSeconds: number) =>
    (await owner.mutate('webhook.rotateSecret', { accountId, endpointId, overlapSeconds })).data

  const { previousSecretUntil } = await rotate(3600)
  expect(Date.parse(String(previousSecretUntil))).toBeGreaterThan(Date.now() + 3500_000)
  expect(await findEndpoint(endpointId)).toMatchObject({ previousSecretUntil })

  expect(await rotate(0)).toEqual({ secret: expect.stringMatching(/^whsec_/) })
  expect(await findEndpoint(endpointId)).not.toHaveProperty('previousSecretUntil')
})

test("shows the receiver's response to a test event", async () => {
  receiver.behave(respond(503), '/busy')
  const { endpointId } = await add(`${receiver.url}/busy`)

  const tested = await owner.mutate('webhook.test', { accountId, endpointId })

  expect(tested.data).toMatchObject({
    delivered: false,
    statusCode: 503,
    error: 'HTTP 503',
    responseStart: 'answer 503',
    durationMilliseconds: expect.any(Number),
  })
  expect(receiver.at('/busy').map(({ body }) => JSON.parse(body).type)).toEqual(['webhook.test'])
})

test.each([
  { field: 'url', input: { url: 'ftp://example.com/hooks' } },
  { field: 'url', input: { url: 'https://somebody:secret@example.com/' } },
  { field: 'url', input: { url: '' } },
  { field: 'events', input: { events: [] } },
  { field: 'description', input: { description: 'x'.repeat(201) } },
])('reports an error in the field $field of a new endpoint: $input', async ({ field, input }) => {
  const response = await owner.mutate('webhook.add', { accountId, url: `${receiver.url}/hooks`, ...input })

  expect(response).toMatchObject({ statusCode: 400, error: { data: { fields: { [field]: expect.any(String) } } } })
  expect(JSON.stringify(response)).not.toContain('somebody')
})

test('marks an endpoint as disabled by a user until it is enabled', async () => {
  const { endpointId } = await add()

  const disabled = await owner.mutate('webhook.disable', { accountId, endpointId })
  expect(disabled.data).toMatchObject({ state: 'disabled', reason: 'disabled by a user' })

  const enabled = await owner.mutate('webhook.enable', { accountId, endpointId })
  expect(enabled.data).toMatchObject({ state: 'enabled' })
  expect(enabled.data).not.toHaveProperty('reason')
})

test('retries deliveries, lists them by state and drops waiting ones with their endpoint', async () => {
  const account = await createPopulatedAccount(server)
  const { accountId, endpointId, deliveryId } = account
  const owner = await signedInOwner(server, accountId)
  const list = async (state?: string) =>
    (
      await owner.query<{ items: Delivery[] }>('webhook.deliveries', {
        accountId,
        endpointId,
        ...(state !== undefined && { state }),
      })
    ).data.items
  const worker = new Worker(server.deps, { ...webhookConfig, retrySeconds: [] }, { pollMilliseconds: 20 })
  worker.start()
  try {
    await expect.poll(async () => (await list('failed'))[0]?.attempts ?? []).toHaveLength(1)
    const retried = await owner.mutate('webhook.retry', { accountId, deliveryId })

    expect(retried.data).toMatchObject({ deliveryId, endpointState: 'enabled' })
    await expect.poll(async () => (await list('failed'))[0]?.attempts ?? []).toHaveLength(2)
    expect(await list('waiting')).toEqual([])
    expect(await list('failed')).toMatchObject([
      { deliveryId, attempts: [{ error: 'connection refused' }, { error: 'connection refused' }] },
    ])
  } finally {
    await worker.stop({ graceMilliseconds: 0 })
  }

  await owner.mutate('webhook.retry', { accountId, deliveryId })
  expect(await list('waiting')).toMatchObject([{ deliveryId }])
  const removed = await owner.mutate('webhook.remove', { accountId, endpointId })

  expect(removed.data).toMatchObject({ dropped: 1 })
  const gone = await owner.query('webhook.deliveries', { accountId, endpointId })
  expect(gone).toMatchObject({ statusCode: 404, error: { data: { code: 'NOT_FOUND' } } })
})

type Part = OutputOf<typeof recoverDeliveries>

test('recovers earlier events for a new endpoint in batches, once', async () => {
  const { accountId, owner } = await accountWithOwner(server)
  const since = new Date(Date.now() - 60_000)
  const count = 5_001
  await insertDelivered(accountId, since, count)
  const { data } = await owner.mutate<Added>('webhook.add', { accountId, url: `${receiver.url}/recovered` })
  const { endpointId } = data
  await owner.mutate('webhook.disable', { accountId, endpointId })
  const recover = async () => {
    const parts: Part[] = []
    do {
      const next = parts.at(-1)?.next
      const input = { accountId, endpointId, since: since.toISOString(), ...(next !== undefined && { next }) }
      parts.push((await owner.mutate<Part>('webhook.recover', input)).data)
    } while (parts.at(-1)?.next !== undefined)
    return parts
  }

  const parts = await recover()

  expect(parts.map(({ recovered }) => recovered)).toEqual([5_000, 1])
  const reached = parts.map(({ reachedAt }) => reachedAt)
  expect(reached).toEqual(reached.toSorted())
  expect((await recover()).map(({ recovered }) => recovered)).toEqual([0, 0])
  const { items } = (await owner.query<{ items: { waiting: number }[] }>('webhook.list', { accountId })).data
  expect(items).toMatchObject([{ waiting: count }])
})

test.each([
  { field: 'since', input: { since: '2999-01-01T00:00:00Z' } },
  { field: 'since', input: { since: 'yesterday' } },
  { field: 'next', input: { since: '2026-01-01T00:00:00Z', next: 'something else' } },
  // It would continue a recovery that the audit log does not have.
  { field: 'next', input: { since: '2026-01-01T00:00:00Z', next: `evt_${'0'.repeat(26)}.evt_${'z'.repeat(26)}` } },
])('reports an error in the field $field of a recovery: $input', async ({ field, input }) => {
  const { endpointId } = await add()

  const response = await owner.mutate('webhook.recover', { accountId, endpointId, ...input })

  expect(response).toMatchObject({ statusCode: 400, error: { data: { fields: { [field]: expect.any(String) } } } })
})

/** Inserts events of delivered messages since a given time. */
async function insertDelivered(accountId: string, since: Date, count: number): Promise<void> {
  const ids = encodeIdsInOrder('evt', since.getTime(), count, randomBytes)
  const events = ids.map((id) => ({
    accountId,
    id,
    type: 'message.delivered',
    messageId: 'msg_of_a_test',
    payload: '{}',
    createdAt: since,
  }))
  await insertEvents(server.deps.db, events, () => server.deps.newId('dlv'))
}

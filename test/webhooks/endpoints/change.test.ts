import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { disabledReasons } from '../../../contracts/facts/deliveries.ts'
import {
  addEndpoint,
  disableEndpoint,
  type NewEndpoint,
  updateEndpoint,
} from '../../../src/webhooks/endpoints/change.ts'
import { listEndpoints } from '../../../src/webhooks/endpoints/endpoint.ts'
import { revealSecret } from '../../../src/webhooks/endpoints/secrets.ts'
import { testEndpoint } from '../../../src/webhooks/endpoints/send-test-event.ts'
import { createWebhookSender } from '../../../src/webhooks/sender/sender.ts'
import { forFile } from '../../support/lifetime.ts'
import { signedInOwner } from '../../support/user.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts'

/** Another server of the same customer. */
const server = await forFile(startTestServer())
const receiver = await forFile(startWebhookReceiver())
const other = await forFile(startWebhookReceiver())
let account: TestAccount
beforeEach(async () => {
  account = await server.account()
})

const headers = [['X-Token', 'hush']] as const

function add(input: Partial<NewEndpoint> = {}) {
  return addEndpoint(server.deps, account.accountId, { url: `${receiver.url}/hooks`, headers, ...input })
}

function update(endpointId: string, change: Parameters<typeof updateEndpoint>[3]) {
  return updateEndpoint(server.deps, account.accountId, endpointId, change)
}

/** The custom header that the endpoint gets with a test event. */
async function sentToken(endpointId: string, to: WebhookReceiver, path: string): Promise<unknown> {
  await testEndpoint(server.deps, account.accountId, endpointId)
  return to.at(path).at(-1)?.headers['x-token']
}

test('changes the given fields and keeps the others, the secret and the headers', async () => {
  const { endpointId, secret } = await add({ description: 'Orders', events: ['message.failed'] })

  const updated = await update(endpointId, {
    url: `${receiver.url}/moved`,
    events: ['message.read', 'message.delivered'],
  })

  expect(updated).toMatchObject({
    endpointId,
    url: `${receiver.url}/moved`,
    events: ['message.delivered', 'message.read'],
    description: 'Orders',
    hasHeaders: true,
    headersCleared: false,
  })
  expect(await revealSecret(server.deps, account.accountId, endpointId)).toEqual({ secret })
  expect(await sentToken(endpointId, receiver, '/moved')).toBe('hush')
  expect(await update(endpointId, { description: '' })).not.toHaveProperty('description')
})

test('keeps everything if the given URL is the current one', async () => {
  const { endpointId } = await add({ description: 'Orders' })

  expect(await update(endpointId, { url: `${receiver.url}/hooks` })).toMatchObject({
    url: `${receiver.url}/hooks`,
    description: 'Orders',
    hasHeaders: true,
    headersCleared: false,
  })
})

test('does not send the headers to a new host unless they are provided again', async () => {
  const { endpointId } = await add()

  const moved = await update(endpointId, { url: `${other.url}/a` })
  expect(moved).toMatchObject({ hasHeaders: false, headersCleared: true })
  expect(await sentToken(endpointId, other, '/a')).toBeUndefined()

  const given = await update(endpointId, { url: `${receiver.url}/b`, headers: [['X-Token', 'new']] })
  expect(given).toMatchObject({ hasHeaders: true, headersCleared: false })
  expect(await sentToken(endpointId, receiver, '/b')).toBe('new')

  expect(await update(endpointId, { headers: [] })).toMatchObject({ hasHeaders: false, headersCleared: false })
  expect(await sentToken(endpointId, receiver, '/b')).toBeUndefined()
})

test.each(['http://shop.example.com/webhooks', 'https://169.254.169.254/latest/meta-data', 'not a url'])(
  'rejects the URL %s like that of a new endpoint',
  async (url) => {
    const { endpointId } = await add()
    const webhooks = createWebhookSender({ timeoutSeconds: 1, allowPrivate: false })
    const deps = { ...server.deps, webhooks }
    const added = addEndpoint(deps, account.accountId, { url }).catch(String)

    const updated = updateEndpoint(deps, account.accountId, endpointId, { url }).catch(String)

    expect(await updated).toMatch(/The URL of an endpoint must be an https URL with a public host/)
    expect(await updated).toBe(await added)
    expect(await update(endpointId, { description: 'same' })).toMatchObject({ url: `${receiver.url}/hooks` })
    await webhooks.close()
  },
)

test.each([
  { limits: { maxPerSecond: 0 }, says: 'deliveries per second must be a whole number from 1 to 1000' },
  { limits: { maxPerSecond: 1.5 }, says: 'deliveries per second must be a whole number from 1 to 1000' },
  { limits: { maxPerSecond: NaN }, says: 'deliveries per second must be a whole number from 1 to 1000' },
  { limits: { maxConcurrent: 1_001 }, says: 'concurrent requests must be a whole number from 1 to 1000' },
  { limits: { maxConcurrent: -1 }, says: 'concurrent requests must be a whole number from 1 to 1000' },
])('rejects the limits $limits', async ({ limits, says }) => {
  await expect(add(limits)).rejects.toThrow(says)
})

test.each([
  { change: {}, says: /Nothing to change/ },
  { change: { events: [] }, says: /No event type was given/ },
  { change: { events: ['message.lost'] }, says: /"message.lost" does not exist/ },
  { change: { description: 'x'.repeat(201) }, says: /at most 200 characters/ },
  { change: { headers: [['webhook-id', 'x']] as const }, says: /webhook-id is reserved/ },
  { change: { headers: [['X-A', 'a\r\nb: c']] as const }, says: /not allowed in headers/ },
])('rejects the change $change and changes nothing', async ({ change, says }) => {
  const { endpointId } = await add()
  const before = await listEndpoints(server.deps, account.accountId)

  await expect(update(endpointId, change)).rejects.toThrow(says)

  expect(await listEndpoints(server.deps, account.accountId)).toEqual(before)
})

test('clears the failures of an endpoint when its URL changes', async () => {
  const { endpointId } = await add()
  const { db } = server.deps
  await sql`update webhook_endpoints set failing_since = now() - interval '4 days' where id = ${endpointId}`.execute(db)
  await sql`
    insert into webhook_deliveries (id, account_id, endpoint_id, event_id, due_at, attempts, generation, created_at)
    values (${server.deps.newId('dlv')}, ${account.accountId}, ${endpointId}, ${server.deps.newId('evt')},
      now() + interval '6 hours', 9, 9, now())`.execute(db)

  expect(await update(endpointId, { url: `${receiver.url}/fixed` })).not.toHaveProperty('failingSince')

  const { rows } = await sql<{ due: boolean }>`
    select due_at <= now() as due from webhook_deliveries where endpoint_id = ${endpointId}`.execute(db)
  expect(rows).toEqual([{ due: true }])
})

test('keeps a disabled endpoint disabled', async () => {
  const { endpointId } = await add()
  await disableEndpoint(server.deps, account.accountId, endpointId, { reason: disabledReasons.byOperator() })
  expect(await update(endpointId, { url: `${other.url}/` })).toMatchObject({ state: 'disabled' })
})

test('audits a change of an endpoint without credentials', async () => {
  const { endpointId } = await add()
  const owner = await signedInOwner(server, account.accountId)
  const change = {
    accountId: account.accountId,
    endpointId,
    url: `${other.url}/?token=hush`,
    headers: [{ name: 'X-Token', value: 'secret-value' }],
    maxPerSecond: 50,
    maxConcurrent: null,
  }

  const { statusCode, data } = await owner.mutate('webhook.update', change)

  expect(statusCode).toBe(200)
  expect(data).toMatchObject({ hasHeaders: true, headersCleared: false })
  expect(JSON.stringify(data)).not.toContain('secret-value')
  const { data: log } = await owner.query<{ items: { what: string }[] }>('audit.list', { accountId: account.accountId })
  expect(log.items.map(({ what }) => what)).toContain(
    `changed the URL to ${new URL(other.url).host}, the headers, the deliveries per second to 50, the concurrent requests to no limit of the webhook endpoint ${endpointId}`,
  )
  expect(JSON.stringify(log)).not.toMatch(/hush|secret-value/)
})

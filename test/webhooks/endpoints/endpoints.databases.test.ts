import { sql } from 'kysely'
import { afterAll, beforeEach, expect, test } from 'vitest'
import type { EventType } from '../../../contracts/events.ts'
import { disabledReasons } from '../../../contracts/facts/deliveries.ts'
import { createAccount } from '../../../src/accounts/account.ts'
import { listDeliveries } from '../../../src/webhooks/deliveries/delivery.ts'
import { recoverPart } from '../../../src/webhooks/deliveries/recover.ts'
import { createWebhookSender } from '../../../src/webhooks/sender/sender.ts'
import {
  addEndpoint,
  disableEndpoint,
  enableEndpoint,
  type NewEndpoint,
  removeEndpoint,
} from '../../../src/webhooks/endpoints/change.ts'
import { listEndpoints } from '../../../src/webhooks/endpoints/endpoint.ts'
import { rotateSecret } from '../../../src/webhooks/endpoints/secrets.ts'
import { testEndpoint } from '../../../src/webhooks/endpoints/send-test-event.ts'
import { timeOfId } from '../../../src/platform/ids.ts'
import { openTestDatabase } from '../../support/database.ts'
import { createEndpointDeps, emitEvents, postpone, readWaits } from '../../support/endpoints.ts'
import { forFile } from '../../support/lifetime.ts'

const database = await forFile(openTestDatabase())
const deps = createEndpointDeps(database)
let accountId: string
beforeEach(async () => {
  accountId = (await createAccount(deps, { name: 'Endpoints' })).accountId
})
afterAll(() => deps.webhooks.close())

/** Never connected to. */
const receiverUrl = 'http://127.0.0.1:9/webhooks'

async function add(input: Partial<NewEndpoint> = {}): Promise<string> {
  return (await addEndpoint(deps, accountId, { url: receiverUrl, ...input })).endpointId
}

function emit(count = 1, type?: EventType): Promise<string[]> {
  return emitEvents(deps, accountId, count, type)
}

test('subscribes to delivered, read and failed by default and returns the secret once', async () => {
  const { endpointId, secret } = await addEndpoint(deps, accountId, { url: receiverUrl })

  expect(endpointId).toMatch(/^ep_[0-9a-z]{26}$/)
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/)
  const list = await listEndpoints(deps, accountId)
  expect(list).toEqual([
    {
      endpointId,
      url: receiverUrl,
      events: ['message.delivered', 'message.read', 'message.failed'],
      state: 'enabled',
      hasHeaders: false,
      waiting: 0,
      createdAt: expect.any(String),
    },
  ])
  const row = await deps.db.selectFrom('webhook_endpoints').selectAll().where('id', '=', endpointId).executeTakeFirst()
  expect(JSON.stringify([list, row])).not.toContain(secret.slice('whsec_'.length))
})

test('lists an endpoint with its settings', async () => {
  const id = await add({
    events: ['message.failed', 'message.sent', 'message.failed'],
    description: ' Orders ',
    headers: [['X-Token', 'abc']],
  })

  expect(await listEndpoints(deps, accountId)).toMatchObject([
    { endpointId: id, events: ['message.sent', 'message.failed'], description: 'Orders', hasHeaders: true },
  ])
  const row = await deps.db.selectFrom('webhook_endpoints').selectAll().where('id', '=', id).executeTakeFirst()
  expect(row?.headers_encrypted).toMatch(/^v1\./)
})

test.each([
  {
    what: 'an unknown event type',
    input: { events: ['message.red'] },
    says: 'event type "message.red" does not exist',
  },
  { what: 'an empty list of events', input: { events: [] }, says: 'Event types are message.sent, ' },
  { what: 'an invalid URL', input: { url: 'example.com/webhooks' }, says: 'must be an https URL' },
  { what: 'a URL with another scheme', input: { url: 'ftp://example.com' }, says: 'must be an https URL' },
  { what: 'a URL with a password', input: { url: 'https://a:b@example.com' }, says: 'without user name' },
  { what: 'a URL with a line break', input: { url: 'https://example.com/\n' }, says: 'control characters' },
  { what: 'a URL that is too long', input: { url: `https://example.com/${'x'.repeat(2048)}` }, says: 'at most 2048' },
  { what: 'an empty description', input: { description: ' ' }, says: 'description of an endpoint must not be empty' },
  { what: 'a header without a name', input: { headers: [['', 'x']] as const }, says: 'A header name' },
  { what: 'a header with a space in its name', input: { headers: [['X Y', 'x']] as const }, says: 'A header name' },
  ...['Host', 'Content-Type', 'content-md5', 'Connection', 'Transfer-Encoding', 'TE', 'Webhook-Id', 'webhook-x'].map(
    (name) => ({ what: `the header ${name}`, input: { headers: [[name, 'x']] as const }, says: 'is reserved' }),
  ),
  { what: 'a header without a value', input: { headers: [['X-Token', '']] as const }, says: 'is empty' },
  {
    what: 'a header with a line break',
    input: { headers: [['X-Token', 'a\r\nX: b']] as const },
    says: 'not allowed in headers',
  },
  { what: 'a header outside ASCII', input: { headers: [['X-Token', 'ñ']] as const }, says: 'not allowed in headers' },
  {
    what: 'a duplicate header',
    input: {
      headers: [
        ['X-A', 'b'],
        ['x-a', 'c'],
      ] as const,
    },
    says: 'x-a was given twice',
  },
  {
    what: 'headers that are too long',
    input: { headers: [['X-A', 'b'.repeat(5000)]] as const },
    says: '4096 characters',
  },
  {
    what: 'too many headers',
    input: { headers: Array.from({ length: 21 }, (_, index) => [`X-${index}`, 'b'] as const) },
    says: '20 headers',
  },
])('rejects $what', async ({ input, says }) => {
  await expect(add(input)).rejects.toThrow(says)

  expect(await listEndpoints(deps, accountId)).toEqual([])
})

test('does not repeat the contents of a rejected header or URL', async () => {
  const errors = await Promise.allSettled([
    add({ headers: [['Authorization', 'Bearer s3cret\u0000']] }),
    add({ headers: [['Authorization Bearer s3cret', 'x']] }),
    add({ url: 'https://user:s3cret@example.com' }),
    add({ url: 'http://nonexistent.invalid/?token=s3cret' }),
  ])

  expect(errors.map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'rejected'))
  expect(errors.map((error) => (error.status === 'rejected' ? String(error.reason) : '')).join('\n')).not.toMatch(
    /s3cret/,
  )
})

const names: Record<string, readonly string[] | string> = {
  'shop.example.com': ['8.8.8.8', '2606:4700::1111'],
  'inside.example.com': ['10.0.0.1'],
  'missing.example.com': 'ENOTFOUND',
  'away.example.com': 'ESERVFAIL',
}

async function resolveByTable(name: string): Promise<readonly string[]> {
  const addresses = names[name] ?? 'ENOTFOUND'
  if (typeof addresses === 'string') throw Object.assign(new Error(addresses), { code: addresses })
  return addresses
}

/** Adds an endpoint without WEBHOOK_ALLOW_PRIVATE. */
async function addStrictly(url: string): Promise<unknown> {
  const webhooks = createWebhookSender({ timeoutSeconds: 1, allowPrivate: false }, { resolve: resolveByTable })
  return addEndpoint({ ...deps, webhooks }, accountId, { url }).finally(() => webhooks.close())
}

test.each(['shop.example.com', '8.8.8.8', 'shop.example.com:8443', 'away.example.com'])(
  'adds an endpoint at %s, even if no resolver answers',
  async (host) => {
    await expect(addStrictly(`https://${host}/webhooks`)).resolves.toMatchObject({ secret: expect.any(String) })
  },
)

test.each([
  { url: 'https://inside.example.com', says: 'public host' },
  { url: 'https://missing.example.com', says: 'public host' },
  { url: 'http://shop.example.com', says: 'must be an https URL' },
])('rejects the endpoint $url: $says', async ({ url, says }) => {
  await expect(addStrictly(url)).rejects.toThrow(says)
})

test('does not reveal whether a private name exists', async () => {
  const urls = ['https://inside.example.com', 'https://missing.example.com', 'https://10.0.0.1', 'https://localhost']

  const responses = await Promise.all(urls.map((url) => addStrictly(url).catch(String)))

  expect(new Set(responses).size).toBe(1)
})

test('allows at most twenty endpoints per account, even when added concurrently', async () => {
  const added = await Promise.allSettled(Array.from({ length: 22 }, () => add()))

  expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
  await expect(add()).rejects.toThrow('at most 20 endpoints')
  expect(await listEndpoints(deps, accountId)).toHaveLength(20)
})

test('finds no endpoints in an unknown or different account', async () => {
  const id = await add()

  await expect(addEndpoint(deps, 'acc_none', { url: receiverUrl })).rejects.toThrow('There is no account "acc_none"')
  await expect(listEndpoints(deps, 'acc_none')).rejects.toThrow('There is no account')
  const other = (await createAccount(deps, { name: 'Other' })).accountId
  expect(await listEndpoints(deps, other)).toEqual([])
  const refused = await Promise.allSettled([
    enableEndpoint(deps, other, id),
    disableEndpoint(deps, other, id, { reason: disabledReasons.byOperator() }),
    removeEndpoint(deps, other, id),
    rotateSecret(deps, other, id),
    testEndpoint(deps, other, id),
    listDeliveries(deps, other, id),
    recoverPart(deps, { accountId: other, endpointId: id, since: new Date(0).toISOString() }),
  ])
  for (const result of refused)
    expect(result).toMatchObject({ reason: { message: expect.stringContaining(`Endpoint "${id}" was not found`) } })
  expect(await listEndpoints(deps, accountId)).toHaveLength(1)
})

test('holds deliveries of a disabled endpoint and makes them due when it is enabled', async () => {
  const id = await add()
  const [first = ''] = await emit()
  await postpone(deps, first, 36_000)
  await deps.db.updateTable('webhook_endpoints').set({ failing_since: deps.now() }).where('id', '=', id).execute()

  expect(await disableEndpoint(deps, accountId, id, { reason: disabledReasons.byOperator() })).toMatchObject({
    state: 'disabled',
    reason: 'disabled by an operator',
    failingSince: expect.any(String),
    waiting: 1,
  })
  await emit(2)
  expect(await listEndpoints(deps, accountId)).toMatchObject([{ waiting: 3 }])
  let notified = 0
  const stop = deps.notifications.listen('deliveries', () => (notified += 1))
  const enabled = await enableEndpoint(deps, accountId, id)
  stop()

  expect(enabled).toMatchObject({ state: 'enabled', waiting: 3 })
  expect(enabled).not.toHaveProperty('reason')
  expect(enabled).not.toHaveProperty('failingSince')
  expect(notified).toBeGreaterThan(0)
  expect((await readWaits(deps, id)).filter((wait) => wait > 0)).toEqual([])
})

test('makes a retry that waits less than a lease due when an endpoint is enabled', async () => {
  const id = await add()
  const [event = ''] = await emit()
  await postpone(deps, event, 60)

  await enableEndpoint(deps, accountId, id)

  const [wait = 0] = await readWaits(deps, id)
  expect(wait).toBeLessThanOrEqual(0)
})

test('reports since when a failing endpoint misses events, and how many failed permanently', async () => {
  const id = await add()
  const [old = '', first = '', second = ''] = await emit(3)
  const finish = async (event: string, finishedAt: Date) => {
    const row = await deps.db
      .deleteFrom('webhook_deliveries')
      .where('event_id', '=', event)
      .returning(['id', 'account_id', 'endpoint_id', 'event_id', 'created_at'])
      .executeTakeFirstOrThrow()
    const end = { outcome: 'failed', attempts: 8, finished_at: finishedAt } as const
    await deps.db
      .insertInto('webhook_finished_deliveries')
      .values({ ...row, ...end })
      .execute()
  }
  const failingSince = new Date('2026-11-19T14:08:00Z')
  const change = (failing_since: Date | null) =>
    deps.db.updateTable('webhook_endpoints').set({ failing_since }).where('id', '=', id).execute()
  const [endpoint] = await listEndpoints(deps, accountId)
  expect(endpoint).toMatchObject({ waiting: 3, missedSince: timeOfId(old).toISOString() })
  expect(endpoint).not.toHaveProperty('failed')

  // From before it began to fail.
  await finish(old, new Date('2026-11-18T10:00:00Z'))
  await change(failingSince)
  expect(await listEndpoints(deps, accountId)).toMatchObject([
    { waiting: 2, failed: 0, missedSince: timeOfId(first).toISOString() },
  ])

  await finish(first, new Date('2026-11-19T15:00:00Z'))
  expect(await listEndpoints(deps, accountId)).toMatchObject([
    { waiting: 1, failed: 1, missedSince: timeOfId(first).toISOString() },
  ])
  await deps.db.deleteFrom('webhook_deliveries').where('event_id', '=', second).execute()
  await change(null)
  expect((await listEndpoints(deps, accountId))[0]).not.toHaveProperty('missedSince')
})

test('restarts the retry schedules of overdue deliveries in a large backlog', async () => {
  const [eventId = ''] = await emit()
  const id = await add()
  await sql`
    insert into webhook_deliveries (account_id, id, endpoint_id, event_id, due_at, created_at, attempts)
    select ${accountId}, 'dlv_' || n, ${id}, ${eventId}, now() - least(n, 9999) * interval '1 second', now(), n % 2
    from generate_series(1, 20002) n`.execute(deps.db)

  await enableEndpoint(deps, accountId, id)

  const { rows } = await sql<{ attempts: number }>`
    select distinct attempts from webhook_deliveries where endpoint_id = ${id}`.execute(deps.db)
  expect(rows).toEqual([{ attempts: 0 }])
})

test('leaves attempts in progress unchanged when an endpoint is enabled', async () => {
  const id = await add()
  const [event = ''] = await emit()
  await postpone(deps, event, 17, { claimed: true })

  await enableEndpoint(deps, accountId, id)

  expect((await readWaits(deps, id))[0]).toBeGreaterThan(5)
})

test('drops and counts the waiting deliveries of a removed endpoint only', async () => {
  const [id, other] = [await add(), await add()]
  await emit(3)

  expect(await removeEndpoint(deps, accountId, id)).toEqual({ endpointId: id, dropped: 3 })

  expect(await listEndpoints(deps, accountId)).toMatchObject([{ endpointId: other, waiting: 3 }])
  await expect(removeEndpoint(deps, accountId, id)).rejects.toThrow('was not found')
})

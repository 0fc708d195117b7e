import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { EventType } from '../../contracts/events.ts'
import { createAccount } from '../../src/accounts/account.ts'
import type { Deps } from '../../src/deps.ts'
import { encodeId } from '../../src/platform/ids.ts'
import { verifyWebhook } from '../../src/receiver/webhook.ts'
import { listDeliveries } from '../../src/webhooks/deliveries/list.ts'
import { recoverDeliveries } from '../../src/webhooks/deliveries/recover.ts'
import { retryDelivery } from '../../src/webhooks/deliveries/retry.ts'
import { findDelivery } from '../../src/webhooks/deliveries/store.ts'
import { createWebhookSender } from '../../src/webhooks/delivery/sender.ts'
import { addEndpoint, type NewEndpoint } from '../../src/webhooks/endpoints/add.ts'
import { disableEndpoint, enableEndpoint, removeEndpoint } from '../../src/webhooks/endpoints/change.ts'
import { listEndpoints } from '../../src/webhooks/endpoints/endpoint.ts'
import { rotateSecret } from '../../src/webhooks/endpoints/secrets.ts'
import { testEndpoint } from '../../src/webhooks/endpoints/test.ts'
import { createTestDeps } from '../accounts/deps.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { insertEvents } from '../support/insert-events.ts'

let database: TestDatabase
let deps: Deps
let accountId: string
let receiver: Server
let receiverUrl: string
/** What the receiver got, and what it answers. */
let received: { headers: IncomingHttpHeaders; body: string }[]
let answer: { status: number; body: string }

/** Behind the clock of the database, which bounds a recovery; each moment comes after the one before. */
let time = Date.now() - 86_400_000
const now = () => new Date((time += 1000))

beforeAll(async () => {
  database = await openTestDatabase()
  deps = {
    ...createTestDeps(database),
    now,
    newId: (prefix) => encodeId(prefix, now().getTime(), randomBytes(10)),
    webhooks: createWebhookSender({ timeoutSeconds: 5, allowPrivate: true }),
  }
  receiver = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) })
    response.writeHead(answer.status).end(answer.body)
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  // A server that listens on a port has an address of this kind.
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/webhooks`
})

beforeEach(async () => {
  accountId = (await createAccount(deps, { name: 'Endpoints' })).accountId
  received = []
  answer = { status: 200, body: '' }
})

afterAll(async () => {
  await deps.webhooks.close()
  receiver.close()
  await database.close()
})

async function add(input: Partial<NewEndpoint> = {}): Promise<string> {
  return (await addEndpoint(deps, accountId, { url: receiverUrl, ...input })).endpointId
}

/** Events as statuses cause them: with a delivery for each endpoint that asked for them. Returns their ids. */
async function happen(count = 1, type: EventType = 'message.delivered'): Promise<string[]> {
  const events = Array.from({ length: count }, () => ({
    accountId,
    id: deps.newId('evt'),
    type,
    messageId: 'msg_1',
    payload: '{}',
    createdAt: deps.now(),
  }))
  await insertEvents(deps.db, events, () => deps.newId('dlv'))
  return events.map(({ id }) => id)
}

async function findDeliveryId(eventId: string): Promise<string> {
  const query = deps.db.selectFrom('webhook_deliveries').select('id').where('event_id', '=', eventId)
  return (await query.executeTakeFirstOrThrow()).id
}

/** What a worker does when it is done with a delivery. */
async function finish(eventId: string, outcome: 'delivered' | 'failed'): Promise<string> {
  const row = await deps.db
    .deleteFrom('webhook_deliveries')
    .where('event_id', '=', eventId)
    .returningAll()
    .executeTakeFirstOrThrow()
  const { id, account_id, endpoint_id, event_id, created_at } = row
  const finished = { id, account_id, endpoint_id, event_id, created_at }
  await deps.db
    .insertInto('webhook_finished_deliveries')
    .values({ ...finished, outcome, attempts: 1, finished_at: new Date('2026-11-20T10:00:00Z') })
    .execute()
  await attempt(id, row.endpoint_id, eventId, outcome === 'delivered' ? 200 : 500)
  return id
}

async function attempt(deliveryId: string, endpointId: string, eventId: string, statusCode: number): Promise<void> {
  const failed = statusCode >= 300
  await deps.db
    .insertInto('webhook_attempts')
    .values({
      account_id: accountId,
      delivery_id: deliveryId,
      endpoint_id: endpointId,
      event_id: eventId,
      number: 1,
      started_at: deps.now(),
      duration_ms: 12,
      status_code: statusCode,
      error: failed ? `HTTP ${statusCode}` : null,
      response_start: failed ? 'oops' : '',
    })
    .execute()
}

/** Seconds until each waiting delivery is due, by the database's clock. */
async function readWaits(endpointId: string): Promise<number[]> {
  const { rows } = await sql<{ wait: string }>`
    select extract(epoch from due_at - clock_timestamp()) as wait
    from webhook_deliveries where endpoint_id = ${endpointId} order by event_id`.execute(deps.db)
  return rows.map(({ wait }) => Number(wait))
}

/** As after an attempt that failed; with a higher generation, as during the next one. */
async function postpone(eventId: string, seconds: number, generation = 1): Promise<void> {
  await sql`
    update webhook_deliveries
    set due_at = now() + make_interval(secs => ${seconds}), generation = ${generation}, attempts = 1
    where event_id = ${eventId}`.execute(deps.db)
}

test('an endpoint gets delivered, read and failed unless it asks otherwise, and its secret is shown once', async () => {
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

test('an endpoint is listed with what it asked for', async () => {
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
    what: 'an event that there is not',
    input: { events: ['message.red'] },
    says: 'event type "message.red" does not exist',
  },
  { what: 'no event at all', input: { events: [] }, says: 'Event types are message.sent, ' },
  { what: 'something that is no URL', input: { url: 'example.com/webhooks' }, says: 'must be an https URL' },
  { what: 'a URL of another kind', input: { url: 'ftp://example.com' }, says: 'must be an https URL' },
  { what: 'a URL with a password', input: { url: 'https://a:b@example.com' }, says: 'without user name' },
  { what: 'a URL with a line break', input: { url: 'https://example.com/\n' }, says: 'control characters' },
  { what: 'a URL that never ends', input: { url: `https://example.com/${'x'.repeat(2048)}` }, says: 'at most 2048' },
  { what: 'an empty description', input: { description: ' ' }, says: 'description of an endpoint must not be empty' },
  { what: 'a header without a name', input: { headers: [['', 'x']] as const }, says: 'A header name' },
  {
    what: 'a header with a space in its name',
    input: { headers: [['X Y', 'x']] as const },
    says: 'A header name',
  },
  ...['Host', 'Content-Type', 'content-md5', 'Connection', 'Transfer-Encoding', 'TE', 'Webhook-Id', 'webhook-x'].map(
    (name) => ({ what: `the header ${name}`, input: { headers: [[name, 'x']] as const }, says: 'is reserved' }),
  ),
  { what: 'a header without a value', input: { headers: [['X-Token', '']] as const }, says: 'is empty' },
  {
    what: 'a header that splits',
    input: { headers: [['X-Token', 'a\r\nX: b']] as const },
    says: 'not allowed in headers',
  },
  { what: 'a header outside ASCII', input: { headers: [['X-Token', 'ñ']] as const }, says: 'not allowed in headers' },
  {
    what: 'a header twice',
    input: {
      headers: [
        ['X-A', 'b'],
        ['x-a', 'c'],
      ] as const,
    },
    says: 'x-a was given twice',
  },
  { what: 'long headers', input: { headers: [['X-A', 'b'.repeat(5000)]] as const }, says: '4096 characters' },
  {
    what: 'many headers',
    input: { headers: Array.from({ length: 21 }, (_, index) => [`X-${index}`, 'b'] as const) },
    says: '20 headers',
  },
])('$what is refused', async ({ input, says }) => {
  await expect(add(input)).rejects.toThrow(says)

  expect(await listEndpoints(deps, accountId)).toEqual([])
})

test('what a refused header or URL holds is never repeated', async () => {
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
  'both.example.com': ['8.8.8.8', '192.168.1.1'],
  'missing.example.com': 'ENOTFOUND',
  'away.example.com': 'ESERVFAIL',
}

async function resolveByTable(name: string): Promise<readonly string[]> {
  const addresses = names[name] ?? 'ENOTFOUND'
  if (typeof addresses === 'string') throw Object.assign(new Error(addresses), { code: addresses })
  return addresses
}

/** As where WEBHOOK_ALLOW_PRIVATE is not set. */
async function addStrictly(url: string): Promise<unknown> {
  const webhooks = createWebhookSender({ timeoutSeconds: 1, allowPrivate: false }, { resolve: resolveByTable })
  return addEndpoint({ ...deps, webhooks }, accountId, { url }).finally(() => webhooks.close())
}

test.each(['shop.example.com', '8.8.8.8', 'shop.example.com:8443', 'away.example.com'])(
  'an endpoint at %s is added, also while no resolver answers',
  async (host) => {
    await expect(addStrictly(`https://${host}/webhooks`)).resolves.toMatchObject({ secret: expect.any(String) })
  },
)

test.each([
  { url: 'https://inside.example.com', says: 'public host' },
  { url: 'https://both.example.com', says: 'public host' },
  { url: 'https://missing.example.com', says: 'public host' },
  { url: 'https://10.0.0.1', says: 'public host' },
  { url: 'https://[::1]', says: 'public host' },
  { url: 'https://0x7f.1', says: 'public host' },
  { url: 'https://localhost', says: 'public host' },
  { url: 'http://shop.example.com', says: 'must be an https URL' },
])('$url is refused as an endpoint: $says', async ({ url, says }) => {
  await expect(addStrictly(url)).rejects.toThrow(says)
})

test('the refusal does not tell whether a private name exists', async () => {
  const urls = ['https://inside.example.com', 'https://missing.example.com', 'https://10.0.0.1', 'https://localhost']

  const answers = await Promise.all(urls.map((url) => addStrictly(url).catch(String)))

  expect(new Set(answers).size).toBe(1)
})

test('an account has twenty endpoints at most, also when they are added at once', async () => {
  const added = await Promise.allSettled(Array.from({ length: 22 }, () => add()))

  expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
  await expect(add()).rejects.toThrow('at most 20 endpoints')
  expect(await listEndpoints(deps, accountId)).toHaveLength(20)
})

test('an account that does not exist, and another account, have no endpoints', async () => {
  const id = await add()

  await expect(addEndpoint(deps, 'acc_none', { url: receiverUrl })).rejects.toThrow('There is no account "acc_none"')
  await expect(listEndpoints(deps, 'acc_none')).rejects.toThrow('There is no account')
  const other = (await createAccount(deps, { name: 'Other' })).accountId
  expect(await listEndpoints(deps, other)).toEqual([])
  const refused = await Promise.allSettled([
    enableEndpoint(deps, other, id),
    disableEndpoint(deps, other, id),
    removeEndpoint(deps, other, id),
    rotateSecret(deps, other, id),
    testEndpoint(deps, other, id),
    listDeliveries(deps, other, id),
    recoverDeliveries(deps, other, id, new Date(0)),
  ])
  for (const result of refused)
    expect(result).toMatchObject({ reason: { message: expect.stringContaining(`Endpoint "${id}" was not found`) } })
  expect(await listEndpoints(deps, accountId)).toHaveLength(1)
})

test('deliveries of a disabled endpoint wait, and are due when it is enabled again', async () => {
  const id = await add()
  const [first = ''] = await happen()
  await postpone(first, 36_000)
  await deps.db.updateTable('webhook_endpoints').set({ failing_since: deps.now() }).where('id', '=', id).execute()

  expect(await disableEndpoint(deps, accountId, id)).toMatchObject({
    state: 'disabled',
    reason: 'disabled by an operator',
    failingSince: expect.any(String),
    waiting: 1,
  })
  await happen(2)
  expect(await listEndpoints(deps, accountId)).toMatchObject([{ waiting: 3 }])
  let announced = 0
  const stop = deps.announcements.listen('deliveries', () => (announced += 1))
  const enabled = await enableEndpoint(deps, accountId, id)
  stop()

  expect(enabled).toMatchObject({ state: 'enabled', waiting: 3 })
  expect(enabled).not.toHaveProperty('reason')
  expect(enabled).not.toHaveProperty('failingSince')
  expect(announced).toBeGreaterThan(0)
  expect((await readWaits(id)).filter((wait) => wait > 0)).toEqual([])
})

test('enabling leaves alone what is under way', async () => {
  const id = await add()
  const [event = ''] = await happen()
  await postpone(event, 17, 2)

  await enableEndpoint(deps, accountId, id)

  expect((await readWaits(id))[0]).toBeGreaterThan(5)
})

test('removing an endpoint drops what waits for it, says how much, and leaves the others alone', async () => {
  const [id, other] = [await add(), await add()]
  await happen(3)

  expect(await removeEndpoint(deps, accountId, id)).toEqual({ endpointId: id, dropped: 3 })

  expect(await listEndpoints(deps, accountId)).toMatchObject([{ endpointId: other, waiting: 3 }])
  await expect(removeEndpoint(deps, accountId, id)).rejects.toThrow('was not found')
})

test('a rotated secret and the one before both sign until the overlap is over', async () => {
  const { endpointId, secret: first } = await addEndpoint(deps, accountId, { url: receiverUrl })
  const { secret: second, previousSecretUntil } = await rotateSecret(deps, accountId, endpointId)

  expect(Date.parse(previousSecretUntil ?? '') - deps.now().getTime()).toBeGreaterThan(23 * 3_600_000)
  expect(await listEndpoints(deps, accountId)).toMatchObject([{ previousSecretUntil }])
  expect(await verifies(endpointId, [first, second])).toEqual([true, true])

  const { secret: third } = await rotateSecret(deps, accountId, endpointId)
  expect(await verifies(endpointId, [first, second, third])).toEqual([false, true, true])

  expect((await listEndpoints({ ...deps, now: tomorrow }, accountId))[0]).not.toHaveProperty('previousSecretUntil')

  const { secret: last } = await rotateSecret(deps, accountId, endpointId, { overlapSeconds: 0 })
  expect(await verifies(endpointId, [third, last])).toEqual([false, true])
})

function tomorrow(): Date {
  return new Date(Date.now() + 25 * 3_600_000)
}

/** Which of the secrets verify what the endpoint is sent now. */
async function verifies(endpointId: string, secrets: string[]): Promise<boolean[]> {
  await testEndpoint({ ...deps, now: () => new Date() }, accountId, endpointId)
  const last = received.at(-1)
  return secrets.map((secret) => {
    try {
      verifyWebhook(last?.body ?? '', last?.headers ?? {}, secret)
      return true
    } catch {
      return false
    }
  })
}

test('an expired secret no longer signs', async () => {
  const { endpointId, secret: first } = await addEndpoint(deps, accountId, { url: receiverUrl })
  const yesterday = { ...deps, now: () => new Date(Date.now() - 25 * 3_600_000) }
  const { secret: second } = await rotateSecret(yesterday, accountId, endpointId)

  expect(await verifies(endpointId, [first, second])).toEqual([false, true])
})

test.each([-1, Number.NaN, 31 * 24 * 3600])('an overlap of %d seconds is refused', async (overlapSeconds) => {
  await expect(rotateSecret(deps, accountId, await add(), { overlapSeconds })).rejects.toThrow('30 days')
})

test('a test sends one signed event, with the headers of the endpoint, and shows the answer', async () => {
  const headers = [['X-Token', 'abc']] as const
  const { endpointId, secret } = await addEndpoint(deps, accountId, { url: receiverUrl, headers })
  answer = { status: 202, body: 'thanks' }
  await disableEndpoint(deps, accountId, endpointId)

  const result = await testEndpoint({ ...deps, now: () => new Date() }, accountId, endpointId)

  expect(result).toEqual({
    endpointId,
    eventId: expect.stringMatching(/^evt_/),
    delivered: true,
    statusCode: 202,
    responseStart: 'thanks',
    durationMilliseconds: expect.any(Number),
  })
  expect(received).toHaveLength(1)
  expect(received[0]?.headers).toMatchObject({ 'x-token': 'abc', 'webhook-id': result.eventId })
  expect(verifyWebhook(received[0]?.body ?? '', received[0]?.headers ?? {}, secret)).toMatchObject({
    type: 'webhook.test',
    data: { endpointId },
  })
})

test('a test that fails says why, and switches nothing off', async () => {
  const id = await add()
  answer = { status: 410, body: 'go away' }

  expect(await testEndpoint(deps, accountId, id)).toMatchObject({
    delivered: false,
    statusCode: 410,
    error: 'HTTP 410',
    responseStart: 'go away',
  })
  const nowhere = await add({ url: 'http://127.0.0.1:9/' })
  expect(await testEndpoint(deps, accountId, nowhere)).toMatchObject({ delivered: false, error: 'connection refused' })
  expect(await listEndpoints(deps, accountId)).toMatchObject([{ state: 'enabled' }, { state: 'enabled' }])
})

test('deliveries are listed newest first, page by page, with their attempts', async () => {
  const id = await add()
  const events = await happen(5)
  const [oldest = '', failed = '', delivered = ''] = events
  const failedId = await finish(failed, 'failed')
  await finish(delivered, 'delivered')
  const oldestId = await findDeliveryId(oldest)
  await attempt(oldestId, id, oldest, 503)
  await attempt(oldestId, id, oldest, 200)

  const first = await listDeliveries(deps, accountId, id, { limit: 3 })
  const second = await listDeliveries(deps, accountId, id, { limit: 3, cursor: first.nextCursor })

  expect([...first.items, ...second.items].map(({ eventId }) => eventId)).toEqual(events.toReversed())
  expect(first.items[2]).toMatchObject({ state: 'delivered', attempts: [{ number: 1, statusCode: 200 }] })
  expect(second).not.toHaveProperty('nextCursor')
  expect(second.items).toEqual([
    {
      deliveryId: failedId,
      eventId: failed,
      type: 'message.delivered',
      messageId: 'msg_1',
      state: 'failed',
      createdAt: expect.any(String),
      finishedAt: '2026-11-20T10:00:00.000Z',
      attempts: [
        {
          number: 1,
          startedAt: expect.any(String),
          durationMilliseconds: 12,
          statusCode: 500,
          error: 'HTTP 500',
          responseStart: 'oops',
        },
      ],
    },
    expect.objectContaining({
      deliveryId: oldestId,
      state: 'waiting',
      nextAttemptAt: expect.any(String),
      attempts: [expect.objectContaining({ number: 1, error: 'HTTP 503' }), expect.objectContaining({ number: 2 })],
    }),
  ])
  expect(await listEndpoints(deps, accountId)).toMatchObject([
    { waiting: 3, lastDeliveredAt: '2026-11-20T10:00:00.000Z' },
  ])
})

test('deliveries are listed by their state', async () => {
  const id = await add()
  const [failed = '', delivered = '', waiting = ''] = await happen(3)
  await finish(failed, 'failed')
  await finish(delivered, 'delivered')

  for (const [state, eventId] of Object.entries({ failed, delivered, waiting })) {
    const { items } = await listDeliveries(deps, accountId, id, { state: state as 'failed' })
    expect(items).toMatchObject([{ eventId, state }])
  }
})

test.each([{ limit: 0 }, { limit: 101 }, { limit: 1.5 }, { cursor: 'evt_' }])(
  'a page of deliveries like %j is refused',
  async (filter) => {
    await expect(listDeliveries(deps, accountId, await add(), filter)).rejects.toThrow(/The limit must|The cursor must/)
  },
)

async function retry(deliveryId: string) {
  const place = await findDelivery(deps.db, deliveryId)
  if (!place) throw new Error('no such delivery')
  return retryDelivery(deps, place, deliveryId)
}

test('a finished delivery is queued again, once, with all of its attempts before it', async () => {
  const id = await add()
  const [event = ''] = await happen()
  const deliveryId = await finish(event, 'failed')

  expect(await Promise.all([retry(deliveryId), retry(deliveryId)])).toMatchObject([
    { deliveryId, endpointId: id, eventId: event, endpointState: 'enabled' },
    { deliveryId },
  ])

  expect((await listDeliveries(deps, accountId, id)).items).toMatchObject([
    { deliveryId, state: 'waiting', attempts: [{ number: 1 }] },
  ])
  expect((await readWaits(id)).map((wait) => wait <= 0)).toEqual([true])
  await finish(event, 'delivered')
  expect((await listDeliveries(deps, accountId, id)).items).toMatchObject([
    {
      deliveryId,
      state: 'delivered',
      attempts: [
        { number: 1, statusCode: 500 },
        { number: 2, statusCode: 200 },
      ],
    },
  ])
})

test('a delivery that waits for its next attempt is due now, one that is under way is left alone', async () => {
  const id = await add()
  const [waiting = '', soon = '', underWay = ''] = await happen(3)
  await postpone(waiting, 36_000)
  await postpone(soon, 5)
  await postpone(underWay, 17, 2)

  for (const event of [waiting, soon, underWay]) await retry(await findDeliveryId(event))

  expect((await readWaits(id)).map((wait) => wait <= 0)).toEqual([true, true, false])
})

test('a delivery whose endpoint or event is gone is not queued again', async () => {
  const [id, other] = [await add(), await add({ events: ['message.read'] })]
  const [event = ''] = await happen()
  const [read = ''] = await happen(1, 'message.read')
  await deps.db.deleteFrom('webhook_deliveries').where('endpoint_id', '=', id).where('event_id', '=', read).execute()
  const [first, second] = [await finish(event, 'failed'), await finish(read, 'failed')]
  await removeEndpoint(deps, accountId, id)
  await deps.db.deleteFrom('events').where('id', '=', read).execute()

  await expect(retry(first)).rejects.toThrow(`Cannot retry ${first}: its endpoint was removed`)
  await expect(retry(second)).rejects.toThrow(`Cannot retry ${second}: its event is older than the retention period`)
  expect((await listDeliveries(deps, accountId, other)).items).toMatchObject([{ deliveryId: second, state: 'failed' }])
  expect((await listDeliveries(deps, accountId, other)).items[0]).not.toHaveProperty('type')
})

test('recovery queues what failed and what was never tried, and nothing else', async () => {
  const [before = ''] = await happen()
  const since = deps.now()
  const [missed = ''] = await happen()
  await happen(1, 'message.sent')
  const id = await add()
  const [failed = '', delivered = '', waiting = ''] = await happen(3)
  const failedId = await finish(failed, 'failed')
  await finish(delivered, 'delivered')

  expect(await recoverDeliveries(deps, accountId, id, since)).toEqual({ endpointId: id, recovered: 2 })

  const { items } = await listDeliveries(deps, accountId, id)
  expect(items.map(({ eventId, state }) => [eventId, state])).toEqual([
    [waiting, 'waiting'],
    [delivered, 'delivered'],
    [failed, 'waiting'],
    [missed, 'waiting'],
  ])
  expect(items.map(({ eventId }) => eventId)).not.toContain(before)
  expect(items[2]?.deliveryId).toBe(failedId)
  expect(await recoverDeliveries(deps, accountId, id, since)).toMatchObject({ recovered: 0 })
  expect(await recoverDeliveries(deps, accountId, id, new Date(0))).toMatchObject({ recovered: 1 })
})

test('recovery takes any number in batches, tells how far it is, and two at once queue nothing twice', async () => {
  const since = deps.now()
  const eventIds = Array.from({ length: 12_000 }, () => deps.newId('evt'))
  await sql`
    insert into events (account_id, id, type, message_id, payload, created_at)
    select ${accountId}, id, 'message.read', 'msg_1', '{}', now()
    from unnest(${eventIds}::text[]) as event (id)`.execute(deps.db)
  const id = await add()
  const progress: number[] = []

  const both = await Promise.all([
    recoverDeliveries(deps, accountId, id, since, (recovered) => progress.push(recovered)),
    recoverDeliveries(deps, accountId, id, since),
  ])

  expect(both.reduce((sum, { recovered }) => sum + recovered, 0)).toBe(12_000)
  expect(progress).toHaveLength(2)
  expect(await listEndpoints(deps, accountId)).toMatchObject([{ waiting: 12_000 }])
  await disableEndpoint(deps, accountId, id)
  await deps.db
    .updateTable('webhook_deliveries')
    .set({ due_at: new Date(Date.now() + 86_400_000) })
    .where('endpoint_id', '=', id)
    .execute()
  await enableEndpoint(deps, accountId, id)
  expect((await readWaits(id)).filter((wait) => wait > 0)).toEqual([])
  expect(await removeEndpoint(deps, accountId, id)).toMatchObject({ dropped: 12_000 })
})

test('recovery reaches what happened until now by the clock of the database, whatever the clock of the node says', async () => {
  const id = await add()
  const [eventId = ''] = await happen()
  await finish(eventId, 'failed')

  const behind = { ...deps, now: () => new Date(0) }
  expect(await recoverDeliveries(behind, accountId, id, new Date(0))).toMatchObject({ recovered: 1 })
})

test('nothing is recovered since a time that is yet to come', async () => {
  await expect(recoverDeliveries(deps, accountId, await add(), new Date('2100-01-01'))).rejects.toThrow(
    'must be in the past',
  )
})

import { sql } from 'kysely'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { deliveryFailures, disabledReasons } from '../../../contracts/facts/deliveries.ts'
import type { EventType } from '../../../contracts/events.ts'
import { createAccount } from '../../../src/accounts/account.ts'
import { listDeliveries, readPayload, retryDelivery } from '../../../src/webhooks/deliveries/delivery.ts'
import { countRecoverable, recoverPart } from '../../../src/webhooks/deliveries/recover.ts'
import { findDelivery } from '../../../src/webhooks/deliveries/store.ts'
import {
  addEndpoint,
  disableEndpoint,
  enableEndpoint,
  type NewEndpoint,
  removeEndpoint,
} from '../../../src/webhooks/endpoints/change.ts'
import { listEndpoints } from '../../../src/webhooks/endpoints/endpoint.ts'
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

async function findDeliveryId(eventId: string): Promise<string> {
  const query = deps.db.selectFrom('webhook_deliveries').select('id').where('event_id', '=', eventId)
  return (await query.executeTakeFirstOrThrow()).id
}

/** Records the end of a delivery like a worker. */
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

/** Runs all parts of a recovery, and returns how many deliveries each queued. */
async function recoverAll(endpointId: string, since: Date): Promise<number[]> {
  const recovered: number[] = []
  let next: string | undefined
  do {
    const part = await recoverPart(deps, { accountId, endpointId, since: since.toISOString(), next })
    recovered.push(part.recovered)
    next = part.next
  } while (next !== undefined)
  return recovered
}

test('lists deliveries newest first, page by page, with their attempts', async () => {
  const id = await add()
  const events = await emit(5)
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

test('filters deliveries by state', async () => {
  const id = await add()
  const [failed = '', delivered = '', waiting = ''] = await emit(3)
  await finish(failed, 'failed')
  await finish(delivered, 'delivered')

  for (const [state, eventId] of Object.entries({ failed, delivered, waiting })) {
    const { items } = await listDeliveries(deps, accountId, id, { state: state as 'failed' })
    expect(items).toMatchObject([{ eventId, state }])
  }
})

test.each([{ limit: 0 }, { limit: 101 }, { limit: 1.5 }, { cursor: 'evt_' }])('rejects the page %j', async (filter) => {
  await expect(listDeliveries(deps, accountId, await add(), filter)).rejects.toThrow(/The limit must|The cursor must/)
})

async function retry(deliveryId: string) {
  const location = await findDelivery(deps.db, deliveryId)
  if (!location) throw new Error('no such delivery')
  return retryDelivery(deps, location, deliveryId)
}

test('queues a finished delivery again once and keeps its attempts', async () => {
  const id = await add()
  const [event = ''] = await emit()
  const deliveryId = await finish(event, 'failed')

  expect(await Promise.all([retry(deliveryId), retry(deliveryId)])).toMatchObject([
    { deliveryId, endpointId: id, eventId: event, endpointState: 'enabled' },
    { deliveryId },
  ])

  expect((await listDeliveries(deps, accountId, id)).items).toMatchObject([
    { deliveryId, state: 'waiting', attempts: [{ number: 1 }] },
  ])
  expect((await readWaits(deps, id)).map((wait) => wait <= 0)).toEqual([true])
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

test('makes a waiting delivery due and leaves one in progress unchanged', async () => {
  const id = await add()
  const [waiting = '', soon = '', underWay = ''] = await emit(3)
  await postpone(deps, waiting, 36_000)
  await postpone(deps, soon, 5)
  await postpone(deps, underWay, 60, { claimed: true })

  for (const event of [waiting, soon, underWay]) await retry(await findDeliveryId(event))

  expect((await readWaits(deps, id)).map((wait) => wait <= 0)).toEqual([true, true, false])
})

const readAttempts = async (eventId: string) =>
  (await deps.db.selectFrom('webhook_deliveries').select('attempts').where('event_id', '=', eventId).execute()).map(
    ({ attempts }) => attempts,
  )

test('restarts the schedule of a waiting delivery on a retry, so that no attempt is lost', async () => {
  const id = await add()
  const [retried = '', recovered = '', enabled = '', overdue = '', underWay = ''] = await emit(5)
  for (const event of [retried, recovered, enabled]) await postpone(deps, event, 36_000)
  // Its time came while the endpoint was disabled.
  await postpone(deps, overdue, -60)
  await postpone(deps, underWay, 17, { claimed: true })

  await retry(await findDeliveryId(retried))
  expect(await readAttempts(retried)).toEqual([0])
  expect(await readAttempts(recovered)).toEqual([1])

  await disableEndpoint(deps, accountId, id, { reason: disabledReasons.byOperator() })
  await enableEndpoint(deps, accountId, id)
  expect(await readAttempts(enabled)).toEqual([0])
  expect(await readAttempts(overdue)).toEqual([0])

  await postpone(deps, recovered, 36_000)
  const choice = { accountId, endpointId: id, since: new Date(0).toISOString(), includeWaiting: true }
  await recoverPart(deps, choice)
  expect(await readAttempts(recovered)).toEqual([0])
  expect(await readAttempts(underWay)).toEqual([1])
})

test('does not retry a delivery whose endpoint or event was deleted', async () => {
  const [id, other] = [await add(), await add({ events: ['message.read'] })]
  const [event = ''] = await emit()
  const [read = ''] = await emit(1, 'message.read')
  await deps.db.deleteFrom('webhook_deliveries').where('endpoint_id', '=', id).where('event_id', '=', read).execute()
  const [first, second] = [await finish(event, 'failed'), await finish(read, 'failed')]
  await removeEndpoint(deps, accountId, id)
  await deps.db.deleteFrom('events').where('id', '=', read).execute()

  await expect(retry(first)).rejects.toThrow(`Cannot retry ${first}: its endpoint was removed`)
  await expect(retry(second)).rejects.toThrow(`Cannot retry ${second}: its event is older than the retention period`)
  expect((await listDeliveries(deps, accountId, other)).items).toMatchObject([{ deliveryId: second, state: 'failed' }])
  expect((await listDeliveries(deps, accountId, other)).items[0]).not.toHaveProperty('type')
})

test('recovers only failed and never attempted deliveries', async () => {
  const [before = ''] = await emit()
  const since = deps.now()
  const [missed = ''] = await emit()
  await emit(1, 'message.sent')
  const id = await add()
  const [failed = '', delivered = '', waiting = ''] = await emit(3)
  const failedId = await finish(failed, 'failed')
  await finish(delivered, 'delivered')

  expect(await recoverAll(id, since)).toEqual([2])

  const { items } = await listDeliveries(deps, accountId, id)
  expect(items.map(({ eventId, state }) => [eventId, state])).toEqual([
    [waiting, 'waiting'],
    [delivered, 'delivered'],
    [failed, 'waiting'],
    [missed, 'waiting'],
  ])
  expect(items.map(({ eventId }) => eventId)).not.toContain(before)
  expect(items[2]?.deliveryId).toBe(failedId)
  expect(await recoverAll(id, since)).toEqual([0])
  expect(await recoverAll(id, new Date(0))).toEqual([1])
})

test('recovers no event about the failure of the endpoint itself', async () => {
  const [failing, other] = [await add({ events: ['endpoint.failing'] }), await add({ events: ['endpoint.failing'] })]
  const since = new Date(0).toISOString()
  const [event = ''] = await emit(1, 'endpoint.failing')
  await deps.db.updateTable('events').set({ message_id: failing }).where('id', '=', event).execute()
  await deps.db.deleteFrom('webhook_deliveries').where('event_id', '=', event).execute()

  const counted = (endpointId: string) => countRecoverable(deps, { accountId, endpointId, since })
  expect(await counted(failing)).toMatchObject({ missed: 0 })
  expect(await counted(other)).toMatchObject({ missed: 1 })
  expect(await recoverAll(failing, new Date(0))).toEqual([0])
  expect(await recoverAll(other, new Date(0))).toEqual([1])
})

test('recovers in parts and queues nothing twice when run concurrently', async () => {
  const since = deps.now()
  const eventIds = Array.from({ length: 12_000 }, () => deps.newId('evt'))
  await sql`
    insert into events (account_id, id, type, message_id, payload, created_at)
    select ${accountId}, id, 'message.read', 'msg_1', '{}', now()
    from unnest(${eventIds}::text[]) as event (id)`.execute(deps.db)
  const id = await add()

  const both = await Promise.all([recoverAll(id, since), recoverAll(id, since)])

  expect(both.flat().reduce((sum, recovered) => sum + recovered, 0)).toBe(12_000)
  expect(both.map((parts) => parts.length)).toEqual([3, 3])
  expect(await listEndpoints(deps, accountId)).toMatchObject([{ waiting: 12_000 }])
  await disableEndpoint(deps, accountId, id, { reason: disabledReasons.byOperator() })
  await deps.db
    .updateTable('webhook_deliveries')
    .set({ due_at: new Date(Date.now() + 86_400_000) })
    .where('endpoint_id', '=', id)
    .execute()
  await enableEndpoint(deps, accountId, id)
  expect((await readWaits(deps, id)).filter((wait) => wait > 0)).toEqual([])
  expect(await removeEndpoint(deps, accountId, id)).toMatchObject({ dropped: 12_000 })
})

test("recovers events up to the current time of the database, whatever the node's clock", async () => {
  const id = await add()
  const [eventId = ''] = await emit()
  await finish(eventId, 'failed')

  const behind = { ...deps, now: () => new Date(0) }
  const all = { accountId, endpointId: id, since: new Date(0).toISOString() }
  expect(await recoverPart(behind, all)).toMatchObject({ recovered: 1 })
})

test('rejects a recovery since a future time', async () => {
  await expect(recoverAll(await add(), new Date('2100-01-01'))).rejects.toThrow('must be in the past')
})

test('counts and redelivers only the deliveries with one kind of failure, including waiting ones', async () => {
  const since = deps.now()
  const [before = ''] = await emit()
  const id = await add()
  const [refused = '', failed = '', delivered = '', waiting = '', others = ''] = await emit(5)
  const failedId = await finish(failed, 'failed')
  await finish(refused, 'failed')
  const change = { error: 'connection refused', status_code: null }
  await deps.db.updateTable('webhook_attempts').set(change).where('event_id', '=', refused).execute()
  await finish(delivered, 'delivered')
  for (const [event, statusCode] of [
    [waiting, 500],
    [others, 502],
  ] as const) {
    await postpone(deps, event, 36_000)
    await attempt(await findDeliveryId(event), id, event, statusCode)
  }
  const all = { accountId, endpointId: id, since: since.toISOString() }
  const choice = { ...all, error: 'HTTP 500', includeWaiting: true }

  expect(await countRecoverable(deps, all)).toEqual({ missed: 3, waiting: 0, isPartial: false })
  expect(await countRecoverable(deps, { ...all, includeWaiting: true })).toMatchObject({ missed: 3, waiting: 2 })
  expect(await countRecoverable(deps, choice)).toEqual({ missed: 1, waiting: 1, isPartial: false })
  for (const error of ['connection refused', deliveryFailures.connectionRefused().code])
    expect(await countRecoverable(deps, { ...all, error })).toMatchObject({ missed: 1 })
  expect(await recoverPart(deps, choice)).toMatchObject({ recovered: 2 })

  const { items } = await listDeliveries(deps, accountId, id)
  expect(items.map(({ eventId, state }) => [eventId, state])).toEqual([
    [others, 'waiting'],
    [waiting, 'waiting'],
    [delivered, 'delivered'],
    [failed, 'waiting'],
    [refused, 'failed'],
  ])
  expect(items[3]?.deliveryId).toBe(failedId)
  expect(items.map(({ eventId }) => eventId)).not.toContain(before)
  expect((await readWaits(deps, id)).map((wait) => wait <= 0)).toEqual([true, true, false])
})

test('leaves a delivery in progress unchanged when waiting ones are redelivered', async () => {
  const id = await add()
  const [underWay = ''] = await emit()
  await postpone(deps, underWay, 60, { claimed: true })
  const choice = { accountId, endpointId: id, since: new Date(0).toISOString(), includeWaiting: true }

  expect(await recoverPart(deps, choice)).toMatchObject({ recovered: 1 })
  expect((await readWaits(deps, id)).map((wait) => wait > 0)).toEqual([true])
})

test('does not wait for a delivery in progress that is being recorded', async () => {
  const id = await add()
  const [underWay = ''] = await emit()
  await postpone(deps, underWay, 17, { claimed: true })
  const deliveryId = await findDeliveryId(underWay)
  const since = new Date(0).toISOString()

  const recovered = await database.db.transaction().execute(async (recording) => {
    await recording.selectFrom('webhook_deliveries').select('id').where('id', '=', deliveryId).forUpdate().execute()
    await retryDelivery(deps, { accountId, endpointId: id, eventId: underWay }, deliveryId)
    return recoverPart(deps, { accountId, endpointId: id, since, includeWaiting: true })
  })
  expect(recovered).toMatchObject({ recovered: 1 })
})

test('reads the payload of a delivery of this account only', async () => {
  await add()
  const [event = ''] = await emit()
  const deliveryId = await findDeliveryId(event)

  expect(await readPayload(deps, accountId, deliveryId)).toEqual({ eventId: event, payload: '{}' })
  await expect(readPayload(deps, 'acc_other', deliveryId)).rejects.toThrow('was not found')
  await deps.db.deleteFrom('events').where('id', '=', event).execute()
  await expect(readPayload(deps, accountId, deliveryId)).rejects.toThrow('older than the retention period')
})

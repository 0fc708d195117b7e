import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WebhookEvent } from '../../../contracts/events.ts'
import { firstIdAt } from '../../../src/platform/ids.ts'
import { createSecretBox } from '../../../src/platform/secrets.ts'
import { rotateSecret } from '../../../src/webhooks/endpoints/secrets.ts'
import { registerQueueGauges, registerWorkerMetrics } from '../../../src/webhooks/queue/metrics.ts'
import { deleteOldDeliveries } from '../../../src/webhooks/queue/retention-store.ts'
import { type Claim, claimDueDeliveries, readQueueState, recordAttempts } from '../../../src/webhooks/queue/store.ts'
import { Worker } from '../../../src/webhooks/queue/worker.ts'
import { openTestDatabase } from '../../support/database.ts'
import { forFile, forTest } from '../../support/lifetime.ts'
import {
  accept,
  respond,
  neverRespond,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/webhook-receiver.ts'
import { startTestWebhooks, webhookConfig } from '../../support/webhooks.ts'

let receiver: WebhookReceiver
const log: string[] = []
const database = await forFile(openTestDatabase())
const webhooks = await forFile(
  startTestWebhooks(database, { log: pino({ level: 'info' }, { write: (line: string) => void log.push(line) }) }),
)
/** Each test has a receiver of its own: an attempt that is aborted at the end of a test can still arrive in the next one. */
beforeEach(async () => {
  receiver = await forTest(startWebhookReceiver())
})
afterEach(async () => {
  await webhooks.reset()
  log.length = 0
})

test('delivers an event to each subscribed endpoint, signed with its own secret', async () => {
  const first = await webhooks.addEndpoint(`${receiver.url}/first`, { headers: [['X-Tenant', 'one']] })
  const second = await webhooks.addEndpoint(`${receiver.url}/second`)
  await webhooks.addEndpoint(`${receiver.url}/other`, { events: ['message.failed'] })
  webhooks.startWorker()
  const [eventId = ''] = await webhooks.emit()

  await expect.poll(() => webhooks.finished()).toHaveLength(2)
  expect(receiver.at('/other')).toEqual([])
  for (const [path, { secret }] of [
    ['/first', first],
    ['/second', second],
  ] as const) {
    const [received, ...more] = receiver.at(path)
    expect(more).toEqual([])
    expect(received?.id).toBe(eventId)
    const body = new Webhook(secret).verify(received?.body ?? '', received?.headers as Record<string, string>)
    expect(WebhookEvent.parse(body).type).toBe('message.delivered')
  }
  expect(receiver.at('/first')[0]?.headers['x-tenant']).toBe('one')
  expect(await webhooks.deliveries()).toEqual([])
  expect(await webhooks.finished()).toMatchObject([{ outcome: 'delivered', attempts: 1 }, { outcome: 'delivered' }])
})

test('retries with the same ID, records every attempt and stops after the last', async () => {
  const { endpointId } = await webhooks.addEndpoint(`${receiver.url}/flaky`)
  let responses = 0
  receiver.behave((received, response, request) => respond(++responses < 3 ? 500 : 200)(received, response, request))
  webhooks.startWorker()
  const [eventId = ''] = await webhooks.emit()

  await expect.poll(() => webhooks.finished()).toMatchObject([{ outcome: 'delivered', attempts: 3 }])
  expect(receiver.received.map(({ id }) => id)).toEqual([eventId, eventId, eventId])
  expect(await webhooks.attempts(eventId)).toEqual([
    { number: 1, status_code: 500, error: 'HTTP 500' },
    { number: 2, status_code: 500, error: 'HTTP 500' },
    { number: 3, status_code: 200, error: null },
  ])
  expect((await webhooks.endpoint(endpointId)).failing_since).toBeNull()
})

test('follows the retry schedule and fails the delivery at its end', async () => {
  const { endpointId } = await webhooks.addEndpoint(receiver.url)
  receiver.behave(respond(500))
  webhooks.startWorker()
  const [eventId = ''] = await webhooks.emit()

  await expect.poll(() => webhooks.deliveries()).toMatchObject([{ attempts: 3 }])
  const [waiting] = await webhooks.deliveries()
  expect(waiting?.dueInSeconds).toBeGreaterThan(3500)
  expect(waiting?.dueInSeconds).toBeLessThanOrEqual(3600)
  const times = receiver.received.map(({ at }) => at)
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(45)
  expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual(95)
  expect((await webhooks.endpoint(endpointId)).failing_since).not.toBeNull()

  await sql`update webhook_deliveries set due_at = now()`.execute(database.db)
  await expect.poll(() => webhooks.finished()).toMatchObject([{ outcome: 'failed', attempts: 4 }])
  expect(await webhooks.deliveries()).toEqual([])
  expect(await webhooks.attempts(eventId)).toHaveLength(4)
})

test('waits as long as Retry-After specifies', async () => {
  await webhooks.addEndpoint(receiver.url)
  receiver.behave(respond(503, { 'retry-after': '600' }))
  webhooks.startWorker()
  await webhooks.emit()
  await expect.poll(() => webhooks.deliveries()).toMatchObject([{ attempts: 1 }])
  const [waiting] = await webhooks.deliveries()
  expect(waiting?.dueInSeconds).toBeGreaterThan(500)
  expect(waiting?.dueInSeconds).toBeLessThanOrEqual(600)
})

test('disables an endpoint that returns 410 and delivers its waiting events when it is enabled', async () => {
  const { endpointId } = await webhooks.addEndpoint(`${receiver.url}/gone`)
  receiver.behave(respond(410), '/gone')
  const registry = new Registry()
  const observer = registerWorkerMetrics(registry, () => 0)
  const worker = webhooks.startWorker({ observer })
  await webhooks.emit(5)

  await expect
    .poll(() => webhooks.endpoint(endpointId))
    .toMatchObject({ enabled: false, disabled_reason: 'it answered 410 Gone' })
  await expect.poll(() => log.filter((line) => line.includes('disabled a webhook endpoint'))).toHaveLength(1)
  expect(await registry.getSingleMetricAsString('waybill_webhook_endpoints_disabled_total')).toContain(
    '{reason="gone"} 1',
  )
  await webhooks.emit(2)
  await expect.poll(() => worker.held).toBe(0)
  expect(await webhooks.deliveries()).toHaveLength(7)

  receiver.behave(accept, '/gone')
  await sql`update webhook_endpoints set enabled = true, failing_since = null`.execute(database.db)
  await sql`update webhook_deliveries set due_at = now() where due_at > now() + interval '100 seconds'`.execute(
    database.db,
  )
  await expect.poll(() => webhooks.finished()).toHaveLength(7)
})

test('keeps a delivery whose last attempt is answered with 410', async () => {
  const { endpointId } = await webhooks.addEndpoint(receiver.url)
  receiver.behave(respond(410))
  await webhooks.emit()
  await sql`update webhook_deliveries set attempts = 3`.execute(database.db)
  webhooks.startWorker()

  await expect.poll(() => webhooks.endpoint(endpointId)).toMatchObject({ enabled: false })

  expect(await webhooks.deliveries()).toMatchObject([{ attempts: 4 }])
  expect(await webhooks.finished()).toEqual([])
})

test('disables an endpoint after five days without a success', async () => {
  const tired = await webhooks.addEndpoint(`${receiver.url}/tired`)
  const recovering = await webhooks.addEndpoint(`${receiver.url}/recovering`)
  receiver.behave(respond(500), '/tired')
  await sql`update webhook_endpoints set failing_since = now() - interval '121 hours'`.execute(database.db)
  webhooks.startWorker()
  await webhooks.emit()

  await expect
    .poll(() => webhooks.endpoint(tired.endpointId))
    .toMatchObject({ enabled: false, disabled_reason: 'no attempt has succeeded for five days' })
  await expect
    .poll(() => webhooks.endpoint(recovering.endpointId))
    .toEqual({ enabled: true, disabled_reason: null, failing_since: null })
  expect(await webhooks.deliveries(tired.endpointId)).toHaveLength(1)
})

test('signs with both secrets during an overlap and then only with the new one', async () => {
  const { endpointId, secret } = await webhooks.addEndpoint(receiver.url)
  const rotated = await rotateSecret(webhooks.deps, webhooks.accountId, endpointId, { overlapSeconds: 60 })
  webhooks.startWorker()
  await webhooks.emit()
  await expect.poll(() => receiver.received).toHaveLength(1)
  const [both] = receiver.received
  for (const each of [secret, rotated.secret])
    expect(new Webhook(each).verify(both?.body ?? '', both?.headers as Record<string, string>)).toBeDefined()

  await sql`update webhook_endpoints set previous_secret_expires_at = now()`.execute(database.db)
  await webhooks.emit()
  await expect.poll(() => receiver.received).toHaveLength(2)
  expect(String(receiver.received[1]?.headers['webhook-signature']).split(' ')).toHaveLength(1)
})

test('fails attempts while the secret cannot be decrypted and recovers with the key', async () => {
  await webhooks.addEndpoint(receiver.url)
  const deps = { ...webhooks.deps, secrets: createSecretBox([randomBytes(32)], randomBytes) }
  const worker = new Worker(deps, webhookConfig, { pollMilliseconds: 20 })
  worker.start()
  const [eventId = ''] = await webhooks.emit()
  await expect
    .poll(() => webhooks.attempts(eventId))
    .toMatchObject([{ error: 'the signing secret of the endpoint cannot be decrypted' }, {}, {}])
  await worker.stop()
  expect(receiver.received).toEqual([])
  expect(log.filter((line) => line.includes('could not decrypt the signing secret'))).toHaveLength(1)

  webhooks.startWorker()
  await sql`update webhook_deliveries set due_at = now()`.execute(database.db)
  await expect.poll(() => webhooks.finished()).toMatchObject([{ outcome: 'delivered' }])
})

const wholeClaim: Claim = {
  leaseSeconds: 30,
  limit: 100,
  afterEndpointId: '',
  capacities: [],
  defaultWindow: 10,
  failingWindow: 2,
}

test('claims as many deliveries as each endpoint has capacity for, in endpoint order', async () => {
  const ids: string[] = []
  for (const name of ['a', 'b', 'c', 'd']) ids.push((await webhooks.addEndpoint(`${receiver.url}/${name}`)).endpointId)
  // IDs of the same millisecond are in random order.
  const [a = '', b = '', c = '', d = ''] = ids.toSorted()
  await webhooks.emit(20)
  await sql`update webhook_endpoints set failing_since = now() where id = ${b}`.execute(database.db)
  await sql`update webhook_endpoints set enabled = false where id = ${d}`.execute(database.db)

  const claim = async (changes: Partial<Claim>) => {
    const counts: Record<string, number> = {}
    for (const { endpointId: id } of await claimDueDeliveries(database.db, { ...wholeClaim, ...changes }))
      counts[id] = (counts[id] ?? 0) + 1
    return counts
  }
  expect(await claim({ capacities: [{ endpointId: c, deliveries: 3 }] })).toEqual({ [a]: 10, [b]: 2, [c]: 3 })
  expect(await claim({ capacities: [{ endpointId: a, deliveries: 0 }], limit: 5 })).toEqual({ [b]: 2, [c]: 3 })
  expect(await claim({ afterEndpointId: a, limit: 3 })).toEqual({ [b]: 2, [c]: 1 })
  expect(await claim({ afterEndpointId: c })).toEqual({})
  expect(await claim({})).toEqual({ [a]: 10, [b]: 2, [c]: 10 })
  expect(await claim({})).toEqual({ [b]: 2, [c]: 3 })
})

test('keeps a claim from other workers until the lease expires and then ignores its result', async () => {
  await webhooks.addEndpoint(receiver.url)
  await webhooks.emit()
  const [mine] = await claimDueDeliveries(database.db, wholeClaim)
  expect(await claimDueDeliveries(database.db, wholeClaim)).toEqual([])
  if (!mine) throw new Error('nothing was claimed')
  const ended = {
    delivery: mine,
    result: { outcome: 'delivered', durationMilliseconds: 1 },
    startedAt: new Date(),
  } as const

  // The lease has expired, but no other worker has claimed the delivery.
  await sql`update webhook_deliveries set due_at = now()`.execute(database.db)
  expect((await recordAttempts(database.db, [{ ...ended, waitSeconds: undefined }])).lost).toEqual(new Set([mine.id]))
  expect((await recordAttempts(database.db, [{ ...ended, waitSeconds: 60 }])).lost).toEqual(new Set([mine.id]))

  const [theirs] = await claimDueDeliveries(database.db, wholeClaim)
  expect(theirs).toMatchObject({ id: mine.id, eventId: mine.eventId, generation: mine.generation + 1 })
  expect((await recordAttempts(database.db, [{ ...ended, waitSeconds: undefined }])).lost).toEqual(new Set([mine.id]))
  expect(await webhooks.attempts(mine.eventId)).toEqual([])

  if (!theirs) throw new Error('nothing was claimed')
  expect((await recordAttempts(database.db, [{ ...ended, delivery: theirs, waitSeconds: undefined }])).lost.size).toBe(
    0,
  )
  expect(await webhooks.finished()).toMatchObject([{ outcome: 'delivered', attempts: 1 }])
})

test('repeats an attempt with the same ID if its worker was paused past the lease', async () => {
  await webhooks.addEndpoint(receiver.url)
  const held = Promise.withResolvers<() => void>()
  let first = true
  receiver.behave((_received, response) => {
    if (!first) return void response.end()
    first = false
    held.resolve(() => response.end())
  })
  const lost = vi.fn<() => void>()
  webhooks.startWorker({ observer: { attempted: () => {}, disabled: () => {}, lost } })
  const [eventId = ''] = await webhooks.emit()

  const releaseFirst = await held.promise
  // Simulates a lease that expired while the worker was paused, so that the delivery is claimed again.
  await sql`update webhook_deliveries set due_at = now()`.execute(database.db)
  await expect.poll(() => webhooks.finished()).toHaveLength(1)
  releaseFirst()
  await expect.poll(() => lost).toHaveBeenCalledOnce()
  expect(receiver.received.map(({ id }) => id)).toEqual([eventId, eventId])
  expect(await webhooks.attempts(eventId)).toHaveLength(1)
})

test('rejects a lease that is not longer than the timeout', () => {
  expect(() => new Worker(webhooks.deps, webhookConfig, { leaseSeconds: 60 })).toThrow(
    'must be longer than the timeout',
  )
})

test('finishes attempts in progress when a worker stops', async () => {
  await webhooks.addEndpoint(receiver.url)
  const held = Promise.withResolvers<() => void>()
  receiver.behave((_received, response) => held.resolve(() => response.end()))
  const worker = webhooks.startWorker()
  await webhooks.emit()
  const finish = await held.promise
  const stopped = worker.stop()
  await webhooks.emit(3)
  finish()
  await stopped
  expect(await webhooks.finished()).toHaveLength(1)
  expect(receiver.received).toHaveLength(1)
  await expectDueAtOnce(3)
})

test('attempts nothing that it claims while it stops', async () => {
  await webhooks.addEndpoint(receiver.url)
  await webhooks.emit(3)
  const worker = webhooks.startWorker()
  // Its first claim is on its way.
  await worker.stop()
  expect(receiver.received).toEqual([])
  await expectDueAtOnce(3)
})

/** Another worker can claim them now. */
async function expectDueAtOnce(count: number): Promise<void> {
  const deliveries = await webhooks.deliveries()
  expect(deliveries).toHaveLength(count)
  for (const { dueInSeconds, attempts } of deliveries) {
    expect(dueInSeconds).toBeLessThanOrEqual(0)
    expect(attempts).toBe(0)
  }
}

test('releases unfinished deliveries on stop for another worker to claim', async () => {
  await webhooks.addEndpoint(receiver.url)
  receiver.behave(neverRespond)
  const worker = webhooks.startWorker()
  await webhooks.emit(3)
  await expect.poll(() => receiver.received).toHaveLength(3)
  await worker.stop({ graceMilliseconds: 10 })
  expect(worker.held).toBe(0)
  await expectDueAtOnce(3)
  receiver.behave(accept)
  webhooks.startWorker()
  await expect.poll(() => webhooks.finished()).toHaveLength(3)
})

test('reports the state of the queue in gauges', async () => {
  const { endpointId } = await webhooks.addEndpoint(receiver.url)
  const registry = new Registry()
  registerQueueGauges(webhooks.deps, registry)
  registerWorkerMetrics(registry, () => 7)
  await webhooks.emit(3)
  await sql`update webhook_deliveries set due_at = now() - interval '1 hour'`.execute(database.db)
  const metrics = await registry.metrics()
  expect(metrics).toMatch(/^waybill_webhook_oldest_due_seconds 3[67]\d\d/m)
  expect(metrics).toContain('waybill_webhook_deliveries_waiting 3\n')
  expect(metrics).toContain('waybill_webhook_deliveries_in_flight 7\n')

  await sql`update webhook_endpoints set enabled = false where id = ${endpointId}`.execute(database.db)
  expect(await registry.metrics()).toContain('waybill_webhook_oldest_due_seconds 0\n')
})

/** The last attempt of the endpoint ended at this time. */
async function attemptedAt(endpointId: string, minutesAgo: number): Promise<void> {
  const at = sql`now() - ${minutesAgo} * interval '1 minute'`
  await sql`delete from webhook_attempt_counts where endpoint_id = ${endpointId}`.execute(database.db)
  await sql`
    insert into webhook_attempt_counts
      (account_id, endpoint_id, slot, status_code, error, attempts, duration_ms, max_duration_ms, first_at, last_at)
    select account_id, id, date_bin('15 min', ${at}, timestamptz '2000-01-01 00:00Z'), 500, '', 1, 1, 1, ${at}, ${at}
    from webhook_endpoints where id = ${endpointId}`.execute(database.db)
}

test.each([
  ['fails', { failing_since: new Date() }],
  ['has limits', { max_per_second: 1 }],
])('is not late for an endpoint that %s while it is attempted', async (_what, changes) => {
  const { endpointId } = await webhooks.addEndpoint(receiver.url)
  await webhooks.emit(2)
  await sql`update webhook_deliveries set due_at = now() - interval '1 hour'`.execute(database.db)
  await database.db.updateTable('webhook_endpoints').set(changes).where('id', '=', endpointId).execute()
  const late = async () => Math.round((await readQueueState(database.db)).oldestDueSeconds / 60)

  await attemptedAt(endpointId, 10)
  expect(await late()).toBe(10)
  await attemptedAt(endpointId, 0)
  expect(await late()).toBe(0)

  // Of one delivery, the attempt is running.
  await sql`delete from webhook_attempt_counts`.execute(database.db)
  expect(await late()).toBe(60)
  await sql`
    update webhook_deliveries set claimed = true, due_at = now() + interval '20 seconds'
    where id = (select min(id) from webhook_deliveries)`.execute(database.db)
  expect(await late()).toBe(0)
})

test('deletes deliveries once their event is dropped, whatever their own age', async () => {
  const { endpointId } = await webhooks.addEndpoint(receiver.url)
  await sql`update webhook_endpoints set enabled = false where id = ${endpointId}`.execute(database.db)
  // With their earlier versions, the rows fill more than one range of blocks.
  await webhooks.fillQueue(endpointId, 10_000)
  const now = new Date('2026-04-03T12:00:00Z')
  const setAges = (eventAt: string, days: number) =>
    sql`
      update webhook_deliveries
      set event_id = ${firstIdAt('evt', new Date(eventAt))}, created_at = now() - ${days} * interval '1 day'`.execute(
      database.db,
    )

  // Thirty days earlier was a Wednesday. The partition of its week is kept.
  await setAges('2026-03-02T00:00:00Z', 50)
  expect(await deleteOldDeliveries(database.db, now, 30)).toBe(0)

  await setAges('2026-03-01T23:59:59Z', 0)
  await webhooks.emit(1)
  expect(await deleteOldDeliveries(database.db, now, 30)).toBe(10_001)
  expect(await webhooks.deliveries()).toHaveLength(1)
})

test('deletes a claimed delivery whose event was deleted, so that it does not block its endpoint', async () => {
  await webhooks.addEndpoint(receiver.url, { maxConcurrent: 1 })
  const [deleted = ''] = await webhooks.emit(1)
  await database.db.deleteFrom('events').where('id', '=', deleted).execute()
  await sql`update webhook_deliveries set claimed = true, due_at = now() - interval '1 second'`.execute(database.db)
  webhooks.startWorker()
  const [kept] = await webhooks.emit(1)

  await expect.poll(() => webhooks.finished()).toMatchObject([{ event_id: kept, outcome: 'delivered' }])
  expect(await webhooks.deliveries()).toEqual([])
})

test('deletes deliveries of a removed endpoint without attempting or counting them', async () => {
  const { endpointId } = await webhooks.addEndpoint(`${receiver.url}/removed`)
  await webhooks.addEndpoint(receiver.url)
  await webhooks.emit(2)
  await database.db.deleteFrom('webhook_endpoints').where('id', '=', endpointId).execute()
  const registry = new Registry()
  registerQueueGauges(webhooks.deps, registry)

  expect(await registry.metrics()).toContain('waybill_webhook_deliveries_waiting 2\n')
  expect(await claimDueDeliveries(database.db, { ...wholeClaim, leaseSeconds: 0 })).toHaveLength(2)
  expect(await deleteOldDeliveries(database.db, new Date(), 30)).toBe(2)
  expect(await webhooks.deliveries(endpointId)).toEqual([])
  expect(await webhooks.deliveries()).toHaveLength(2)
})

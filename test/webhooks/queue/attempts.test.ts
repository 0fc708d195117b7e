import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type AttemptEvents, Attempts, type WorkerObserver } from '../../../src/webhooks/queue/attempts.ts'
import { EndpointConcurrency, initialWindows } from '../../../src/webhooks/queue/endpoint-concurrency.ts'
import { noDeliveryJournal } from '../../../src/webhooks/queue/delivery-journal.ts'
import { type Claim, claimDueDeliveries, type ClaimedDelivery } from '../../../src/webhooks/queue/store.ts'
import type { WebhookSender } from '../../../src/webhooks/sender/webhook-sender.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { forFile, forTest } from '../../support/lifetime.ts'
import { startOutages } from '../../support/outages.ts'
import { respond, startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts'
import { startTestWebhooks, webhookConfig } from '../../support/webhooks.ts'

const leaseSeconds = 90
const database = await forFile(openTestDatabase())
const webhooks = await forFile(startTestWebhooks(database))
let receiver: WebhookReceiver
/** Each test has a receiver of its own: an attempt that is aborted at the end of a test can still arrive in the next one. */
beforeEach(async () => {
  receiver = await forTest(startWebhookReceiver())
  await webhooks.addEndpoint(receiver.url)
})
afterEach(() => webhooks.reset())

type EmittedName = keyof AttemptEvents | keyof WorkerObserver

/** The attempts of a worker, and the events that they emit. */
function createAttempts({
  db = database.db,
  sender = webhooks.deps.webhooks,
}: { db?: TestDatabase['db']; sender?: WebhookSender } = {}) {
  const logged: string[] = []
  const write = (line: string) => void logged.push((JSON.parse(line) as { msg: string }).msg)
  const emitted: EmittedName[] = []
  const recordEvent = (name: EmittedName) => () => void emitted.push(name)
  // Whole milliseconds, because sums of fractions are rounded.
  const time = Math.floor(performance.now())
  const concurrency = new EndpointConcurrency({ maxSlowHeld: 1_024 })
  const attempts = new Attempts(
    { ...webhooks.deps, db, webhooks: sender, log: pino({ level: 'info' }, { write }) },
    {
      ...webhookConfig,
      leaseSeconds,
      random: () => 0,
      monotonic: () => time,
      observer: { attempted: recordEvent('attempted'), lost: recordEvent('lost'), disabled: recordEvent('disabled') },
      journal: noDeliveryJournal,
    },
    concurrency,
    {
      slotFreed: recordEvent('slotFreed'),
      // On a busy machine, the endpoint becomes a slow one.
      slowSlotFreed: recordEvent('slotFreed'),
      released: recordEvent('released'),
      limitedRecorded: recordEvent('limitedRecorded'),
      databaseLost: recordEvent('databaseLost'),
    },
  )
  /** Begins a delivery that was claimed some time ago. */
  const begin = (delivery: ClaimedDelivery, { isLimited = false, claimedAgo = 0 } = {}) =>
    attempts.begin(delivery, { windows: initialWindows, isLimited, sentAt: time - claimedAgo })
  return { attempts, begin, emitted, logged }
}

const wholeClaim: Claim = {
  leaseSeconds,
  limit: 100,
  afterEndpointId: '',
  capacities: [],
  defaultWindow: 100,
  failingWindow: 2,
}

async function claimOne(): Promise<ClaimedDelivery> {
  await webhooks.emit(1)
  return claimAgain()
}

/** Claims one delivery and begins its attempt. */
async function beginOne(options?: { isLimited?: boolean }) {
  const delivery = await claimOne()
  const created = createAttempts()
  created.begin(delivery, options)
  return { ...created, delivery }
}

async function claimAgain(): Promise<ClaimedDelivery> {
  const [delivery, ...others] = await claimDueDeliveries(database.db, wholeClaim)
  if (!delivery || others.length > 0) throw new Error('did not claim exactly one delivery')
  return delivery
}

test('attempts and records a claimed delivery, and requests more for its endpoint', async () => {
  const { attempts, emitted, delivery } = await beginOne()
  expect(attempts.held).toBe(1)
  await expect.poll(() => attempts.held).toBe(0)

  expect(emitted).toEqual(['slotFreed', 'attempted', 'released'])
  expect(await webhooks.finished()).toMatchObject([{ outcome: 'delivered', attempts: 1 }])
  const attempt = await database.db.selectFrom('webhook_attempts').selectAll().executeTakeFirstOrThrow()
  expect(attempt.started_at).toEqual(new Date(delivery.claimedAt))
})

test('emits an event when the delivery of an endpoint with limits is recorded', async () => {
  const { attempts, emitted } = await beginOne({ isLimited: true })
  await expect.poll(() => attempts.held).toBe(0)
  expect(emitted).toEqual(['attempted', 'limitedRecorded', 'released'])
})

test('requests more deliveries of an endpoint that fails, too', async () => {
  receiver.behave(respond(500))
  const { attempts, emitted } = await beginOne()
  await expect.poll(() => attempts.held).toBe(0)
  expect(emitted).toEqual(['slotFreed', 'attempted', 'released'])
  expect(await webhooks.deliveries()).toMatchObject([{ attempts: 1 }])
})

test('skips a delivery whose lease would expire during its attempt, so that no two workers attempt it', async () => {
  const late = await claimOne()
  const inTime = await claimOne()
  const { attempts, begin, emitted } = createAttempts()
  const marginMilliseconds = (leaseSeconds - webhookConfig.timeoutSeconds) * 1_000
  begin(late, { claimedAgo: marginMilliseconds + 1 })
  begin(inTime, { claimedAgo: marginMilliseconds })
  await expect.poll(() => attempts.held).toBe(0)

  expect(receiver.received.map(({ id }) => id)).toEqual([inTime.eventId])
  expect(emitted.filter((name) => name === 'attempted')).toHaveLength(1)
  expect(await webhooks.deliveries()).toMatchObject([{ id: late.id, attempts: 0 }])
})

test('records no result of a delivery that it has released', async () => {
  const responses: (() => void)[] = []
  receiver.behave((_received, response) => void responses.push(() => response.end()))
  const { attempts, emitted } = await beginOne()
  await expect.poll(() => responses.length).toBe(1)
  await attempts.stop(0)
  expect(attempts.held).toBe(0)
  expect(await webhooks.deliveries()).toMatchObject([{ attempts: 0 }])

  responses[0]?.()
  await expect.poll(() => emitted).toContain('released')
  // It released the delivery itself, so nothing is lost.
  expect(emitted).not.toContain('lost')
  expect(await webhooks.finished()).toEqual([])
})

test('records the results that it already has when it stops, and releases only the others', async () => {
  const [first, second] = [await claimOne(), await claimOne()]
  const { attempts, begin, emitted } = createAttempts()
  const stopped = await database.db.transaction().execute(async (trx) => {
    await trx.selectFrom('webhook_deliveries').where('id', '=', first.id).select('id').forUpdate().execute()
    // The first result waits for the lock, and the second one for the first.
    begin(first)
    await expect.poll(() => emitted.filter((name) => name === 'attempted')).toHaveLength(1)
    begin(second)
    await expect.poll(() => emitted.filter((name) => name === 'attempted')).toHaveLength(2)
    return { promise: attempts.stop(0) }
  })
  await stopped.promise

  expect(await webhooks.deliveries()).toEqual([])
  expect(await webhooks.finished()).toMatchObject([{ outcome: 'delivered' }, { outcome: 'delivered' }])
  expect(emitted).not.toContain('lost')
})

test('starts no attempts after it was stopped, and releases their claims', async () => {
  const { endpointId } = await database.db
    .selectFrom('webhook_endpoints')
    .select('id as endpointId')
    .executeTakeFirstOrThrow()
  await webhooks.fillQueue(endpointId, 99)
  const responses: (() => void)[] = []
  const sender: WebhookSender = {
    ...webhooks.deps.webhooks,
    attempt: () =>
      new Promise((resolve) => {
        responses.push(() => resolve({ outcome: 'delivered', statusCode: 200, durationMilliseconds: 1 }))
      }),
  }
  const { attempts, begin } = createAttempts({ sender })
  for (const delivery of await claimDueDeliveries(database.db, wholeClaim)) begin(delivery)
  const started = responses.length
  expect(started).toBeLessThan(100)

  const stopped = attempts.stop(3_600_000)
  for (const respond of responses) respond()
  await stopped

  expect(responses).toHaveLength(started)
  expect(await webhooks.finished()).toHaveLength(started)
  const released = await webhooks.deliveries()
  expect(released).toHaveLength(100 - started)
  for (const { dueInSeconds } of released) expect(dueInSeconds).toBeLessThanOrEqual(0)
})

test('stops immediately if no delivery is held', async () => {
  const { attempts } = createAttempts()
  await expect(attempts.stop(60_000)).resolves.toBeUndefined()
})

test('attempts no delivery after it was claimed again with a newer lease', async () => {
  const responses: (() => void)[] = []
  receiver.behave((_received, response) => void responses.push(() => response.end()))
  const { attempts, begin, emitted } = await beginOne()
  await expect.poll(() => responses.length).toBe(1)
  await database.db
    .updateTable('webhook_deliveries')
    .set({ due_at: new Date(0) })
    .execute()
  begin(await claimAgain())
  await expect.poll(() => responses.length).toBe(2)
  responses[0]?.()
  await expect.poll(() => emitted).toContain('lost')
  responses[1]?.()
  await expect.poll(() => webhooks.finished()).toHaveLength(1)
  expect(emitted.filter((name) => name === 'lost')).toHaveLength(1)
  await expect.poll(() => attempts.held).toBe(0)
})

test('starts no attempts while a thousand are unrecorded, and continues afterwards', async () => {
  const outages = startOutages(database)
  const { endpointId } = await database.db
    .selectFrom('webhook_endpoints')
    .select('id as endpointId')
    .executeTakeFirstOrThrow()
  await webhooks.fillQueue(endpointId, 1_299)
  const deliveries = await claimDueDeliveries(database.db, { ...wholeClaim, limit: 1_300, defaultWindow: 1_300 })
  expect(deliveries).toHaveLength(1_300)
  // A fake sender: on a busy machine, a real receiver is not always quick enough for so many responses.
  const sender: WebhookSender = {
    ...webhooks.deps.webhooks,
    attempt: () => Promise.resolve({ outcome: 'delivered', statusCode: 200, durationMilliseconds: 1 }),
  }
  const { attempts, begin, emitted } = createAttempts({ db: outages.db, sender })
  outages.begin()
  for (const delivery of deliveries) begin(delivery)

  const attempted = () => emitted.filter((name) => name === 'attempted').length
  await expect.poll(attempted).toBeGreaterThanOrEqual(1_024)
  for (let turn = 0; turn < 20; turn++) await webhooks.finished()
  // The attempts that were in progress when it noticed.
  expect(attempted()).toBeLessThan(1_024 + 64)

  outages.end()
  await expect.poll(() => attempts.held).toBe(0)
  expect(await webhooks.finished()).toHaveLength(1_300)
  expect(emitted).not.toContain('lost')
})

test('records an attempt again after a deadlock, instead of repeating the attempt', async () => {
  const deadlocks = startOutages(database, Object.assign(new Error('deadlock detected'), { code: '40P01' }))
  const { attempts, begin, emitted } = createAttempts({ db: deadlocks.db })
  const delivery = await claimOne()
  deadlocks.begin()
  begin(delivery)
  await expect.poll(deadlocks.failures).toBeGreaterThan(0)
  deadlocks.end()
  await expect.poll(() => attempts.held).toBe(0)

  expect(receiver.received).toHaveLength(1)
  expect(await webhooks.finished()).toMatchObject([{ outcome: 'delivered', attempts: 1 }])
  expect(emitted).not.toContain('databaseLost')
})

test('reports a lost delivery if another worker claimed it before its result', async () => {
  const responses: (() => void)[] = []
  receiver.behave((_received, response) => void responses.push(() => response.end()))
  const { attempts, emitted } = await beginOne()
  await expect.poll(() => responses.length).toBe(1)
  await database.db.updateTable('webhook_deliveries').set({ generation: 2 }).execute()
  responses[0]?.()
  await expect.poll(() => attempts.held).toBe(0)
  expect(emitted).toContain('lost')
  expect(await webhooks.finished()).toEqual([])
})

test('stops as soon as the last running attempt is recorded', async () => {
  const responses: (() => void)[] = []
  receiver.behave((_received, response) => void responses.push(() => response.end()))
  const { attempts, begin } = createAttempts()
  begin(await claimOne())
  begin(await claimOne())
  await expect.poll(() => responses.length).toBe(2)
  const stopped = attempts.stop(3_600_000)
  responses[0]?.()
  await expect.poll(() => attempts.held).toBe(1)
  expect(await webhooks.finished()).toHaveLength(1)
  responses[1]?.()
  await stopped
  expect(await webhooks.finished()).toHaveLength(2)
})

test('logs a failure to release the held deliveries', async () => {
  const outages = startOutages(database)
  receiver.behave(() => {})
  const { attempts, begin, logged } = createAttempts({ db: outages.db })
  begin(await claimOne())
  await expect.poll(() => receiver.received.length).toBe(1)
  outages.begin()
  await attempts.stop(0)
  expect(logged).toEqual(['could not release claimed deliveries; they become due when their lease ends'])
})

import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type AttemptEvents, Attempts, type WorkerObserver } from '../../src/webhooks/queue/attempts.ts'
import { EndpointConcurrency, initialWindows } from '../../src/webhooks/queue/endpoint-concurrency.ts'
import { type Claim, claimDueDeliveries, type ClaimedDelivery } from '../../src/webhooks/queue/store.ts'
import type { WebhookSender } from '../../src/webhooks/sender/webhook-sender.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { startOutages } from '../support/outages.ts'
import { accept, answer, startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'
import { startTestWebhooks, type TestWebhooks, webhookConfig } from '../support/webhooks.ts'

const leaseSeconds = 30
const soon = { timeout: 4_000, interval: 5 }

let database: TestDatabase
let receiver: WebhookReceiver
let webhooks: TestWebhooks
beforeAll(async () => {
  database = await openTestDatabase()
  receiver = await startWebhookReceiver()
  webhooks = await startTestWebhooks(database)
})
beforeEach(() => webhooks.addEndpoint(receiver.url))
afterEach(async () => {
  await webhooks.reset()
  receiver.behave(accept)
  receiver.received.length = 0
})
afterAll(async () => {
  await webhooks.close()
  await receiver.close()
  await database.close()
})

type Heard = keyof AttemptEvents | keyof WorkerObserver

/** The attempts of a worker, and what it hears of them. */
function createAttempts({
  db = database.db,
  sender = webhooks.deps.webhooks,
}: { db?: TestDatabase['db']; sender?: WebhookSender } = {}) {
  const logged: string[] = []
  const write = (line: string) => void logged.push((JSON.parse(line) as { msg: string }).msg)
  const heard: Heard[] = []
  const hear = (name: Heard) => () => void heard.push(name)
  const concurrency = new EndpointConcurrency({ maxSlowHeld: 1_024 })
  const attempts = new Attempts(
    { ...webhooks.deps, db, webhooks: sender, log: pino({ level: 'info' }, { write }) },
    {
      ...webhookConfig,
      leaseSeconds,
      random: () => 0,
      observer: { attempted: hear('attempted'), lost: hear('lost'), disabled: hear('disabled') },
    },
    concurrency,
    {
      slotFreed: hear('slotFreed'),
      released: hear('released'),
      limitedRecorded: hear('limitedRecorded'),
      databaseLost: hear('databaseLost'),
    },
  )
  const begin = (delivery: ClaimedDelivery, terms: { isLimited?: boolean; sentAt?: number } = {}) =>
    attempts.begin(delivery, { windows: initialWindows, isLimited: false, sentAt: performance.now(), ...terms })
  return { attempts, begin, heard, logged }
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

async function claimAgain(): Promise<ClaimedDelivery> {
  const [delivery, ...others] = await claimDueDeliveries(database.db, wholeClaim)
  if (!delivery || others.length > 0) throw new Error('claimed another number of deliveries than one')
  return delivery
}

test('attempts and records a claimed delivery, and asks for more of its endpoint', async () => {
  const delivery = await claimOne()
  const { attempts, begin, heard } = createAttempts()
  const before = Date.now()
  begin(delivery)
  expect(attempts.held).toBe(1)
  await expect.poll(() => attempts.held, soon).toBe(0)

  expect(heard).toEqual(['slotFreed', 'attempted', 'released'])
  expect(await webhooks.finished()).toMatchObject([{ outcome: 'delivered', attempts: 1 }])
  const attempt = await database.db.selectFrom('webhook_attempts').selectAll().executeTakeFirstOrThrow()
  expect(Math.abs(attempt.started_at.getTime() - before)).toBeLessThan(5_000)
})

test('tells when a delivery of an endpoint with limits is recorded instead', async () => {
  const delivery = await claimOne()
  const { attempts, begin, heard } = createAttempts()
  begin(delivery, { isLimited: true })
  await expect.poll(() => attempts.held, soon).toBe(0)
  expect(heard).toEqual(['attempted', 'limitedRecorded', 'released'])
})

test('asks for no more of an endpoint that fails', async () => {
  receiver.behave(answer(500))
  const delivery = await claimOne()
  const { attempts, begin, heard } = createAttempts()
  begin(delivery)
  await expect.poll(() => attempts.held, soon).toBe(0)
  expect(heard).toEqual(['attempted', 'released'])
  expect(await webhooks.deliveries()).toMatchObject([{ attempts: 1 }])
})

test('leaves a delivery whose lease would end before its attempt, so that nobody else attempts it meanwhile', async () => {
  const late = await claimOne()
  const inTime = await claimOne()
  const { attempts, begin, heard } = createAttempts()
  const leaseMilliseconds = leaseSeconds * 1_000
  begin(late, { sentAt: performance.now() - leaseMilliseconds + webhookConfig.timeoutSeconds * 1_000 - 10 })
  begin(inTime, { sentAt: performance.now() - leaseMilliseconds + webhookConfig.timeoutSeconds * 1_000 + 500 })
  await expect.poll(() => attempts.held, soon).toBe(0)

  expect(receiver.received.map(({ id }) => id)).toEqual([inTime.event_id])
  expect(heard.filter((name) => name === 'attempted')).toHaveLength(1)
  expect(await webhooks.deliveries()).toMatchObject([{ id: late.id, attempts: 0 }])
})

test('records nothing of a delivery that it has released', async () => {
  const answers: (() => void)[] = []
  receiver.behave((_received, response) => void answers.push(() => response.end()))
  const delivery = await claimOne()
  const { attempts, begin, heard } = createAttempts()
  begin(delivery)
  await expect.poll(() => answers.length, soon).toBe(1)
  await attempts.stop(0)
  expect(attempts.held).toBe(0)
  expect(await webhooks.deliveries()).toMatchObject([{ attempts: 0 }])

  answers[0]?.()
  await expect.poll(() => heard, soon).toContain('released')
  // It released the delivery itself, so nothing is lost.
  expect(heard).not.toContain('lost')
  expect(await webhooks.finished()).toEqual([])
})

test('stops at once when nothing is held', async () => {
  const { attempts } = createAttempts()
  await expect(attempts.stop(60_000)).resolves.toBeUndefined()
})

test('attempts no delivery after it was claimed again with a newer lease', async () => {
  const answers: (() => void)[] = []
  receiver.behave((_received, response) => void answers.push(() => response.end()))
  const delivery = await claimOne()
  const { attempts, begin, heard } = createAttempts()
  begin(delivery)
  await expect.poll(() => answers.length, soon).toBe(1)
  await database.db
    .updateTable('webhook_deliveries')
    .set({ due_at: new Date(0) })
    .execute()
  begin(await claimAgain())
  await expect.poll(() => answers.length, soon).toBe(2)
  answers[0]?.()
  await expect.poll(() => heard, soon).toContain('lost')
  answers[1]?.()
  await expect.poll(() => webhooks.finished(), soon).toHaveLength(1)
  expect(heard.filter((name) => name === 'lost')).toHaveLength(1)
  await expect.poll(() => attempts.held, soon).toBe(0)
})

test('starts no more attempts while it cannot record a thousand, and goes on once it can', async () => {
  const outages = startOutages(database)
  const { endpointId } = await database.db
    .selectFrom('webhook_endpoints')
    .select('id as endpointId')
    .executeTakeFirstOrThrow()
  await webhooks.fillQueue(endpointId, 1_299)
  const deliveries = await claimDueDeliveries(database.db, { ...wholeClaim, limit: 1_300, defaultWindow: 1_300 })
  expect(deliveries).toHaveLength(1_300)
  // On a busy machine, a real receiver is not always quick, and only quick responses come in such numbers.
  const sender: WebhookSender = {
    ...webhooks.deps.webhooks,
    attempt: () => Promise.resolve({ outcome: 'delivered', statusCode: 200, durationMilliseconds: 1 }),
  }
  const { attempts, begin, heard } = createAttempts({ db: outages.db, sender })
  outages.leave()
  for (const delivery of deliveries) begin(delivery)

  const attempted = () => heard.filter((name) => name === 'attempted').length
  await expect.poll(attempted, soon).toBeGreaterThanOrEqual(1_024)
  for (let turn = 0; turn < 20; turn++) await webhooks.finished()
  // Those that were under way when it noticed.
  expect(attempted()).toBeLessThan(1_024 + 64)

  outages.comeBack()
  await expect.poll(() => attempts.held, { timeout: 10_000 }).toBe(0)
  expect(await webhooks.finished()).toHaveLength(1_300)
  expect(heard).not.toContain('lost')
})

test('hears that a result came after another worker had claimed the delivery', async () => {
  const answers: (() => void)[] = []
  receiver.behave((_received, response) => void answers.push(() => response.end()))
  const delivery = await claimOne()
  const { attempts, begin, heard } = createAttempts()
  begin(delivery)
  await expect.poll(() => answers.length, soon).toBe(1)
  await database.db.updateTable('webhook_deliveries').set({ generation: 2 }).execute()
  answers[0]?.()
  await expect.poll(() => attempts.held, soon).toBe(0)
  expect(heard).toContain('lost')
  expect(await webhooks.finished()).toEqual([])
})

test('stops as soon as the last running attempt is recorded', async () => {
  const answers: (() => void)[] = []
  receiver.behave((_received, response) => void answers.push(() => response.end()))
  const { attempts, begin } = createAttempts()
  begin(await claimOne())
  begin(await claimOne())
  await expect.poll(() => answers.length, soon).toBe(2)
  const stopped = attempts.stop(3_600_000)
  answers[0]?.()
  await expect.poll(() => webhooks.finished(), soon).toHaveLength(1)
  expect(attempts.held).toBe(1)
  answers[1]?.()
  await stopped
  expect(await webhooks.finished()).toHaveLength(2)
})

test('logs that it could not release what it held', async () => {
  const outages = startOutages(database)
  receiver.behave(() => {})
  const { attempts, begin, logged } = createAttempts({ db: outages.db })
  begin(await claimOne())
  await expect.poll(() => receiver.received.length, soon).toBe(1)
  outages.leave()
  await attempts.stop(0)
  expect(logged).toEqual(['could not release claimed deliveries; they become due when their lease ends'])
})

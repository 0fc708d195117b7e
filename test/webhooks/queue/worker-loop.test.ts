import type { Kysely } from 'kysely'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../../src/platform/db/schema.ts'
import type { WorkerObserver } from '../../../src/webhooks/queue/attempts.ts'
import { graceSecondsOf, Worker, type WorkerOptions } from '../../../src/webhooks/queue/worker.ts'
import { openTestDatabase } from '../../support/database.ts'
import { forFile, forTest } from '../../support/lifetime.ts'
import { startOutages } from '../../support/outages.ts'
import { accept, respond, startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts'
import { startTestWebhooks, webhookConfig } from '../../support/webhooks.ts'

/** Long enough that a worker claims only when it is woken. */
const neverPolls = { pollMilliseconds: 3_600_000 }
let receiver: WebhookReceiver
const workers: Worker[] = []
const database = await forFile(openTestDatabase())
const webhooks = await forFile(startTestWebhooks(database))
/** Each test has a receiver of its own: an attempt that is aborted at the end of a test can still arrive in the next one. */
beforeEach(async () => {
  receiver = await forTest(startWebhookReceiver())
})
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop({ graceMilliseconds: 0 })))
  await webhooks.reset()
})

interface Started {
  worker: Worker
  /** Messages in the order in which they were logged. */
  logged: string[]
  lost: () => number
}

function startWorker({ db = database.db, ...options }: WorkerOptions & { db?: Kysely<Database> } = {}): Started {
  const logged: string[] = []
  const write = (line: string) => {
    const { msg, err } = JSON.parse(line) as { msg: string; err?: { message: string } }
    logged.push(err ? `${msg}: ${err.message}` : msg)
  }
  let lost = 0
  const observer: WorkerObserver = { attempted: () => {}, lost: () => void lost++, disabled: () => {} }
  const deps = { ...webhooks.deps, db, log: pino({ level: 'info' }, { write }) }
  const worker = new Worker(deps, webhookConfig, { pollMilliseconds: 20, random: () => 0, observer, ...options })
  workers.push(worker)
  worker.start()
  return { worker, logged, lost: () => lost }
}

/** Delivers one event, after which the worker sleeps. */
async function deliverOne(): Promise<void> {
  const before = (await webhooks.finished()).length
  await webhooks.emit(1)
  await expect.poll(async () => (await webhooks.finished()).length).toBe(before + 1)
}

const lostMessage = 'could not read deliveries from the database; trying again: connect ECONNREFUSED'

/** Long enough for a worker to fall asleep. */
async function waitUntilAsleep(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await webhooks.deliveries()
}

test('claims due deliveries when it starts', async () => {
  await webhooks.addEndpoint(receiver.url)
  await webhooks.emit(3)
  workers.push(webhooks.startWorker(neverPolls))
  await expect.poll(() => webhooks.finished()).toHaveLength(3)
})

test('wakes up on an announcement', async () => {
  await webhooks.addEndpoint(receiver.url)
  startWorker(neverPolls)
  await deliverOne()
  await deliverOne()
  expect(receiver.received).toHaveLength(2)
})

test('finds unannounced deliveries by polling', async () => {
  const { endpointId } = await webhooks.addEndpoint(receiver.url)
  startWorker({ pollMilliseconds: 30 })
  await deliverOne()
  await database.db
    .insertInto('webhook_deliveries')
    .columns(['account_id', 'id', 'endpoint_id', 'event_id', 'due_at', 'created_at'])
    .expression((of) =>
      of
        .selectFrom('events')
        .select(({ val, fn }) => [
          'account_id',
          val('dlv_again').as('id'),
          val(endpointId).as('endpoint_id'),
          'id as event_id',
          fn<Date>('now').as('due_at'),
          fn<Date>('now').as('created_at'),
        ]),
    )
    .execute()
  await expect.poll(() => receiver.received.length).toBe(2)
})

test('claims more deliveries of an endpoint as its attempts end, without an announcement', async () => {
  const { endpointId } = await webhooks.addEndpoint(receiver.url)
  await webhooks.fillQueue(endpointId, 300)
  startWorker(neverPolls)
  await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(301)
})

test('wakes up when an endpoint has capacity again', async () => {
  const { endpointId } = await webhooks.addEndpoint(receiver.url)
  const responses: (() => void)[] = []
  receiver.behave((_received, response) => void responses.push(() => response.end()))
  await webhooks.fillQueue(endpointId, 12)
  // On a busy machine, the endpoint becomes a slow one, which gets its deliveries at intervals.
  startWorker(neverPolls)
  for (let answered = 0; answered < 13;) {
    await expect.poll(() => responses.length).toBeGreaterThan(answered)
    await waitUntilAsleep()
    const now = responses.slice(answered)
    for (const release of now) release()
    answered += now.length
  }
  await expect.poll(() => webhooks.deliveries()).toEqual([])
})

test('claims more deliveries of a slow endpoint as its attempts end, without polling', async () => {
  const { endpointId } = await webhooks.addEndpoint(receiver.url)
  // Longer than the response time from which an endpoint is slow.
  receiver.behave((_received, response) => void setTimeout(() => response.end(), 600))
  await webhooks.fillQueue(endpointId, 12)
  startWorker(neverPolls)
  await expect.poll(() => webhooks.deliveries()).toEqual([])
})

test('delivers one at a time if the limit of the endpoint is one', async () => {
  await webhooks.addEndpoint(receiver.url, { maxConcurrent: 1 })
  await webhooks.emit(5)
  const { logged } = startWorker(neverPolls)
  await expect.poll(() => webhooks.finished()).toHaveLength(5)
  expect(logged).toEqual([])
})

test('claims what became due while an endpoint had no free slot', async () => {
  const endpoint = await webhooks.addEndpoint(receiver.url)
  const responses: (() => void)[] = []
  receiver.behave((received, response, request) => {
    responses.push(() => accept(received, response, request))
  })
  const { worker } = startWorker({ ...neverPolls, maxHeld: 8 })
  await webhooks.emit(1)
  await expect.poll(() => responses.length).toBe(1)
  // While its health is unknown, this takes up what the endpoint may hold.
  await webhooks.fillQueue(endpoint.endpointId, 20)
  worker.wake()
  await waitUntilAsleep()
  receiver.behave(accept)
  for (const release of responses) release()
  await expect.poll(() => webhooks.deliveries()).toEqual([])
})

test('claims for others when an endpoint that held all slots fails', async () => {
  const busy = await webhooks.addEndpoint(`${receiver.url}/busy`)
  // On a busy machine, the endpoint may count as slow.
  const { worker } = startWorker({ ...neverPolls, maxHeld: 8, maxSlowHeld: 8 })
  // Each success increases its concurrency by one.
  await webhooks.fillQueue(busy.endpointId, 20)
  await expect.poll(() => webhooks.deliveries()).toEqual([])
  const responses: (() => void)[] = []
  receiver.behave((received, response, request) => {
    responses.push(() => respond(500)(received, response, request))
  }, '/busy')
  await webhooks.fillQueue(busy.endpointId, 20)
  worker.wake()
  await expect.poll(() => worker.held).toBe(8)
  await webhooks.addEndpoint(`${receiver.url}/other`, { events: ['message.read'] })
  await database.db
    .updateTable('webhook_endpoints')
    .set({ events: ['message.delivered'] })
    .execute()
  await database.db.updateTable('webhook_endpoints').set({ events: [] }).where('id', '=', busy.endpointId).execute()
  await webhooks.emit(1)
  await expect.poll(() => responses.length).toBe(8)
  for (const release of responses) release()
  await expect.poll(() => receiver.at('/other').length).toBe(1)
})

test('starts once, and claims nothing after it has stopped', async () => {
  await webhooks.addEndpoint(receiver.url)
  const { worker } = startWorker(neverPolls)
  worker.start()
  await deliverOne()
  await worker.stop()
  await webhooks.emit(1)
  worker.wake()
  startWorker({ pollMilliseconds: 10 })
  await expect.poll(() => webhooks.finished()).toHaveLength(2)
  expect(await webhooks.deliveries()).toEqual([])
  expect(receiver.received).toHaveLength(2)
})

test('stops even if it never started', async () => {
  const worker = new Worker(webhooks.deps, webhookConfig)
  await worker.stop()
  expect(worker.held).toBe(0)
})

test('stops without waiting for its next poll', async () => {
  await webhooks.addEndpoint(receiver.url)
  const { worker } = startWorker(neverPolls)
  await deliverOne()
  await worker.stop()
  expect(worker.held).toBe(0)
})

test('waits for running attempts up to the attempt timeout when it stops', async () => {
  await webhooks.addEndpoint(receiver.url)
  const responses: (() => void)[] = []
  receiver.behave((_received, response) => void responses.push(() => response.end()))
  const { worker } = startWorker()
  await webhooks.emit(1)
  await expect.poll(() => responses.length).toBe(1)
  const stopped = worker.stop()
  await waitUntilAsleep()
  responses[0]?.()
  await stopped
  expect(await webhooks.finished()).toHaveLength(1)
})

test('reports an outage of the database once, and its end', async () => {
  const outages = startOutages(database)
  await webhooks.addEndpoint(receiver.url)
  const { logged } = startWorker({ db: outages.db, pollMilliseconds: 5 })
  await deliverOne()
  expect(logged).toEqual([])

  outages.begin()
  await expect.poll(() => outages.failures()).toBeGreaterThan(10)
  await webhooks.emit(1)
  outages.end()
  await expect.poll(() => webhooks.finished()).toHaveLength(2)
  await expect.poll(() => logged).toEqual([lostMessage, 'the database is available again'])

  outages.begin()
  await expect.poll(() => logged.length).toBe(3)
  outages.end()
  await expect.poll(() => logged.length).toBe(4)
})

test('records deliveries made during an outage once the database is back', async () => {
  const outages = startOutages(database)
  await webhooks.addEndpoint(receiver.url)
  receiver.behave((received, response, request) => {
    outages.begin()
    accept(received, response, request)
  })
  const { worker, logged, lost } = startWorker({ db: outages.db, ...neverPolls })
  await webhooks.emit(1)
  await expect.poll(() => outages.failures()).toBeGreaterThan(0)
  // Its last look for deliveries may have begun before the outage.
  worker.wake()
  // One that ends in the outage is logged as its end.
  await expect.poll(() => logged).toContain(lostMessage)
  outages.end()
  await expect.poll(() => webhooks.finished()).toMatchObject([{ outcome: 'delivered', attempts: 1 }])
  expect(receiver.received).toHaveLength(1)
  expect(lost()).toBe(0)
})

test('discards an attempt that it could not record before its lease expired', async () => {
  const outages = startOutages(database)
  await webhooks.addEndpoint(receiver.url)
  receiver.behave((received, response, request) => {
    outages.begin()
    accept(received, response, request)
  })
  let time = 0
  const { worker, lost } = startWorker({ db: outages.db, ...neverPolls, monotonic: () => time })
  await webhooks.emit(1)
  await expect.poll(() => outages.failures()).toBeGreaterThan(0)
  time = 3_600_000
  await expect.poll(lost).toBe(1)
  await expect.poll(() => worker.held).toBe(0)
  expect(await webhooks.finished()).toEqual([])
})

test.each([
  { timeoutSeconds: 15, waits: 15 },
  { timeoutSeconds: 25, waits: 25 },
  // The supervisor kills a process that takes 35 seconds to stop.
  { timeoutSeconds: 120, waits: 25 },
])('a stopping worker waits $waits s for attempts with a timeout of $timeoutSeconds s', ({ timeoutSeconds, waits }) => {
  expect(graceSecondsOf(timeoutSeconds)).toBe(waits)
})

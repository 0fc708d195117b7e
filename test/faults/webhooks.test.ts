import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import { migrate } from '../../src/platform/db/migrate/migrate.ts'
import { type RunningPostgres, startPostgres } from '../support/postgres.ts'
import { type ServeProcess, startServe } from '../support/process.ts'
import { makeClockSettable, shiftClock } from '../support/settable-clock.ts'
import {
  accept,
  respond,
  type Behaviour,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/webhook-receiver.ts'
import { startTestWebhooks, type TestWebhooks } from '../support/webhooks.ts'
import { openApp } from './customer.ts'

const timeoutSeconds = 2
/** Longer than a test holds a request. */
const patient = { WEBHOOK_TIMEOUT_SECONDS: '20' }
/** Between them, for tests that wait for the lease, which ends ten seconds later. */
const lessPatient = { WEBHOOK_TIMEOUT_SECONDS: '8' }
/** The number of concurrent requests to an endpoint before its first response. */
const firstWindow = 4

/** The workers share the folder of their journals. */
const dataDir = mkdtempSync(path.join(tmpdir(), 'waybill-faults-'))

let postgres: RunningPostgres
let environment: Record<string, string>
let app: App
let receiver: WebhookReceiver
let webhooks: TestWebhooks
const nodes: ServeProcess[] = []
beforeAll(async () => {
  postgres = await startPostgres()
  environment = {
    DATABASE_URL: postgres.url,
    WAYBILL_DATA_DIR: dataDir,
    WAYBILL_SECRET_KEY: randomBytes(32).toString('base64'),
    WEBHOOK_ALLOW_PRIVATE: 'true',
    WEBHOOK_TIMEOUT_SECONDS: String(timeoutSeconds),
    WEBHOOK_RETRY_SCHEDULE: '2s,2s,2s,2s,2s',
  }
  app = openApp(environment)
  await migrate(app.deps.db)
  const { db, secrets, notifications } = app.deps
  webhooks = await startTestWebhooks({ db }, { secrets, notifications })
})
/** Each test has a receiver of its own: an attempt that is aborted at the end of a test can still arrive in the next one. */
beforeEach(async () => {
  receiver = await startWebhookReceiver()
})
afterEach(async () => {
  for (const node of nodes.splice(0)) {
    node.kill('SIGCONT')
    node.kill('SIGKILL')
    await node.exited
  }
  await webhooks.reset()
  await receiver.close()
})
afterAll(async () => {
  await webhooks.close()
  await app.close()
  await postgres.stop()
  rmSync(dataDir, { recursive: true })
})

async function startWorkerProcess(extra: Record<string, string> = {}): Promise<ServeProcess> {
  const node = await startServe({ ...environment, ...extra }, ['--role', 'worker'])
  nodes.push(node)
  return node
}

function idsOf(deliveries: { id: string }[]): string[] {
  return [...new Set(deliveries.map(({ id }) => id))].toSorted()
}

/** Holds every request until released, then accepts it. */
function holdRequests(): { behaviour: Behaviour; release: () => void } {
  const held: (() => void)[] = []
  let released = false
  return {
    behaviour: (_received, response) => void (released ? response.end() : held.push(() => response.end())),
    release: () => {
      released = true
      for (const end of held.splice(0)) end()
    },
  }
}

/** Deliveries whose attempt has started and not ended. */
async function heldDeliveries(): Promise<{ id: string; generation: number }[]> {
  return app.deps.db
    .selectFrom('webhook_deliveries')
    .select(['id', 'generation'])
    .whereRef('generation', '>', 'attempts')
    .execute()
}

/** How many deliveries have arrived, however often. */
function countArrived(): number {
  return idsOf(receiver.received).length
}

async function finishedCount(): Promise<number> {
  return (await webhooks.finished()).length
}

async function countWaiting(): Promise<number> {
  const query = app.deps.db.selectFrom('webhook_deliveries').select(({ fn }) => fn.countAll<string>().as('count'))
  return Number((await query.executeTakeFirstOrThrow()).count)
}

test('redelivers the events of a killed worker when their lease ends, with the same IDs', async () => {
  await webhooks.addEndpoint(receiver.url)
  const { behaviour, release } = holdRequests()
  receiver.behave(behaviour)
  const victim = await startWorkerProcess(lessPatient)
  const eventIds = await webhooks.emit(40)
  await expect.poll(countArrived, { interval: 5 }).toBe(firstWindow)

  victim.kill('SIGKILL')
  await victim.exited
  const heldByVictim = idsOf(receiver.received)
  release()
  await startWorkerProcess(lessPatient)

  await expect.poll(finishedCount).toBe(40)
  expect(idsOf(receiver.received)).toEqual(eventIds.toSorted())
  for (const id of heldByVictim) expect(receiver.received.filter((received) => received.id === id)).toHaveLength(2)
})

/** The acknowledged attempts that the delivery journals of killed workers list. */
async function journaledAttempts(): Promise<string[]> {
  const folder = path.join(dataDir, 'journal')
  const names = (await readdir(folder)).filter((name) => name.endsWith('.deliveries'))
  const texts = await Promise.all(names.map((name) => readFile(path.join(folder, name), 'latin1')))
  return texts.flatMap((text) => text.split('\n').filter((line) => line.startsWith('A ')))
}

test('records what a killed worker could not record, instead of sending it again', async () => {
  await webhooks.addEndpoint(receiver.url)
  const { behaviour, release } = holdRequests()
  receiver.behave(behaviour)
  const victim = await startWorkerProcess(patient)
  await webhooks.emit(firstWindow)
  await expect.poll(countArrived, { interval: 5 }).toBe(firstWindow)
  const blocker = await app.deps.db.startTransaction().execute()
  await sql`lock table webhook_attempts in exclusive mode`.execute(blocker)
  release()
  await expect.poll(async () => (await journaledAttempts()).length, { interval: 5 }).toBe(firstWindow)
  victim.kill('SIGKILL')
  await victim.exited
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where wait_event_type = 'Lock' and query like '%webhook_attempts%'`.execute(app.deps.db)
  await blocker.rollback().execute()

  await startWorkerProcess()

  await expect.poll(finishedCount).toBe(firstWindow)
  expect(receiver.received).toHaveLength(firstWindow)
  await expect.poll(journaledAttempts).toEqual([])
})

test('redelivers what a killed worker held, before 50,000 waiting deliveries', async () => {
  const { endpointId } = await webhooks.addEndpoint(receiver.url)
  // Slower than the backlog could be delivered in the time of the test.
  receiver.behave((_received, response) => void setTimeout(() => response.writeHead(500).end(), 200))
  await webhooks.fillQueue(endpointId, 50_000)
  const victim = await startWorkerProcess()
  await expect.poll(() => receiver.received.length, { interval: 5 }).toBeGreaterThanOrEqual(firstWindow)
  victim.kill('SIGKILL')
  await victim.exited
  const held = await heldDeliveries()
  expect(held.length).toBeGreaterThan(0)

  await startWorkerProcess()
  const leftOf = async () => {
    const generations = new Map((await heldDeliveries()).map(({ id, generation }) => [id, generation]))
    return held.filter(({ id, generation }) => generations.get(id) === generation)
  }
  await expect.poll(leftOf).toEqual([])
})

test('repeats few acknowledged deliveries when a worker is killed at full speed', async () => {
  const count = 20_000
  const { endpointId } = await webhooks.addEndpoint(receiver.url)
  await webhooks.fillQueue(endpointId, count)
  const victim = await startWorkerProcess()
  await expect.poll(() => receiver.received.length, { interval: 1 }).toBeGreaterThan(count / 2)
  victim.kill('SIGKILL')
  await victim.exited
  const acknowledged = receiver.received.length

  await startWorkerProcess()
  await expect.poll(countWaiting, { interval: 100 }).toBe(0)
  const repeated = receiver.received.length - count
  console.log(`${repeated} of ${acknowledged} acknowledged deliveries were repeated.`)
  // A worker pauses while this many are not recorded, and each of its requests may still end.
  expect(repeated).toBeLessThan(2 * 1_024)
})

test('finishes attempts in progress on SIGTERM and releases the rest immediately', async () => {
  await webhooks.addEndpoint(receiver.url)
  const { behaviour, release } = holdRequests()
  receiver.behave(behaviour)
  const leaver = await startWorkerProcess(patient)
  const eventIds = await webhooks.emit(200)
  await expect.poll(countArrived, { interval: 5 }).toBe(firstWindow)

  leaver.kill('SIGTERM')
  await expect.poll(async () => (await leaver.get('/readyz')).statusCode, { interval: 5 }).toBe(503)
  release()
  expect(await leaver.exited).toEqual({ code: 0, signal: null })

  await startWorkerProcess()
  await expect.poll(finishedCount).toBe(200)
  expect(receiver.received.map(({ id }) => id).toSorted()).toEqual(eventIds.toSorted())
})

test('exits on SIGTERM and releases its claims if receivers never respond', async () => {
  await webhooks.addEndpoint(receiver.url)
  receiver.behave(holdRequests().behaviour)
  const leaver = await startWorkerProcess()
  await webhooks.emit(3)
  await expect.poll(countArrived, { interval: 5 }).toBe(3)
  leaver.kill('SIGTERM')
  expect(await leaver.exited).toEqual({ code: 0, signal: null })
  for (const { dueInSeconds } of await webhooks.deliveries()) expect(dueInSeconds).toBeLessThan(10)
})

test('ignores the results of a worker that was paused past its lease', async () => {
  await webhooks.addEndpoint(receiver.url)
  const { behaviour, release } = holdRequests()
  receiver.behave(behaviour)
  const sleeper = await startWorkerProcess(lessPatient)
  const eventIds = await webhooks.emit(firstWindow)
  await expect.poll(countArrived, { interval: 5 }).toBe(firstWindow)

  sleeper.kill('SIGSTOP')
  release()
  await startWorkerProcess(lessPatient)
  await expect.poll(finishedCount).toBe(firstWindow)
  const before = await webhooks.finished()
  sleeper.kill('SIGCONT')

  // A new delivery shows that the worker runs again.
  const later = await webhooks.emit(20)
  await expect.poll(finishedCount).toBe(firstWindow + 20)
  await expect.poll(async () => (await sleeper.get('/healthz')).statusCode).toBe(200)
  expect((await webhooks.finished()).filter(({ event_id: id }) => eventIds.includes(id))).toEqual(before)
  for (const id of eventIds) expect(await webhooks.attempts(id)).toHaveLength(1)
  expect(idsOf(receiver.received)).toEqual([...eventIds, ...later].toSorted())
})

test('recovers from a PostgreSQL restart under load without losing deliveries', async () => {
  await webhooks.addEndpoint(receiver.url)
  receiver.behave((received, response) => void setTimeout(() => accept(received, response, response.req), 20))
  const node = await startWorkerProcess()
  const eventIds: string[] = []
  for (let round = 0; round < 3; round++) {
    eventIds.push(...(await webhooks.emit(300)))
    await expect.poll(() => receiver.received.length, { interval: 1 }).toBeGreaterThan(round * 300 + 50)
    await postgres.pause()
    expect((await node.get('/healthz')).statusCode).toBe(200)
    await postgres.resume()
    await expect.poll(() => finishedCount().catch(() => 0)).toBe((round + 1) * 300)
  }
  expect(idsOf(receiver.received)).toEqual(eventIds.toSorted())
  expect(await webhooks.deliveries()).toEqual([])
})

test('recovers quickly from closed connections, including the listener', async () => {
  await webhooks.addEndpoint(receiver.url)
  await startWorkerProcess()
  const listening = async () => {
    const { rows } = await sql<{ pid: number }>`
      select pid from pg_stat_activity where application_name = 'waybill listen'`.execute(app.deps.db)
    return rows.map(({ pid }) => pid)
  }
  await expect.poll(listening).toHaveLength(1)
  const [before] = await listening()
  const eventIds = await webhooks.emit(100)
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name like 'waybill%' and pid <> pg_backend_pid()`.execute(app.deps.db)
  eventIds.push(...(await webhooks.emit(100)))
  await expect.poll(() => finishedCount().catch(() => 0)).toBe(200)
  expect(idsOf(receiver.received)).toEqual(eventIds.toSorted())

  await expect.poll(listening).toHaveLength(1)
  expect(await listening()).not.toContain(before)
})

test.each([10, -10])('delivers on schedule on a node whose clock is %i minutes off', async (minutes) => {
  const { secret } = await webhooks.addEndpoint(receiver.url)
  await startWorkerProcess({
    NODE_OPTIONS: `--import=${path.join(import.meta.dirname, 'shifted-clock.ts')}`,
    SHIFT_CLOCK_MILLISECONDS: String(minutes * 60_000),
  })
  const failed = new Set<string>()
  receiver.behave((received, response) => {
    const isFirst = !failed.has(received.id)
    failed.add(received.id)
    respond(isFirst ? 500 : 200)(received, response, response.req)
  })
  const [first = ''] = await webhooks.emit(10)
  await expect.poll(finishedCount).toBe(10)

  for (const id of idsOf(receiver.received)) {
    const [attempt, retry] = receiver.received.filter((received) => received.id === id)
    const waited = (retry?.at ?? 0) - (attempt?.at ?? 0)
    expect(waited).toBeGreaterThanOrEqual(2_000)
    // The verifier rejects timestamps that are more than five minutes off.
    expect(() => new Webhook(secret).verify(retry?.body ?? '', retry?.headers as Record<string, string>)).not.toThrow()
  }
  const { rows } = await sql<{ off: number }>`
    select abs(extract(epoch from now() - started_at))::float8 as off from webhook_attempts where event_id = ${first}`.execute(
    app.deps.db,
  )
  for (const { off } of rows) expect(off).toBeLessThan(60)
})

test('delivers without delay when the database clock is set back by an hour, and logs it once', async () => {
  await makeClockSettable(app.deps.db)
  await webhooks.addEndpoint(receiver.url)
  const workers = [await startWorkerProcess(), await startWorkerProcess()]
  const failed = new Set<string>()
  receiver.behave((received, response) => {
    const isFirst = !failed.has(received.id)
    failed.add(received.id)
    respond(isFirst ? 500 : 200)(received, response, response.req)
  })
  const eventIds = await webhooks.emit(20)
  await expect.poll(() => failed.size).toBeGreaterThan(0)

  await shiftClock(app.deps.db, -3600)

  await expect.poll(finishedCount).toBe(20)
  expect(idsOf(receiver.received)).toEqual(eventIds.toSorted())
  const listWarnings = () => workers.flatMap(({ output }) => output.filter((line) => line.includes('set back')))
  await expect.poll(listWarnings).toHaveLength(1)
})

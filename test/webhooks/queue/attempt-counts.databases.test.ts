import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { createWebhookSender } from '../../../src/webhooks/sender/sender.ts'
import { listEndpoints } from '../../../src/webhooks/endpoints/endpoint.ts'
import { deleteOldAttemptCounts } from '../../../src/webhooks/queue/retention-store.ts'
import { recordAttempts } from '../../../src/webhooks/queue/store.ts'
import { getStatistics, listActivity } from '../../../src/webhooks/statistics/statistics.ts'
import { openTestDatabase } from '../../support/database.ts'
import { forFile } from '../../support/lifetime.ts'
import { accept, respond, startWebhookReceiver } from '../../support/webhook-receiver.ts'
import { startTestWebhooks } from '../../support/webhooks.ts'

const database = await forFile(openTestDatabase())
const receiver = await forFile(startWebhookReceiver())
// Longer than a busy machine takes to respond.
const webhooks = await forFile(
  startTestWebhooks(database, { webhooks: createWebhookSender({ timeoutSeconds: 10, allowPrivate: true }) }),
)
afterEach(async () => {
  await webhooks.reset()
  await database.db.deleteFrom('webhook_attempt_counts').execute()
})

/** The sender's error for a connection that closes without a response. */
const lost = 'the connection was lost'

function statistics(endpointId: string, range: '24h' | '7d' = '24h') {
  return getStatistics(webhooks.deps, { accountId: webhooks.accountId, endpointId }, range)
}

async function findOnly() {
  const [endpoint] = await listEndpoints(webhooks.deps, webhooks.accountId)
  return endpoint
}

interface Counts {
  endpointId: string
  hoursAgo: number
  error?: string
  attempts: number
  durationMilliseconds: number
}

/** One time for all counts, because the next half hour may begin meanwhile. */
const beganAt = Date.now()

/** Inserts the counts of earlier attempts. */
async function insertCounts({ endpointId, hoursAgo, error = '', attempts, durationMilliseconds }: Counts) {
  const halfHour = 1_800_000
  const at = new Date(Math.floor(beganAt / halfHour) * halfHour - hoursAgo * 3_600_000)
  await database.db
    .insertInto('webhook_attempt_counts')
    .values({
      account_id: webhooks.accountId,
      endpoint_id: endpointId,
      slot: at,
      status_code: 0,
      error,
      attempts,
      duration_ms: String(attempts * durationMilliseconds),
      max_duration_ms: durationMilliseconds,
      first_at: at,
      last_at: at,
    })
    .execute()
}

test('counts the attempts of a worker by response and reports how the endpoint fails until it succeeds', async () => {
  const { endpointId } = await webhooks.addEndpoint(`${receiver.url}/changing`)
  receiver.behave(respond(500), '/changing')
  webhooks.startWorker()
  await webhooks.emit(2)

  await expect.poll(async () => (await statistics(endpointId)).totals).toMatchObject({ attempts: 6 })
  expect(await statistics(endpointId)).toMatchObject({
    slotSeconds: 1800,
    totals: { attempts: 6, succeeded: 0 },
    failures: [{ error: 'HTTP 500', attempts: 6 }],
    hasMoreFailures: false,
  })
  expect(await findOnly()).toMatchObject({
    failure: { since: (await findOnly())?.failingSince, statusCode: 500, error: 'HTTP 500', isMixed: false },
  })

  receiver.behave((_received, response) => void response.destroy(), '/changing')
  await webhooks.emit(1)
  await expect.poll(async () => (await findOnly())?.failure).toMatchObject({ error: lost, isMixed: true })
  expect((await findOnly())?.failure).not.toHaveProperty('statusCode')

  receiver.behave(accept, '/changing')
  await webhooks.emit(1)
  await expect.poll(async () => (await statistics(endpointId)).totals.succeeded).toBeGreaterThan(0)
  const { failures, totals, slots } = await statistics(endpointId, '7d')
  expect(failures.map(({ error }) => error)).toEqual([lost, 'HTTP 500'])
  expect(slots.reduce((sum, slot) => sum + slot.attempts, 0)).toBe(totals.attempts)
  // An earlier attempt may still end.
  const failsAfterAnother = async () => {
    await webhooks.emit(1)
    return (await findOnly())?.failure
  }
  await expect.poll(failsAfterAnother).toBeUndefined()
})

test('sums slots of the last day and the last week and ignores older ones', async () => {
  const { endpointId } = await webhooks.addEndpoint(receiver.url)
  await insertCounts({ endpointId, hoursAgo: 1, attempts: 3, durationMilliseconds: 100 })
  await insertCounts({ endpointId, hoursAgo: 1, error: 'timed out', attempts: 1, durationMilliseconds: 15_000 })
  await insertCounts({ endpointId, hoursAgo: 50, error: 'HTTP 500', attempts: 4, durationMilliseconds: 20 })
  await insertCounts({ endpointId, hoursAgo: 24 * 7.5, error: 'HTTP 502', attempts: 9, durationMilliseconds: 20 })

  const day = await statistics(endpointId)
  const week = await statistics(endpointId, '7d')
  const { items } = await listActivity(webhooks.deps, webhooks.accountId)

  const ofDay = { attempts: 4, succeeded: 3, averageMilliseconds: 3825, slowestMilliseconds: 15_000 }
  expect(day).toMatchObject({ totals: ofDay, slots: [ofDay], failures: [{ error: 'timed out', attempts: 1 }] })
  expect(Date.parse(day.slots[0]?.startAt ?? '') % 1_800_000).toBe(0)
  expect(week.totals).toMatchObject({ attempts: 8, succeeded: 3 })
  expect(week.failures.map(({ error }) => error)).toEqual(['timed out', 'HTTP 500'])
  expect(items).toMatchObject([{ endpointId, ...ofDay, slots: [ofDay] }])
})

test('lists only the latest kinds of failures', async () => {
  const { endpointId } = await webhooks.addEndpoint(receiver.url)
  for (let kind = 0; kind < 21; kind += 1)
    await insertCounts({
      endpointId,
      hoursAgo: 1 + kind / 100,
      error: `HTTP ${500 + kind}`,
      attempts: 1,
      durationMilliseconds: 1,
    })

  const { failures, hasMoreFailures } = await statistics(endpointId)

  expect(failures.map(({ error }) => error)).toEqual(Array.from({ length: 20 }, (_, kind) => `HTTP ${500 + kind}`))
  expect(hasMoreFailures).toBe(true)
})

test('counts every attempt of concurrent batches, once', async () => {
  const endpoints = await Promise.all([1, 2, 3].map((n) => webhooks.addEndpoint(`${receiver.url}/${n}`)))
  for (const { endpointId } of endpoints) await webhooks.fillQueue(endpointId, 40)
  const { rows } = await sql<{ accountId: string; id: string; generation: number }>`
    update webhook_deliveries set due_at = now() + interval '1 minute', claimed = true, generation = 1
    returning account_id as "accountId", id, generation`.execute(database.db)
  const batches = Array.from({ length: 12 }, (_, batch) => rows.filter((_, index) => index % 12 === batch))

  await Promise.all(
    batches.map((batch) =>
      recordAttempts(
        database.db,
        batch.map((delivery, index) => ({
          delivery,
          startedAt: new Date(),
          waitSeconds: 3600,
          result:
            index % 2 === 0
              ? { outcome: 'failed', error: 'timed out', durationMilliseconds: 10 }
              : { outcome: 'failed', error: 'HTTP 503', statusCode: 503, durationMilliseconds: 30 },
        })),
      ),
    ),
  )
  // The claims are lost, so these are not counted.
  await recordAttempts(
    database.db,
    rows.map((delivery) => ({
      delivery: { ...delivery, generation: 9 },
      startedAt: new Date(),
      waitSeconds: 3600,
      result: { outcome: 'failed', error: 'timed out', durationMilliseconds: 10 },
    })),
  )

  const { items } = await listActivity(webhooks.deps, webhooks.accountId)
  const waiting = new Map(items.map(({ endpointId, attempts }) => [endpointId, attempts]))
  for (const { endpointId } of endpoints) {
    const deliveries = await webhooks.deliveries(endpointId)
    expect(waiting.get(endpointId)).toBe(deliveries.length)
  }
})

test('deletes counts that are no longer shown', async () => {
  const { endpointId } = await webhooks.addEndpoint(receiver.url)
  await insertCounts({ endpointId, hoursAgo: 24 * 7, attempts: 1, durationMilliseconds: 1 })
  await insertCounts({ endpointId, hoursAgo: 24 * 9, attempts: 1, durationMilliseconds: 1 })
  const count = async () => (await database.db.selectFrom('webhook_attempt_counts').select('slot').execute()).length

  await deleteOldAttemptCounts(database.db, new Date(0))
  expect(await count()).toBe(2)
  await deleteOldAttemptCounts(database.db, new Date())
  expect(await count()).toBe(1)
})

test('finds no statistics of an endpoint of another account', async () => {
  const { endpointId } = await webhooks.addEndpoint(receiver.url)

  await expect(getStatistics(webhooks.deps, { accountId: 'acc_other', endpointId }, '24h')).rejects.toThrow(
    'was not found',
  )
})

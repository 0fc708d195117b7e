import type { ServerResponse } from 'node:http'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { updateEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { openTestDatabase } from '../../support/database.ts'
import { forFile, forTest } from '../../support/lifetime.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts'
import { startTestWebhooks } from '../../support/webhooks.ts'

const database = await forFile(openTestDatabase())
const webhooks = await forFile(startTestWebhooks(database))
let receiver: WebhookReceiver
/** Each test has a receiver of its own: an attempt that is aborted at the end of a test can still arrive in the next one. */
beforeEach(async () => {
  receiver = await forTest(startWebhookReceiver())
})
afterEach(() => webhooks.reset())

test('sends no more concurrent requests than the endpoint allows, for any number of workers', async () => {
  const { endpointId } = await webhooks.addEndpoint(`${receiver.url}/limited`, { maxConcurrent: 3 })
  const running: ServerResponse[] = []
  let most = 0
  receiver.behave((_received, response) => {
    most = Math.max(most, running.push(response))
    // The first responses wait for the third request.
    if (most >= 3) setTimeout(() => running.splice(0).forEach((each) => each.end()), 20)
  })
  await webhooks.emit(60)
  webhooks.startWorker()
  webhooks.startWorker()

  await expect.poll(() => webhooks.finished()).toHaveLength(60)
  expect(most).toBe(3)
  expect(await webhooks.deliveries(endpointId)).toEqual([])
})

test('starts no more deliveries a second than the endpoint allows, for any number of workers', async () => {
  await webhooks.addEndpoint(`${receiver.url}/limited`, { maxPerSecond: 20 })
  await webhooks.addEndpoint(`${receiver.url}/other`)
  await webhooks.emit(25)
  const startedAt = performance.now()
  webhooks.startWorker()
  webhooks.startWorker()

  // A busy machine may respond too late and then receive a delivery twice.
  const countDistinct = (path: string) => new Set(receiver.at(path).map(({ id }) => id)).size
  await expect.poll(() => countDistinct('/other')).toBe(25)
  await expect.poll(() => countDistinct('/limited')).toBe(25)
  // A busy machine delivers later and in bunches, but never more than 20 for each second since the start.
  const early = receiver.at('/limited').filter(({ at }, index) => at - startedAt < (index - 5) * 50)
  expect(early).toEqual([])
})

test('applies a changed limit to waiting deliveries, and no limit after its removal', async () => {
  const { endpointId } = await webhooks.addEndpoint(`${receiver.url}/limited`, { maxPerSecond: 1 })
  await webhooks.emit(200)
  webhooks.startWorker()
  await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(2)
  // Without its limit, the endpoint would have received all of them at once.
  expect((await webhooks.deliveries(endpointId)).length).toBeGreaterThan(100)

  const update = (change: Parameters<typeof updateEndpoint>[3]) =>
    updateEndpoint(webhooks.deps, webhooks.accountId, endpointId, change)
  expect(await update({ maxPerSecond: null, maxConcurrent: 10 })).toMatchObject({ maxConcurrent: 10 })
  expect(await update({ maxConcurrent: null })).not.toHaveProperty('maxConcurrent')
  await expect.poll(() => webhooks.finished()).toHaveLength(200)
})

test('retries within the limits and frees a lost slot when its lease expires', async () => {
  // A separate path, because late requests of the previous test must not count.
  const { endpointId } = await webhooks.addEndpoint(`${receiver.url}/one`, { maxConcurrent: 1 })
  let responses = 0
  receiver.behave((_received, response) => void response.writeHead(++responses < 3 ? 500 : 200).end(), '/one')
  await webhooks.emit(3)
  // A dead worker holds the only slot for another second.
  await sql`
    update webhook_deliveries set claimed = true, generation = 1, due_at = now() + interval '1 second'
    where id = (select min(id) from webhook_deliveries where endpoint_id = ${endpointId})`.execute(database.db)
  webhooks.startWorker()
  await expect.poll(() => webhooks.finished()).toHaveLength(3)
  expect(responses).toBe(5)
})

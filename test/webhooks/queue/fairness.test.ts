import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createAccount } from '../../../src/accounts/account.ts'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import type { AttemptResult, WebhookSender } from '../../../src/webhooks/sender/webhook-sender.ts'
import { openTestDatabase } from '../../support/database.ts'
import { forFile, forTest } from '../../support/lifetime.ts'
import { neverRespond, startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts'
import { startTestWebhooks } from '../../support/webhooks.ts'

const database = await forFile(openTestDatabase())
const webhooks = await forFile(startTestWebhooks(database))
let receiver: WebhookReceiver
/** Each test has a receiver of its own: an attempt that is aborted at the end of a test can still arrive in the next one. */
beforeEach(async () => {
  receiver = await forTest(startWebhookReceiver())
})
afterEach(() => webhooks.reset())

test('delivers to others despite a dead endpoint with thousands of waiting deliveries', async () => {
  const dead = await webhooks.addEndpoint(`${receiver.url}/dead`)
  receiver.behave(neverRespond, '/dead')
  await webhooks.fillQueue(dead.endpointId, 20_000)
  const worker = webhooks.startWorker({ maxHeld: 64 })
  await expect.poll(() => receiver.at('/dead').length).toBeGreaterThan(1)

  const healthy = await Promise.all([1, 2, 3].map((n) => webhooks.addEndpoint(`${receiver.url}/healthy-${n}`)))
  await sql`update webhook_endpoints set events = '{}' where id = ${dead.endpointId}`.execute(database.db)
  await webhooks.emit(100)
  await expect.poll(() => webhooks.finished()).toHaveLength(300)

  for (const { endpointId } of healthy) expect(await webhooks.deliveries(endpointId)).toEqual([])
  // The dead endpoint received few attempts and few slots.
  expect(receiver.at('/dead').length).toBeLessThan(100)
  expect(worker.held).toBeLessThanOrEqual(16)
})

test('delivers to a healthy endpoint when many others fail at once', async () => {
  const dead = await forTest(startWebhookReceiver())
  dead.behave(neverRespond)
  await addEndpoints(dead.url, 150)
  await webhooks.addEndpoint(receiver.url)
  await sql`update webhook_endpoints set account_id = ${webhooks.accountId}`.execute(database.db)
  await webhooks.emit(20)

  const attempted: string[] = []
  const worker = webhooks.startWorker({
    observer: { attempted: ({ outcome }) => void attempted.push(outcome), lost: () => {}, disabled: () => {} },
  })
  await expect.poll(() => receiver.received).toHaveLength(20)
  expect(worker.held).toBeGreaterThan(150)
  expect(attempted).not.toContain('failed')
})

test('sends more concurrent requests to an endpoint that takes two seconds, without delaying others', async () => {
  const held: (() => void)[] = []
  const release = () => held.splice(0).forEach((respond) => respond())
  let slowAttempts = 0
  // A fake sender: on a busy machine, a real endpoint takes any time.
  const sender: WebhookSender = {
    ...webhooks.deps.webhooks,
    attempt: (request) => {
      if (!request.url.endsWith('/slow')) return webhooks.deps.webhooks.attempt(request)
      slowAttempts += 1
      const { promise, resolve } = Promise.withResolvers<AttemptResult>()
      held.push(() => resolve({ outcome: 'delivered', statusCode: 200, durationMilliseconds: 2_100 }))
      return promise
    },
    close: () => Promise.resolve(),
  }
  const queue = await forTest(startTestWebhooks(database, { webhooks: sender }))
  const slow = await queue.addEndpoint(`${receiver.url}/slow`)
  await queue.fillQueue(slow.endpointId, 240)
  queue.startWorker({ maxHeld: 32 })
  // Four at first, then twice as many after each response time.
  for (const count of [4, 8, 16, 32, 64]) {
    await expect.poll(() => held.length).toBe(count)
    release()
  }
  await expect.poll(() => held.length).toBeGreaterThan(100)

  // The slow endpoint responds only after the quick one has received everything.
  await queue.addEndpoint(`${receiver.url}/quick`)
  await queue.emit(50)
  await expect.poll(() => receiver.at('/quick').length).toBe(50)
  const countLeft = async () => {
    release()
    return (await queue.deliveries()).length
  }
  await expect.poll(countLeft).toBe(0)
  expect(slowAttempts).toBe(240 + 1 + 50)
})

/** Adds endpoints in several accounts, since one account is limited. */
async function addEndpoints(url: string, count: number): Promise<void> {
  const perAccount = 15
  for (let added = 0; added < count; added += perAccount) {
    const { accountId } = await createAccount(webhooks.deps, { name: 'Another' })
    for (let n = added; n < Math.min(count, added + perAccount); n++)
      await addEndpoint(webhooks.deps, accountId, { url: `${url}/${n}` })
  }
}

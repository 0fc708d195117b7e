import { sql } from 'kysely'
import pg from 'pg'
import { request } from 'undici'
import { expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { signCallback } from '../../src/whatsapp/callbacks/signature.ts'
import { callbackPath, messagesCallback, status } from '../support/callbacks.ts'
import { type ServeProcess, startServe } from '../support/process.ts'
import { openScene } from './scene.ts'

const appSecret = 'fault-test-app-secret'

const { postgres, simulator, environment, app, apiKey, accountId } = await openScene({ META_APP_SECRET: appSecret })
await app.deps.db
  .insertInto('webhook_endpoints')
  .values({
    id: app.deps.newId('ep'),
    account_id: accountId,
    // Disabled, so that its deliveries wait and can be counted.
    url: 'https://example.com/',
    events: ['message.delivered'],
    secret_encrypted: 'never opened',
    enabled: false,
  })
  .execute()

function post(node: ServeProcess, messageId: string, waMessageId: string): Promise<number> {
  const statuses = [status('delivered', waMessageId, { callbackData: messageId })]
  const body = Buffer.from(JSON.stringify(messagesCallback(simulator.phoneNumberId, statuses)))
  return request(node.url + callbackPath, {
    method: 'POST',
    headers: { 'x-hub-signature-256': signCallback(body, appSecret) },
    body,
  }).then(({ statusCode }) => statusCode)
}

async function countEvents(messageId: string): Promise<{ status: string; events: number; deliveries: number }> {
  const { rows } = await sql<{ status: string; events: number; deliveries: number }>`
    select m.status,
      (select count(*)::integer from events e where e.account_id = m.account_id and e.message_id = m.id) as events,
      (select count(*)::integer from webhook_deliveries d join events e on e.account_id = d.account_id and e.id = d.event_id
        where e.account_id = m.account_id and e.message_id = m.id) as deliveries
    from messages m where m.account_id = ${accountId} and m.id = ${messageId}`.execute(app.deps.db)
  return rows[0] ?? { status: 'missing', events: 0, deliveries: 0 }
}

async function countWaiting(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from pg_stat_activity
    where application_name = 'waybill' and wait_event_type = 'Lock' and state = 'active'`.execute(app.deps.db)
  return rows[0]?.count ?? 0
}

/** Each lock blocks the process before one step of its transaction. */
test.each([
  { step: 'the messages are locked', lock: 'lock table messages in access exclusive mode' },
  { step: 'their states are updated', lock: 'lock table messages in exclusive mode' },
  { step: 'the events are inserted', lock: 'lock table events in exclusive mode' },
  { step: 'the deliveries are inserted', lock: 'lock table webhook_deliveries in exclusive mode' },
])('applies a repeated callback once if the process was killed before $step', async ({ lock }) => {
  const victim = await startServe({ ...environment, DATABASE_LOCK_TIMEOUT: '8s' })
  const sent = await victim.send(apiKey, sendMessage.example.input)
  const { messageId = '', waMessageId = '' } = sent.body.data ?? {}
  const blocker = new pg.Client({ connectionString: postgres.url })
  await blocker.connect()
  await blocker.query('begin')
  await blocker.query(lock)

  const lost = post(victim, messageId, waMessageId).then(
    () => 'answered',
    () => 'lost',
  )
  await expect.poll(countWaiting).toBeGreaterThan(0)
  victim.kill('SIGKILL')
  expect(await lost).toBe('lost')
  await blocker.query('rollback')
  await blocker.end()
  await expect.poll(() => countEvents(messageId)).toEqual({ status: 'sent', events: 0, deliveries: 0 })

  const successor = await startServe(environment)
  expect(await post(successor, messageId, waMessageId)).toBe(200)
  expect(await post(successor, messageId, waMessageId)).toBe(200)
  expect(await countEvents(messageId)).toEqual({ status: 'delivered', events: 1, deliveries: 1 })
  successor.kill('SIGKILL')
  await successor.exited
})

test('ignores a repeated callback if the process was killed between commit and response', async () => {
  const victim = await startServe(environment)
  const sent = await victim.send(apiKey, sendMessage.example.input)
  const { messageId = '', waMessageId = '' } = sent.body.data ?? {}
  const response = post(victim, messageId, waMessageId).catch(() => 'lost')
  await expect.poll(async () => (await countEvents(messageId)).status, { interval: 1 }).toBe('delivered')
  victim.kill('SIGKILL')
  await response

  const successor = await startServe(environment)
  expect(await post(successor, messageId, waMessageId)).toBe(200)
  expect(await countEvents(messageId)).toEqual({ status: 'delivered', events: 1, deliveries: 1 })
  successor.kill('SIGKILL')
  await successor.exited
})

import { sql } from 'kysely'
import { Registry } from 'prom-client'
import { afterEach, expect, test, vi } from 'vitest'
import { jobs as jobFacts } from '../../../contracts/facts/jobs.ts'
import { type MessagePage, sendMessage } from '../../../contracts/api/message.ts'
import type { Overview } from '../../../contracts/dashboard/overview.ts'
import { webhooks } from '../../../contracts/events.ts'
import { createHousekeeping } from '../../../src/background/housekeeping.ts'
import { registerOutcomesUnknownMetric } from '../../../src/http/ops/metrics.ts'
import { reportUnknownOutcomes, resolveMessage } from '../../../src/messages/status/outcome-unknown.ts'
import { recordStalePending } from '../../../src/messages/status/stale-pending.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer, type TestAccount, type TestResponse } from '../../support/server.ts'
import { accountWithOwner } from '../../support/user.ts'

const path = '/api/v1/message/send'
const neverAnswered = '15559000003'
const afterSeconds = 3_600

const server = await forFile(startTestServer({ sendDeadlineMilliseconds: 200 }))
const account = await server.account()
afterEach(() => vi.useRealTimers())

interface Unanswered {
  messageId: string
  retry: () => Promise<TestResponse>
}

/** Records a send that WhatsApp received the given time ago without a response. */
async function sendUnanswered(
  reference: string,
  { secondsAgo, from = account }: { secondsAgo: number; from?: TestAccount },
): Promise<Unanswered> {
  const request = { ...sendMessage.example.input, to: neverAnswered, externalId: reference }
  const retry = () => from.post(path, request, { 'idempotency-key': reference })
  expect((await retry()).statusCode).toBe(504)
  const { id } = await server.deps.db
    .selectFrom('messages')
    .select('id')
    .where('external_id', '=', reference)
    .executeTakeFirstOrThrow()
  const age = sql`${secondsAgo} * interval '1 second'`
  await sql`update messages set recorded_at = now() - ${age} where id = ${id}`.execute(server.deps.db)
  await sql`update idempotency_keys set created_at = now() - ${age} where message_id = ${id}`.execute(server.deps.db)
  await sql`update overdue_progress set looked_until = now() - interval '1 day'`.execute(server.deps.db)
  await recordStalePending(server.deps.db)
  return { messageId: id, retry }
}

async function listEvents(messageId: string): Promise<{ type: string; payload: unknown; deliveries: number }[]> {
  const { rows } = await sql<{ type: string; payload: string; deliveries: number }>`
    select type, payload,
      (select count(*)::integer from webhook_deliveries d where d.event_id = e.id) as deliveries
    from events e where message_id = ${messageId}`.execute(server.deps.db)
  return rows.map((row) => ({ ...row, payload: JSON.parse(row.payload) }))
}

function addEndpoint(events: string[]) {
  return server.deps.db
    .insertInto('webhook_endpoints')
    .values({
      id: server.deps.newId('ep'),
      account_id: account.accountId,
      // Disabled, so that its deliveries wait and can be counted.
      url: 'https://example.com/',
      events,
      secret_encrypted: 'never opened',
      enabled: false,
    })
    .execute()
}

test('reports a message without an outcome once, to subscribed endpoints only', async () => {
  await addEndpoint(['message.outcome_unknown'])
  await addEndpoint(['message.delivered', 'message.failed'])
  const { messageId, retry } = await sendUnanswered('unknown-1', { secondsAgo: afterSeconds + 1 })
  const young = await sendUnanswered('unknown-2', { secondsAgo: afterSeconds - 100 })

  const reported = await Promise.all(
    Array.from({ length: 4 }, () => reportUnknownOutcomes(server.deps, { afterSeconds })),
  )
  await recordStalePending(server.deps.db)
  reported.push(await reportUnknownOutcomes(server.deps, { afterSeconds }))

  expect(reported.reduce((sum, count) => sum + count, 0)).toBe(1)
  expect(await listEvents(young.messageId)).toEqual([])
  const [event, ...others] = await listEvents(messageId)
  expect(others).toEqual([])
  expect(event).toMatchObject({ type: 'message.outcome_unknown', deliveries: 1 })
  expect(webhooks['message.outcome_unknown'].event.parse(event?.payload)).toEqual({
    type: 'message.outcome_unknown',
    timestamp: expect.any(String),
    data: {
      messageId,
      status: 'pending',
      to: neverAnswered,
      template: sendMessage.example.input.template,
      language: sendMessage.example.input.language,
      accountId: account.whatsAppAccountId,
      externalId: 'unknown-1',
    },
  })
  expect((await account.get(`/api/v1/message/${messageId}`)).json().data['status']).toBe('pending')
  const response = (await retry()).json()
  expect(response.error.code).toBe('SEND_OUTCOME_UNKNOWN')
  expect(response.error.message).toContain('or this service was interrupted')
})

test('reports many messages in batches and skips those with a status', async () => {
  const sends = await Promise.all(
    Array.from({ length: 5 }, (_, n) => sendUnanswered(`many-${n}`, { secondsAgo: afterSeconds + 60 })),
  )
  await sql`update messages set status = 'delivered' where id = ${sends[0]?.messageId}`.execute(server.deps.db)

  expect(await reportUnknownOutcomes(server.deps, { afterSeconds, batchSize: 2 })).toBe(4)

  const events = await Promise.all(sends.map(({ messageId }) => listEvents(messageId)))
  expect(events.map((list) => list.length)).toEqual([0, 1, 1, 1, 1])
})

test('reports unknown outcomes during maintenance and counts them in a metric', async () => {
  const { messageId } = await sendUnanswered('housekeeping', { secondsAgo: 120 })
  const registry = new Registry()
  const onOutcomesUnknown = registerOutcomesUnknownMetric(registry)
  const housekeeping = createHousekeeping(server.deps, {
    retentionDays: 30,
    outcomeUnknownAfterSeconds: 60,
    onOutcomesUnknown,
  })
  await housekeeping.run(jobFacts.reportUnknownOutcomes)

  expect(await listEvents(messageId)).toHaveLength(1)
  // Includes messages of earlier tests.
  expect(await registry.metrics()).toMatch(/^waybill_messages_outcome_unknown_total [1-9]/m)
})

test('allows a resend with the same key after a message was resolved as failed', async () => {
  const { messageId, retry } = await sendUnanswered('resolve-failed', { secondsAgo: 120 })
  const sends = () =>
    server.simulator.requests.filter(({ body }) => JSON.stringify(body).includes(neverAnswered)).length
  const before = sends()

  await resolveMessage(server.deps, { accountId: account.accountId, messageId }, 'failed')

  expect((await account.get(`/api/v1/message/${messageId}`)).json().data).toMatchObject({
    status: 'failed',
    error: { code: 'RESOLVED_AS_FAILED', message: 'resolved as not sent.' },
  })
  expect((await retry()).headers['idempotent-replayed']).toBeUndefined()
  await expect.poll(sends).toBe(before + 1)
})

test('replays a message that was resolved as sent and never sends it again', async () => {
  const { messageId, retry } = await sendUnanswered('resolve-sent', { secondsAgo: 120 })
  const before = server.simulator.requests.length

  await resolveMessage(server.deps, { accountId: account.accountId, messageId }, 'sent')

  const response = await retry()
  expect(response.statusCode).toBe(200)
  expect(response.headers['idempotent-replayed']).toBe('true')
  expect(response.json().data).toMatchObject({ messageId, status: 'sent', waMessageId: '' })
  expect((await account.get(`/api/v1/message/${messageId}`)).json().data).toMatchObject({
    status: 'sent',
    sentAt: expect.any(String),
  })
  expect(server.simulator.requests.length).toBe(before)
})

test.each([
  {
    as: 'failed',
    says: { status: 'failed', error: { code: 'RESOLVED_AS_FAILED', message: expect.stringContaining('not sent') } },
  },
  { as: 'sent', says: { status: 'sent', waMessageId: '' } },
] as const)('reports a message that was resolved as $as', async ({ as, says }) => {
  await addEndpoint([`message.${as}`])
  const { messageId } = await sendUnanswered(`reported-${as}`, { secondsAgo: 120 })

  await resolveMessage(server.deps, of({ messageId }), as)

  const events = await listEvents(messageId)
  expect(events).toMatchObject([{ type: `message.${as}`, payload: { data: { messageId, ...says } } }])
  expect(events[0]?.deliveries).toBeGreaterThan(0)
  expect(webhooks[`message.${as}`].event.parse(events[0]?.payload)).toBeDefined()
})

function of({ messageId }: Pick<Unanswered, 'messageId'>) {
  return { accountId: account.accountId, messageId }
}

test('resolves a message once and only when its send cannot be running', async () => {
  const running = await sendUnanswered('running', { secondsAgo: 30 })
  await expect(resolveMessage(server.deps, of(running), 'failed')).rejects.toThrow('may still be running')

  const old = await sendUnanswered('old', { secondsAgo: 120 })
  await resolveMessage(server.deps, of(old), 'sent')
  await expect(resolveMessage(server.deps, of(old), 'failed')).rejects.toThrow('is sent: only a pending message')
  await expect(resolveMessage(server.deps, of({ messageId: 'msg_none' }), 'sent')).rejects.toMatchObject({
    code: 'MESSAGE_NOT_FOUND',
  })
})

test('shows owners how many messages have an unknown outcome, lists them and lets them resolve one', async () => {
  const { owner, ...other } = await accountWithOwner(server)
  const { accountId } = other
  const unknown = await sendUnanswered('overview-1', { secondsAgo: 120, from: other })
  const running = await sendUnanswered('overview-2', { secondsAgo: 30, from: other })
  const countUnknown = async () => (await owner.query<Overview>('overview.get', { accountId })).data.outcomeUnknown
  const list = async (input: object) =>
    (await owner.query<MessagePage>('message.list', { accountId, ...input })).data.items.map((item) => item.messageId)

  expect(await countUnknown()).toBe(1)
  expect(await list({ status: 'pending' })).toEqual([running.messageId, unknown.messageId])
  expect(await list({ outcomeUnknown: true })).toEqual([unknown.messageId])
  const { data: count } = await owner.query('message.count', { accountId, outcomeUnknown: true })
  expect(count).toEqual({ count: 1, kind: 'exact' })

  const resolve = ({ messageId }: Unanswered) => owner.mutate('message.resolve', { accountId, messageId, as: 'failed' })
  expect((await resolve(running)).error.message).toContain('may still be running')
  expect((await resolve(unknown)).data).toEqual({ messageId: unknown.messageId, status: 'failed' })
  expect(await countUnknown()).toBe(0)
  expect(await list({ outcomeUnknown: true })).toEqual([])
})

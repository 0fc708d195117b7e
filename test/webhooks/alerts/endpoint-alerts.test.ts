import { beforeEach, expect, test } from 'vitest'
import { disabledReasons } from '../../../contracts/facts/deliveries.ts'
import { EndpointFailingEvent } from '../../../contracts/events.ts'
import { announceEndpoints } from '../../../src/webhooks/alerts/announce-endpoints.ts'
import { acknowledgeAlert } from '../../../src/webhooks/alerts/alerts.ts'
import { addEndpoint, disableEndpoint, enableEndpoint, updateEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { lockOpenAlert } from '../../../src/webhooks/alerts/store.ts'
import { recordEvents } from '../../../src/webhooks/events.ts'
import { recordAttempts } from '../../../src/webhooks/queue/store.ts'
import { forFile } from '../../support/lifetime.ts'
import { listQueuedEvents } from '../../support/events.ts'
import { lockWaits } from '../../support/lock-waits.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'

const server = await forFile(startTestServer())
let account: TestAccount
/** The failing endpoint, and one that subscribes to failures. */
let failing: string
let watching: string
beforeEach(async () => {
  account = await server.account()
  failing = await add('http://127.0.0.1:9/hook?token=secret')
  watching = await add('http://127.0.0.1:9/alerts')
})

const add = async (url: string) =>
  (await addEndpoint(server.deps, account.accountId, { url, events: ['endpoint.failing', 'message.read'] })).endpointId

const change = (changes: {
  failing_since?: Date | null
  description?: string
  enabled?: boolean
  disabled_reason?: string | null
}) => server.deps.db.updateTable('webhook_endpoints').set(changes).where('id', '=', failing).execute()

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

/** The queued deliveries of this account. */
async function listQueued() {
  const queued = await listQueuedEvents(server.deps, account.accountId)
  return queued.map(({ endpointId, event }) => ({ endpointId, event: EndpointFailingEvent.parse(event) }))
}

const logged = (text: string) => server.log.filter((line) => line.includes(text) && line.includes(failing))

const alerts = () =>
  server.deps.db.selectFrom('alerts').selectAll().where('subject_id', '=', failing).orderBy('id').execute()

/** Records an attempt at the failing endpoint that was answered with 410 Gone, as a worker does. */
async function answerGone(): Promise<void> {
  const { db, newId } = server.deps
  const delivery = { accountId: account.accountId, id: newId('dlv'), generation: 1 }
  const row = { endpoint_id: failing, event_id: newId('evt'), due_at: minutesAgo(-1), created_at: new Date() }
  const claimed = { account_id: delivery.accountId, id: delivery.id, generation: 1, claimed: true, attempts: 0, ...row }
  await db.insertInto('webhook_deliveries').values(claimed).execute()
  const result = { outcome: 'gone', statusCode: 410, durationMilliseconds: 1 } as const
  await recordAttempts(db, [{ delivery, result, startedAt: new Date(), waitSeconds: 60 }])
}

test('announces an endpoint that fails for five minutes once, to the other endpoints of the account', async () => {
  await change({ failing_since: minutesAgo(4) })
  expect(await announceEndpoints(server.deps)).toBe(0)

  await change({ failing_since: minutesAgo(6) })
  const beside = await startTestServer({ beside: server })
  await Promise.all([announceEndpoints(server.deps), announceEndpoints(beside.deps)])
  await announceEndpoints(beside.deps)
  await beside.close()

  const queued = await listQueued()
  expect(queued).toMatchObject([
    { endpointId: watching, event: { data: { endpointId: failing, host: '127.0.0.1:9', disabled: false } } },
  ])
  expect(JSON.stringify(queued)).not.toContain('secret')
  // Announced by the server that was first.
  const lines = [...server.log, ...beside.log]
  expect(lines.filter((line) => line.includes('a webhook endpoint fails') && line.includes(failing))).toHaveLength(1)
})

test('names the endpoint in the alert by its host and description', async () => {
  await change({ failing_since: new Date('2026-11-19T14:08:00Z'), description: 'Customer database' })

  await announceEndpoints(server.deps)

  expect((await alerts()).map(({ title, body }) => ({ title, body }))).toEqual([
    {
      title: 'The webhook endpoint at 127.0.0.1:9 is failing',
      body: [
        'Deliveries to 127.0.0.1:9 (Customer database) have failed since 2026-11-19 14:08 UTC.',
        'Messages are still sent, but your system does not receive their statuses. Waybill retries the deliveries. Ask your developers to check the endpoint.',
      ].join('\n'),
    },
  ])
})

test('announces another failure only after a recovery, which is logged', async () => {
  await change({ failing_since: minutesAgo(6) })
  await announceEndpoints(server.deps)
  await change({ failing_since: null })
  await announceEndpoints(server.deps)
  expect(logged('a webhook endpoint works again')).toHaveLength(1)

  await change({ failing_since: minutesAgo(6) })
  await announceEndpoints(server.deps)

  expect(await listQueued()).toHaveLength(2)
})

test('delays no event of the account while it waits for the alert', async () => {
  const { db } = server.deps
  await change({ failing_since: minutesAgo(6) })
  await announceEndpoints(server.deps)
  await db.updateTable('webhook_endpoints').set({ announced_failing: false }).where('id', '=', failing).execute()
  const holder = await db.startTransaction().execute()
  await lockOpenAlert(holder, { accountId: account.accountId, code: 'endpoint_failing', subjectId: failing })
  const announced = announceEndpoints(server.deps)
  await expect.poll(() => lockWaits(db)).toHaveLength(1)

  const event = { accountId: account.accountId, type: 'message.read', subjectId: 'msg_1', payload: '{}' }
  await db.transaction().execute((trx) => recordEvents(server.deps, trx, [event]))

  await holder.rollback().execute()
  expect(await announced).toBe(1)
})

test('announces an endpoint that Waybill disabled immediately, with the reason', async () => {
  await change({ enabled: false, disabled_reason: 'it answered 410 Gone' })

  await announceEndpoints(server.deps)

  expect(await listQueued()).toMatchObject([
    { endpointId: watching, event: { data: { disabled: true, reason: 'it answered 410 Gone' } } },
  ])
})

test('announces that Waybill disabled an endpoint which it had announced as failing', async () => {
  await change({ failing_since: minutesAgo(6) })
  await announceEndpoints(server.deps)

  await answerGone()
  await announceEndpoints(server.deps)

  expect(await alerts()).toMatchObject([
    { severity: 'critical', title: 'The webhook endpoint at 127.0.0.1:9 was disabled' },
  ])
  const announced = (await listQueued()).filter(({ endpointId }) => endpointId === watching)
  expect(announced.map(({ event }) => event.data.disabled)).toEqual([false, true])
})

test('alerts again if Waybill disables an endpoint that was enabled after its alert was acknowledged', async () => {
  await answerGone()
  await announceEndpoints(server.deps)
  const [{ id: alertId } = { id: '' }] = await alerts()
  await acknowledgeAlert(server.deps, { accountId: account.accountId, alertId, by: 'ada@example.com' })
  await enableEndpoint(server.deps, account.accountId, failing)

  await answerGone()
  await announceEndpoints(server.deps)

  expect(await alerts()).toMatchObject([
    { id: alertId, recovered_at: expect.any(Date) },
    { recovered_at: null, acknowledged_at: null, sent_at: expect.any(Date) },
  ])
})

test('keeps the alert of an endpoint that Waybill disabled if a user moves it', async () => {
  await answerGone()
  await announceEndpoints(server.deps)

  await updateEndpoint(server.deps, account.accountId, failing, { url: 'http://127.0.0.1:8/moved' })

  expect(await announceEndpoints(server.deps)).toBe(0)
  expect(await alerts()).toMatchObject([{ recovered_at: null }])
})

test('does not announce an endpoint that a user disabled', async () => {
  await change({ failing_since: minutesAgo(6) })
  await disableEndpoint(server.deps, account.accountId, failing, { reason: disabledReasons.byUser() })
  expect(await announceEndpoints(server.deps)).toBe(0)

  await enableEndpoint(server.deps, account.accountId, failing)
  expect(await announceEndpoints(server.deps)).toBe(0)
  expect(await listQueued()).toEqual([])
})

test('closes the alert of a failing endpoint that a user disables', async () => {
  await change({ failing_since: minutesAgo(6) })
  await announceEndpoints(server.deps)

  await disableEndpoint(server.deps, account.accountId, failing, { reason: disabledReasons.byUser() })

  expect(await announceEndpoints(server.deps)).toBe(0)
  expect(await alerts()).toMatchObject([{ recovered_at: expect.any(Date) }])
})

test.each([
  { how: 'enables', fix: () => enableEndpoint(server.deps, account.accountId, failing) },
  {
    how: 'moves',
    fix: () => updateEndpoint(server.deps, account.accountId, failing, { url: 'http://127.0.0.1:9/moved' }),
  },
])('does not claim that an endpoint works because a user $how it', async ({ fix }) => {
  await change({ failing_since: minutesAgo(6) })
  await announceEndpoints(server.deps)

  await fix()
  expect(await announceEndpoints(server.deps)).toBe(0)
  expect(logged('a webhook endpoint works again')).toEqual([])

  await change({ failing_since: minutesAgo(6) })
  expect(await announceEndpoints(server.deps)).toBe(1)
})

import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { sendMessage } from '../../../contracts/api/message.ts'
import { signCallback } from '../../../src/whatsapp/callbacks/signature.ts'
import { eventually } from '../../support/eventually.ts'
import { forFile } from '../../support/lifetime.ts'
import { nodeForTest, startTestServer, type TestServer, through } from '../../support/server.ts'

const server = await forFile(startTestServer())

test('measures requests by route, without IDs or phone numbers in labels', async () => {
  const node = await nodeForTest(server)
  const account = through(node, await server.account())
  await account.post('/api/v1/message/send', sendMessage.example.input)
  await account.get('/api/v1/message/msg_00000000000000000000000000?x=34600111222')

  const { text } = await node.request('GET', '/metrics')

  expect(text).toMatch(
    /waybill_http_request_duration_seconds_count\{method="POST",route="\/api\/v1\/message\/send",status="200"\} 1/,
  )
  expect(text).toMatch(/route="\/api\/v1\/message\/:messageId"/)
  expect(text).not.toMatch(/msg_0|34600111222/)
})

test('counts a message with an unknown outcome', async () => {
  const account = await server.account()
  await account.post('/api/v1/message/send', sendMessage.example.input)
  await server.deps.db
    .updateTable('messages')
    .set({ status: 'pending', recorded_at: new Date(Date.now() - 120_000) })
    .where('account_id', '=', account.accountId)
    .execute()
  // Messages recorded before the database was created count as examined.
  await sql`update overdue_progress set looked_until = now() - interval '1 day'`.execute(server.deps.db)

  const { text } = await server.request('GET', '/metrics')

  expect(text).toMatch(/^waybill_messages_pending 1$/m)
  expect(Number(/^waybill_messages_pending_oldest_seconds (.*)$/m.exec(text)?.[1])).toBeGreaterThan(100)
})

test('reports deliveries that are late even if no worker runs', async () => {
  const { accountId } = await server.account()
  onTestFinished(async () => void (await sql`delete from webhook_deliveries`.execute(server.deps.db)))
  await sql`
    insert into webhook_endpoints (id, account_id, url, events, secret_encrypted)
    values ('ep_late', ${accountId}, 'https://example.com/', '{message.sent}', 'x')`.execute(server.deps.db)
  await sql`
    insert into webhook_deliveries (account_id, id, endpoint_id, event_id, due_at, created_at)
    values (${accountId}, 'dlv_late', 'ep_late', 'evt_late', now() - interval '90 seconds', now())`.execute(
    server.deps.db,
  )

  const { text } = await server.request('GET', '/metrics')

  expect(Number(/^waybill_webhook_oldest_due_seconds (.*)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(89)
})

test('counts sends by outcome and code, and callbacks by result', async () => {
  const node = await startTestServer({ beside: server })
  const account = await server.account()
  const { post } = through(node, account)
  await post('/api/v1/message/send', sendMessage.example.input)
  await post('/api/v1/message/send', { ...sendMessage.example.input, to: '15550131026' })
  await post('/api/v1/message/send', { ...sendMessage.example.input, to: '15550131026' })
  server.simulator.intercept(({ path }) =>
    path.endsWith('/messages')
      ? { kind: 'json', status: 400, body: { error: { message: 'New', code: 987654321, type: 'OAuthException' } } }
      : undefined,
  )
  await post('/api/v1/message/send', sendMessage.example.input)
  server.simulator.intercept(undefined)
  for (const signature of [signCallback(Buffer.from('{}'), 'test-app-secret'), `sha256=${'0'.repeat(64)}`])
    await node.request('POST', '/webhooks/whatsapp', {
      headers: { 'x-hub-signature-256': signature, 'content-type': 'application/json' },
      body: '{}',
    })

  const { text } = await node.request('GET', '/metrics')
  await node.close()

  expect(text).toMatch(/^waybill_whatsapp_sends_total\{outcome="accepted",code=""\} 1$/m)
  expect(text).toMatch(/^waybill_whatsapp_sends_total\{outcome="refused",code="131026"\} 2$/m)
  // Codes that are not documented share one label.
  expect(text).toMatch(/^waybill_whatsapp_sends_total\{outcome="refused",code="other"\} 1$/m)
  for (const result of ['accepted', 'refused'])
    expect(text).toContain(`waybill_whatsapp_callbacks_total{result="${result}"} 1\n`)
})

test('shows findings and the expiry of tokens by WhatsApp account, and templates by state', async () => {
  const account = await server.account()
  await account.template({ name: 'paused_one', status: 'PAUSED' })
  const expiresAt = new Date(Math.floor(Date.now() / 1000) * 1000 + 3 * 86_400_000)
  await server.deps.db
    .updateTable('whatsapp_account_health')
    .set({ token_expires_at: expiresAt })
    .where('account_id', '=', account.accountId)
    .execute()

  const { text } = await server.request('GET', '/metrics')

  const labels = `account="${account.accountId}",whatsapp_account="${account.whatsAppAccountId}"`
  expect(text).toContain(`waybill_whatsapp_account_healthy{${labels}} 1`)
  expect(text).toContain(`waybill_whatsapp_account_finding{${labels},finding="token_expiring",severity="warning"} 1`)
  expect(text).toContain(
    `waybill_whatsapp_account_token_expiry_timestamp_seconds{${labels}} ${expiresAt.getTime() / 1000}`,
  )
  expect(text).toMatch(/^waybill_templates\{status="APPROVED"\} \d+$/m)
  expect(text).toMatch(/^waybill_templates\{status="PAUSED"\} [1-9]\d*$/m)
})

test('has no series of its own for a WhatsApp account without findings, except on request', async () => {
  const account = await server.account()
  const own = `whatsapp_account="${account.whatsAppAccountId}"`

  expect((await server.request('GET', '/metrics')).text).not.toContain(own)
  expect((await server.request('GET', '/metrics/accounts')).text).toMatch(
    new RegExp(`^waybill_whatsapp_account_healthy\\{.*${own}\\} 1$`, 'm'),
  )
})

const series = (text: string) => text.split('\n').filter((line) => line.startsWith('waybill_whatsapp_account_healthy{'))

const count = (text: string, healthy: boolean) =>
  Number(new RegExp(`^waybill_whatsapp_accounts\\{healthy="${healthy}"\\} (\\d+)$`, 'm').exec(text)?.[1])

describe('with thousands of WhatsApp accounts', () => {
  let many: TestServer

  beforeAll(async () => {
    many = await startTestServer()
    const account = await many.account()
    await sql`insert into whatsapp_accounts
        (id, account_id, phone_number_id, waba_id, access_token_encrypted, is_default, inactive_reason, quality_rating)
      select 'wa_many_' || n, ${account.accountId}, 'many_' || n, 'many_' || n, '', false,
        case when n > 1980 then 'WhatsApp rejected it (190)' end, case when n <= 600 then 'RED' end
      from generate_series(1, 2000) n`.execute(many.deps.db)
  })

  afterAll(() => many.close())

  test('counts them, and shows the first 500 with findings, errors first', async () => {
    // The first scrape does not wait until all are read.
    const text = await eventually(async () => {
      const metrics = await many.request('GET', '/metrics')
      expect(series(metrics.text)).not.toHaveLength(0)
      return metrics.text
    })
    const all = await many.request('GET', '/metrics/accounts')

    expect(count(text, false)).toBe(20)
    expect(count(text, true)).toBe(1_981)
    expect(series(text)).toHaveLength(500)
    expect(series(text).filter((line) => line.endsWith(' 0'))).toHaveLength(20)
    expect(series(all.text)).toHaveLength(2_001)
  })

  const canLock = inject('database').kind === 'postgres'
  test.runIf(canLock)('answers the first scrape while they are still being read', async () => {
    const node = await startTestServer({ beside: many })
    const text = await many.deps.db.transaction().execute(async (trx) => {
      await sql`lock table whatsapp_account_health in access exclusive mode`.execute(trx)
      const scraped = await node.request('GET', '/metrics')
      await eventually(async () => {
        const { rows: waiting } = await sql`
          select from pg_locks where relation = 'whatsapp_account_health'::regclass and not granted
            and database = (select oid from pg_database where datname = current_database())`.execute(many.deps.db)
        expect(waiting).toHaveLength(1)
      })
      return scraped.text
    })
    await node.close()

    expect(text).toContain('waybill_whatsapp_accounts')
    expect(series(text)).toHaveLength(0)
  })
})

import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { type Alert, defaultAlertRules } from '../../../../contracts/dashboard/alert.ts'
import { alertFacts } from '../../../../contracts/facts/alerts.ts'
import { inEnglish } from '../../../../contracts/facts/fact.ts'
import { readAccountHealth } from '../../../../src/whatsapp-accounts/health/read.ts'
import { activateWhatsAppAccount } from '../../../../src/whatsapp-accounts/change.ts'
import type { AlertText } from '../../../../src/webhooks/alerts/text.ts'
import { announceThresholds } from '../../../../src/webhooks/alerts/rules/announce-thresholds.ts'
import { setChat } from '../../../../src/webhooks/alerts/chat/chat.ts'
import { openPost } from '../../../../src/webhooks/alerts/chat/outbox.ts'
import { sendDueAlerts } from '../../../../src/webhooks/alerts/rules/due.ts'
import { updateAlertRules } from '../../../../src/webhooks/alerts/settings.ts'
import { cleanUpAlerts } from '../../../../src/webhooks/alerts/store.ts'
import { announceChanges } from '../../../../src/webhooks/alerts/announce-whatsapp-accounts.ts'
import { addEndpoint, removeEndpoint } from '../../../../src/webhooks/endpoints/change.ts'
import { exampleSend } from '../../../support/example-send.ts'
import { forFile } from '../../../support/lifetime.ts'
import { signedInOwner } from '../../../support/user.ts'
import { startTestServer, type TestAccount, type TestServer } from '../../../support/server.ts'

let now = new Date()

const server = await forFile(startTestServer({ deps: { now: () => now } }))
/** Another server on the same database. */
const node = await forFile(startTestServer({ beside: server, deps: { now: () => now } }))
let account: TestAccount
beforeEach(async () => {
  now = new Date()
  account = await server.account()
  await setChat(server.deps, account.accountId, { url: 'http://127.0.0.1:9/hook', format: 'slack' })
})

/** The alerts that wait for the chat of the account, oldest first. */
async function posts(): Promise<AlertText[]> {
  const rows = await server.deps.db
    .selectFrom('chat_posts')
    .selectAll()
    .where('account_id', '=', account.accountId)
    .orderBy('id')
    .execute()
  return rows.map((row) =>
    openPost(server.deps.secrets, {
      id: row.id,
      accountId: row.account_id,
      contentEncrypted: row.content_encrypted,
      attempts: 0,
      expired: false,
    }),
  )
}

const sent = async () => (await posts()).map(({ title }) => title)

/** Runs the check several times on both servers concurrently, as housekeeping does. */
async function run(chore: (deps: TestServer['deps']) => Promise<unknown>): Promise<void> {
  for (let round = 0; round < 2; round++) await Promise.all([chore(server.deps), chore(node.deps)])
}

const setRules = (rules: Parameters<typeof updateAlertRules>[2]) =>
  updateAlertRules(server.deps, account.accountId, rules)

const clock = (time: number) => new Date(time).toISOString().slice(11, 16)

/** Sets quiet hours for two hours, starting at the current minute. */
async function beQuiet({ exceptCritical = false } = {}): Promise<void> {
  const quietHours = {
    timeZone: 'UTC',
    from: clock(now.getTime() - 60_000),
    until: clock(now.getTime() + 2 * 3_600_000),
    exceptCritical,
  }
  await setRules({ quietHours })
}

const pass = (hours: number) => (now = new Date(now.getTime() + hours * 3_600_000))

async function setReason(reason: string | null): Promise<void> {
  if (reason === null) await activateWhatsAppAccount(server.deps, account)
  else
    await sql`update whatsapp_accounts set inactive_reason = ${reason}
      where id = ${account.whatsAppAccountId}`.execute(server.deps.db)
  await run(announceChanges)
}

async function setTraffic(traffic: { sent: number; failed: number }): Promise<void> {
  await sql`update whatsapp_account_health
    set traffic = ${JSON.stringify({ ...traffic, failures: [{ code: '131026', count: traffic.failed }] })}::jsonb
    where whatsapp_account_id = ${account.whatsAppAccountId}`.execute(server.deps.db)
  await run(announceThresholds)
}

async function alerts(): Promise<Alert[]> {
  const owner = await signedInOwner(server, account.accountId)
  return (await owner.query<{ items: Alert[] }>('alert.list', { accountId: account.accountId })).data.items
}

const cannotSend = '+15550100001 can no longer send'
const canSend = '+15550100001 can send again'

test('holds an alert in quiet hours, and sends it once when they end', async () => {
  await beQuiet()
  await setReason('the token has expired')
  await run(sendDueAlerts)
  expect(await sent()).toEqual([])

  pass(3)
  await run(sendDueAlerts)
  expect(await sent()).toEqual([cannotSend])

  await setReason(null)
  expect(await sent()).toEqual([cannotSend, canSend])
})

test('sends nothing about a problem that began and ended in quiet hours', async () => {
  await beQuiet()
  await setReason('the token has expired')
  await setReason(null)

  pass(3)
  await run(sendDueAlerts)
  expect(await sent()).toEqual([])
  expect(await alerts()).toMatchObject([{ title: cannotSend, recoveredAt: expect.any(String) }])
})

test('leaves out empty lines of an alert that it held', async () => {
  await beQuiet()
  await setReason('the token has expired')
  await sql`update alerts set body = E'Reported.\n\nCheck it.' where account_id = ${account.accountId}`.execute(
    server.deps.db,
  )

  pass(3)
  await run(sendDueAlerts)

  expect(await posts()).toMatchObject([{ paragraphs: ['Reported.', 'Check it.'] }])
})

test('holds a recovery in quiet hours', async () => {
  await setReason('the token has expired')
  await beQuiet()
  await setReason(null)
  expect(await sent()).toEqual([cannotSend])

  pass(3)
  await run(sendDueAlerts)
  expect(await sent()).toEqual([cannotSend, canSend])
})

test('drops a recovery that quiet hours hold if the problem begins again', async () => {
  await setReason('the token has expired')
  await beQuiet()
  await setReason(null)
  await setReason('the token has expired')

  pass(3)
  await run(sendDueAlerts)

  expect(await sent()).toEqual([cannotSend, cannotSend])
})

test('tells that a problem is over that began again and ended in quiet hours', async () => {
  await setReason('the token has expired')
  await beQuiet()
  for (const reason of [null, 'the token has expired', null]) await setReason(reason)

  pass(3)
  await run(sendDueAlerts)

  expect(await sent()).toEqual([cannotSend, canSend])
})

test('sends a critical alert in quiet hours if the rules say so', async () => {
  await beQuiet({ exceptCritical: true })
  await setReason('the token has expired')
  await setTraffic({ sent: 70, failed: 30 })

  expect(await sent()).toEqual([cannotSend])
})

test('says an alert as facts, unless an earlier version has changed or opened it', async () => {
  await setReason('the token has expired')

  const [alert] = await alerts()
  expect(alert?.title).toBe(cannotSend)
  expect(alert?.facts?.['title']).toEqual(alertFacts.inactive.title({ number: '+15550100001' }))
  expect(alert?.facts?.['body'] && inEnglish(alert.facts['body'])).toBe(alert?.body)

  const { facts: _facts, ...earlier } = { ...alert, body: 'Text of an earlier version.' }
  const change = server.deps.db.updateTable('alerts').where('id', '=', alert?.alertId ?? '')
  await change.set({ body: earlier.body }).execute()
  expect((await alerts())[0]).toEqual(earlier)
  await change.set({ facts: null }).execute()
  expect((await alerts())[0]).toEqual(earlier)
})

test('repeats an alert until a user acknowledges it, and still sends its end', async () => {
  await setRules({ repeatHours: 4 })
  await setReason('the token has expired')
  await run(sendDueAlerts)
  expect(await sent()).toHaveLength(1)
  pass(4.1)
  await run(sendDueAlerts)
  expect(await sent()).toEqual([cannotSend, cannotSend])

  const owner = await signedInOwner(server, account.accountId)
  const { accountId } = account
  const [alert] = await alerts()
  const input = { accountId, alertId: alert?.alertId }
  expect((await owner.mutate('alert.acknowledge', input)).data).toMatchObject({ acknowledgedBy: owner.email })
  expect((await owner.mutate('alert.acknowledge', { accountId, alertId: 'alr_none' })).statusCode).toBe(404)
  pass(100)
  await run(sendDueAlerts)
  expect(await sent()).toHaveLength(2)

  await setReason(null)
  expect(await sent()).toEqual([cannotSend, cannotSend, canSend])
  expect((await owner.mutate('alert.acknowledge', input)).statusCode).toBe(409)
  const log = await owner.query<{ items: { what: string }[] }>('audit.list', { accountId })
  expect(log.data.items.map(({ what }) => what)).toContain(`acknowledged the alert ${alert?.alertId}`)
})

test('repeats no open alert once the repetition is turned off', async () => {
  await setRules({ repeatHours: 4 })
  await setReason('the token has expired')

  await setRules({ repeatHours: null })
  pass(4.1)
  await run(sendDueAlerts)

  expect(await sent()).toEqual([cannotSend])
})

test('repeats open alerts at a new interval, counted from when they were sent', async () => {
  await setReason('the token has expired')
  pass(3)
  await setRules({ repeatHours: 4 })
  await run(sendDueAlerts)
  expect(await sent()).toEqual([cannotSend])

  await setRules({ repeatHours: 2 })
  await run(sendDueAlerts)

  expect(await sent()).toEqual([cannotSend, cannotSend])
})

test('sends an alert that waits for the end of quiet hours when the repetition is turned off', async () => {
  await setRules({ repeatHours: 4 })
  await beQuiet()
  await setReason('the token has expired')

  await setRules({ repeatHours: null })
  pass(3)
  await run(sendDueAlerts)

  expect(await sent()).toEqual([cannotSend])
})

test('sends nothing about an acknowledged token until it is about to expire', async () => {
  const expireIn = async (days: number) => {
    await sql`update whatsapp_account_health set token_expires_at = ${new Date(now.getTime() + days * 86_400_000)}
      where whatsapp_account_id = ${account.whatsAppAccountId}`.execute(server.deps.db)
    await run(announceChanges)
  }
  await expireIn(13.5)
  const owner = await signedInOwner(server, account.accountId)
  const [alert] = await alerts()
  await owner.mutate('alert.acknowledge', { accountId: account.accountId, alertId: alert?.alertId })
  await expireIn(6.5)
  expect(await sent()).toHaveLength(1)

  await expireIn(1.5)
  await expireIn(60)

  expect(await sent()).toEqual([
    'The access token of +15550100001 expires in 13 days',
    'The access token of +15550100001 expires in 1 day',
    'The access token of +15550100001 was renewed',
  ])
})

test('alerts once when more messages fail than the threshold allows, and when fewer do', async () => {
  await setTraffic({ sent: 85, failed: 15 })
  expect(await sent()).toEqual([])
  await setRules({ failureRatePercent: 10 })
  await setTraffic({ sent: 85, failed: 15 })
  await setTraffic({ sent: 84, failed: 16 })
  await setTraffic({ sent: 99, failed: 1 })
  await setTraffic({ sent: 99, failed: 1 })

  expect(await sent()).toEqual([
    '15% of the messages of +15550100001 fail',
    'The messages of +15550100001 fail less often',
  ])
})

test('compares the failure rate only above the minimum number of messages of the account', async () => {
  await setTraffic({ sent: 2, failed: 3 })
  expect(await sent()).toEqual([])

  await setRules({ failureRateMinMessages: 5 })
  await setTraffic({ sent: 2, failed: 3 })

  expect(await sent()).toEqual(['60% of the messages of +15550100001 fail'])
  expect(await failureFindings()).toEqual(['failures_frequent'])
})

async function failureFindings(): Promise<string[] | undefined> {
  const { whatsAppAccounts } = await readAccountHealth(server.deps, account.accountId, { withCounts: false })
  return whatsAppAccounts[0]?.findings.map(({ code }) => code).filter((code) => code === 'failures_frequent')
}

test('uses the same threshold for frequent failures in the health of an account', async () => {
  await setTraffic({ sent: 85, failed: 15 })
  expect(await failureFindings()).toEqual([])

  await setRules({ failureRatePercent: 10 })
  expect(await failureFindings()).toEqual(['failures_frequent'])

  await setRules({ failureRatePercent: null })
  await setTraffic({ sent: 0, failed: 100 })
  expect(await failureFindings()).toEqual([])
})

test('closes an alert silently when its threshold is turned off', async () => {
  await setTraffic({ sent: 60, failed: 40 })
  await setRules({ failureRatePercent: null })
  await setTraffic({ sent: 100, failed: 0 })

  expect(await sent()).toHaveLength(1)
  expect(await alerts()).toMatchObject([{ recoveredAt: expect.any(String) }])
})

test('alerts once when webhook deliveries are late, and when they are on time again', async () => {
  const { endpointId } = await addEndpoint(server.deps, account.accountId, {
    url: 'http://127.0.0.1:9/',
    events: ['message.sent'],
  })
  await account.post('/api/v1/message/send', exampleSend)
  const delay = (seconds: number) =>
    sql`update webhook_deliveries set due_at = now() - ${seconds} * interval '1 second'
      where endpoint_id = ${endpointId}`.execute(server.deps.db)
  await expect.poll(async () => Number((await delay(301)).numAffectedRows)).toBe(1)

  await run(announceThresholds)
  await delay(1)
  await run(announceThresholds)

  expect(await sent()).toEqual(['Webhook deliveries are late', 'Webhook deliveries are on time again'])
})

test('closes the alert about late deliveries when the last endpoint is removed', async () => {
  const { endpointId } = await addEndpoint(server.deps, account.accountId, { url: 'http://127.0.0.1:9/' })
  const due = { due_at: new Date(now.getTime() - 400_000), created_at: now }
  const row = { account_id: account.accountId, endpoint_id: endpointId, attempts: 0, generation: 0, ...due }
  await server.deps.db
    .insertInto('webhook_deliveries')
    .values({ ...row, id: server.deps.newId('dlv'), event_id: server.deps.newId('evt') })
    .execute()
  await run(announceThresholds)
  await cleanUpAlerts(server.deps.db)
  expect((await alerts())[0]).not.toHaveProperty('recoveredAt')

  await removeEndpoint(server.deps, account.accountId, endpointId)
  await run(announceThresholds)
  await cleanUpAlerts(server.deps.db)

  expect(await alerts()).toMatchObject([{ recoveredAt: expect.any(String) }])
})

test('closes alerts about removed resources', async () => {
  const other = await account.addWhatsAppAccount()
  await sql`update whatsapp_accounts set inactive_reason = 'gone' where id = ${other}`.execute(server.deps.db)
  await run(announceChanges)
  await sql`delete from whatsapp_accounts where id = ${other}`.execute(server.deps.db)

  await cleanUpAlerts(server.deps.db)

  expect(await alerts()).toMatchObject([{ recoveredAt: expect.any(String) }])
})

test('shows the rules of an account, and rejects invalid rules', async () => {
  const owner = await signedInOwner(server, account.accountId)
  const { accountId } = account
  expect((await owner.query('alert.get', { accountId })).data).toMatchObject(defaultAlertRules)

  const quietHours = { timeZone: 'Europe/Madrid', from: '22:00', until: '07:00', exceptCritical: true }
  const changed = await owner.mutate('alert.update', { accountId, quietHours })
  expect(changed.data).toMatchObject({ ...defaultAlertRules, quietHours, chat: { format: 'slack', host: '127.0.0.1' } })
  expect(JSON.stringify(changed.data)).not.toContain('hook')

  for (const wrong of [
    { failureRatePercent: 0 },
    { failureRatePercent: 12.5 },
    { failureRateMinMessages: 0 },
    { failureRateMinMessages: 10_001 },
    { failureRateMinMessages: null },
    { deliveryLagSeconds: 1 },
    { noStatusMinMessages: 0 },
    { noStatusMinMessages: 10_001 },
    { repeatHours: 1000 },
    { quietHours: { ...quietHours, timeZone: 'Mars/Olympus' } },
    { quietHours: { ...quietHours, timeZone: '+02:00' } },
    { quietHours: { ...quietHours, until: '22:00' } },
    { quietHours: { ...quietHours, from: '7' } },
  ])
    expect((await owner.mutate('alert.update', { accountId, ...wrong })).statusCode).toBe(400)
})

import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import type { Alert } from '../../../contracts/dashboard/alert.ts'
import { deactivateWhatsAppAccount } from '../../../src/whatsapp-accounts/change.ts'
import { measureTraffic } from '../../../src/whatsapp-accounts/health/traffic.ts'
import { setChat } from '../../../src/webhooks/alerts/chat/chat.ts'
import { announceThresholds } from '../../../src/webhooks/alerts/rules/announce-thresholds.ts'
import { updateAlertRules } from '../../../src/webhooks/alerts/settings.ts'
import { listAlerts } from '../../../src/webhooks/alerts/alerts.ts'
import { cleanUpAlerts } from '../../../src/webhooks/alerts/store.ts'
import { messagesCallback, post, status } from '../../support/callbacks.ts'
import { exampleSend } from '../../support/example-send.ts'
import { readStoredHealth, setHealth } from '../../support/health.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'

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

/** Recipient of the sandbox for whom no status arrives. */
const silent = '15558000008'

interface Sending {
  minutesAgo?: number
  from?: string
  by?: TestAccount
}

/** Sends messages that WhatsApp accepted the given time ago. Returns the wamid of the last. */
async function send(count: number, { minutesAgo = 20, from, by = account }: Sending = {}): Promise<string> {
  now = new Date(Date.now() - minutesAgo * 60_000)
  const message = { ...exampleSend, to: silent, ...(from !== undefined && { accountId: from }) }
  let waMessageId = ''
  for (let sent = 0; sent < count; sent++) {
    const { data } = (await by.post('/api/v1/message/send', message)).json()
    waMessageId = String(data['waMessageId'])
  }
  now = new Date()
  return waMessageId
}

/** Reports a status and waits until its time is stored, which happens asynchronously. */
async function report(waMessageId: string, of: TestAccount = account): Promise<void> {
  const before = Date.now()
  await post(server, messagesCallback(of.phoneNumberId, [status('delivered', waMessageId)]))
  await expect.poll(() => readLastStatus(of)).toBeGreaterThan(before - 1_000)
}

async function readLastStatus(of: TestAccount): Promise<number> {
  return (await readStoredHealth(server.deps, of)).last_status_at?.getTime() ?? 0
}

/** Sets the time of the last status. */
async function setLastStatus(minutesAgo: number): Promise<void> {
  await setHealth(server.deps, account, { last_status_at: new Date(Date.now() - minutesAgo * 60_000) })
}

/** Counts and compares several times on both servers concurrently, as housekeeping does. */
async function check({ measure = true } = {}): Promise<void> {
  for (let round = 0; round < 2; round++) {
    if (measure) await sql`update whatsapp_account_health set next_traffic_at = now()`.execute(server.deps.db)
    await Promise.all([measureTraffic(server.deps), measureTraffic(node.deps)])
    await Promise.all([announceThresholds(server.deps), announceThresholds(node.deps)])
  }
}

const alerts = async (of: TestAccount = account): Promise<Alert[]> => listAlerts(server.deps, of.accountId)

async function countPosts(): Promise<number> {
  const { count } = await server.deps.db
    .selectFrom('chat_posts')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('account_id', '=', account.accountId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

test('alerts once when no status arrives, and once more when one does', async () => {
  await send(10)
  await check()
  expect(await alerts()).toMatchObject([
    {
      title: 'No statuses arrive for +15550100001',
      severity: 'critical',
      body: expect.stringContaining('WhatsApp accepted 10 messages more than ten minutes ago'),
      page: `whatsapp-accounts/${account.whatsAppAccountId}`,
    },
  ])
  expect(await countPosts()).toBe(1)

  await report(await send(1, { minutesAgo: 0 }))
  await check({ measure: false })

  expect(await alerts()).toMatchObject([{ recoveredAt: expect.any(String) }])
  expect(await countPosts()).toBe(2)
})

test('does not alert below the minimum number of messages of the account', async () => {
  await send(9)
  await check()
  expect(await alerts()).toEqual([])

  await updateAlertRules(server.deps, account.accountId, { noStatusMinMessages: 9 })
  await check()
  expect(await alerts()).toHaveLength(1)
})

test('does not alert while statuses arrive, even if some recipients report none', async () => {
  await send(12)
  await report(await send(1))
  await check()

  expect(await alerts()).toEqual([])
})

test('does not alert when a status arrived since the messages were counted', async () => {
  await send(10)
  await measureTraffic(server.deps)
  await report(await send(1, { minutesAgo: 0 }))
  await check({ measure: false })

  expect(await alerts()).toEqual([])
})

test.each([
  { when: 'a few minutes ago', minutesAgo: 9, lastStatus: 30 },
  { when: 'more than an hour ago', minutesAgo: 61, lastStatus: 90 },
  { when: 'before the last status', minutesAgo: 40, lastStatus: 30 },
])('does not count messages that WhatsApp accepted $when', async ({ minutesAgo, lastStatus }) => {
  await send(10, { minutesAgo })
  await setLastStatus(lastStatus)
  await check()

  expect(await alerts()).toEqual([])
})

test('counts the messages since the last status', async () => {
  await send(5, { minutesAgo: 50 })
  await setLastStatus(40)
  await send(10, { minutesAgo: 20 })
  await check()

  expect((await alerts())[0]?.body).toContain('WhatsApp accepted 10 messages')
})

test('does not resolve an alert when sending stops', async () => {
  await send(10)
  await check()
  now = new Date(Date.now() + 2 * 3_600_000)
  await check()

  expect(await alerts()).toMatchObject([{ title: 'No statuses arrive for +15550100001' }])
  expect((await alerts())[0]?.recoveredAt).toBeUndefined()
})

test('alerts only about the number without statuses', async () => {
  const other = await account.addWhatsAppAccount()
  const otherCustomer = await server.account()
  await send(10, { from: other })
  await report(await send(10))
  await report(await send(10, { by: otherCustomer }), otherCustomer)
  await check()

  expect(await alerts()).toMatchObject([{ page: `whatsapp-accounts/${other}` }])
  expect(await alerts(otherCustomer)).toEqual([])
})

test('closes the alert silently when the account turns it off, or deactivates the number', async () => {
  await send(10)
  await check()
  await updateAlertRules(server.deps, account.accountId, { noStatusMinMessages: null })
  await check()
  expect(await alerts()).toMatchObject([{ recoveredAt: expect.any(String) }])

  await updateAlertRules(server.deps, account.accountId, { noStatusMinMessages: 10 })
  await check()
  await deactivateWhatsAppAccount(server.deps, account)
  await cleanUpAlerts(server.deps.db)
  await check()

  expect((await alerts()).filter(({ recoveredAt }) => recoveredAt === undefined)).toEqual([])
  expect(await countPosts()).toBe(2)
})

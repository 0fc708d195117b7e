import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { jobs as jobFacts } from '../../../contracts/facts/jobs.ts'
import { readAccountHealth, readAllHealth } from '../../../src/whatsapp-accounts/health/read.ts'
import { recordCallbacks } from '../../../src/whatsapp-accounts/health/store.ts'
import { measureTraffic } from '../../../src/whatsapp-accounts/health/traffic.ts'
import { checkNow } from '../../../src/whatsapp-accounts/health/check.ts'
import { activateWhatsAppAccount, deactivateWhatsAppAccount } from '../../../src/whatsapp-accounts/change.ts'
import { replaceSecrets } from '../../../src/whatsapp-accounts/update.ts'
import { createHousekeeping, type JobLog } from '../../../src/background/housekeeping.ts'
import { announceChanges } from '../../../src/webhooks/alerts/announce-whatsapp-accounts.ts'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { exampleSend } from '../../support/example-send.ts'
import { setHealth } from '../../support/health.ts'
import { forFile } from '../../support/lifetime.ts'
import { listQueuedEvents } from '../../support/events.ts'
import { recordStatements } from '../../support/record-statements.ts'
import { nodeForTest, startTestServer, type TestAccount } from '../../support/server.ts'

let account: TestAccount
const accountEvents = [
  'whatsapp_account.inactive',
  'whatsapp_account.active',
  'whatsapp_account.token_expiring',
  'number.quality_changed',
]

const server = await forFile(startTestServer())
beforeEach(async () => {
  account = await server.account()
  await addEndpoint(server.deps, account.accountId, { url: 'http://127.0.0.1:9/', events: accountEvents })
})
afterEach(() => server.simulator.intercept(undefined))

/** The events that were queued for the endpoint of the account. */
async function listQueued(): Promise<Record<string, unknown>[]> {
  return (await listQueuedEvents(server.deps, account.accountId)).map(({ event }) => event)
}

const logged = (text: string) =>
  server.log.filter((line) => line.includes(text) && line.includes(account.whatsAppAccountId))

async function metric(): Promise<string | undefined> {
  const { text } = await server.request('GET', '/metrics')
  return text.split('\n').find((line) => line.includes('account_healthy{') && line.includes(account.whatsAppAccountId))
}

const owner = () => ({ accountId: account.accountId, whatsAppAccountId: account.whatsAppAccountId })

test('reports a token that is revoked under load everywhere, at the next of checks every three seconds', async () => {
  const intervals: number[] = []
  const jobLog: JobLog = { start: (_name, everySeconds) => (intervals.push(everySeconds), () => {}) }
  const retention = { retentionDays: 30, outcomeUnknownAfterSeconds: 3600 }
  const housekeeping = createHousekeeping(server.deps, { ...retention, jobLog })
  const load = setInterval(() => void account.post('/api/v1/message/send', exampleSend), 50)
  try {
    expect((await account.post('/api/v1/message/send', exampleSend)).statusCode).toBe(200)
    const { phoneNumberId, wabaId } = account
    server.simulator.addPhoneNumber({ phoneNumberId, wabaId, accessToken: 'another-token' })
    expect((await account.post('/api/v1/message/send', exampleSend)).statusCode).not.toBe(200)
    await housekeeping.run(jobFacts.announceAccountChanges)

    expect(intervals).toEqual([3])
    expect(await listQueued()).toMatchObject([
      {
        type: 'whatsapp_account.inactive',
        data: { accountId: account.whatsAppAccountId, by: 'whatsapp', isDefault: true },
      },
    ])
    expect(logged('it cannot send until')).toHaveLength(1)
    expect(await metric()).toMatch(/ 0$/)
    const health = (await account.get('/api/v1/account/health')).json().data
    expect(health).toMatchObject({
      canSend: false,
      healthy: false,
      whatsAppAccounts: [{ findings: [{ code: 'rejected' }] }],
    })
  } finally {
    clearInterval(load)
  }
})

test('announces each change once, from one of several nodes', async () => {
  const beside = await nodeForTest(server)
  await deactivateWhatsAppAccount(server.deps, account)

  await Promise.all([announceChanges(server.deps), announceChanges(beside.deps), announceChanges(server.deps)])
  await announceChanges(beside.deps)

  expect(await listQueued()).toMatchObject([
    { type: 'whatsapp_account.inactive', data: { by: 'user', reason: 'deactivated by a user' } },
  ])

  await activateWhatsAppAccount(server.deps, account)
  await announceChanges(server.deps)
  await announceChanges(server.deps)

  expect((await listQueued()).map(({ type }) => type)).toEqual(['whatsapp_account.inactive', 'whatsapp_account.active'])
})

test('announces the expiry of a token 14, 7 and 1 days ahead and on the last day, until it is replaced', async () => {
  const { phoneNumberId, wabaId } = account
  const expiresIn = async (days: number) => {
    await setHealth(server.deps, account, { token_expires_at: new Date(Date.now() + days * 86_400_000) })
    await announceChanges(server.deps)
    await announceChanges(server.deps)
  }
  for (const days of [20, 14.5, 10, 7.5, 3, 1.5, 0.5, -1]) await expiresIn(days)

  const daysLeft = (await listQueued()).map(({ data }) => (data as { daysLeft: number }).daysLeft)
  expect(daysLeft).toEqual([14, 7, 1, 0])

  server.simulator.addPhoneNumber({ phoneNumberId, wabaId, accessToken: 'token-without-expiry' })
  await replaceSecrets(server.deps, account.accountId, account.whatsAppAccountId, {
    accessToken: 'token-without-expiry',
  })
  await announceChanges(server.deps)
  await expiresIn(0.5)
  expect(await listQueued()).toHaveLength(5)
})

test('does not announce an expired token as expiring soon', async () => {
  await setHealth(server.deps, account, { token_expires_at: new Date(Date.now() - 3_600_000) })

  expect(await announceChanges(server.deps)).toBe(0)

  expect(await listQueued()).toEqual([])
})

test('announces a change of the quality rating once, but not the first rating', async () => {
  const rate = async (quality_rating: string) => {
    await server.deps.db
      .updateTable('whatsapp_accounts')
      .set({ quality_rating })
      .where('id', '=', account.whatsAppAccountId)
      .execute()
    await announceChanges(server.deps)
    await announceChanges(server.deps)
  }
  for (const rating of ['GREEN', 'UNKNOWN', 'YELLOW', 'NA', 'YELLOW', 'GREEN']) await rate(rating)

  expect(await listQueued()).toMatchObject([
    {
      type: 'number.quality_changed',
      data: { accountId: account.whatsAppAccountId, previousQualityRating: 'GREEN', qualityRating: 'YELLOW' },
    },
    { type: 'number.quality_changed', data: { previousQualityRating: 'YELLOW', qualityRating: 'GREEN' } },
  ])
  const levels = logged('quality rating of a number').map((line) => (JSON.parse(line) as { level: string }).level)
  expect(levels).toEqual(['warn', 'info'])
})

test('opens no transaction if there is nothing to announce', async () => {
  await announceChanges(server.deps)
  using transactions = vi.spyOn(server.deps.db, 'transaction')

  expect(await announceChanges(server.deps)).toBe(0)

  expect(transactions).not.toHaveBeenCalled()
})

const minutes = 60_000

type Status = 'sent' | 'delivered' | 'read' | 'failed' | 'pending'

/** Inserts a message of this age. */
const insertMessage = (age: number, status: Status, code?: string) =>
  insertMessageAt(new Date(Date.now() - age), status, { code })

function insertMessageAt(
  createdAt: Date,
  status: Status,
  { code, from = account.whatsAppAccountId }: { code?: string | undefined; from?: string } = {},
) {
  return server.deps.db
    .insertInto('messages')
    .values({
      account_id: account.accountId,
      id: server.deps.newId('msg', createdAt),
      whatsapp_account_id: from,
      status,
      error_code: code ?? null,
      to_number: '34600111222',
      template_name: 't',
      template_language: 'en',
      created_at: createdAt,
    })
    .execute()
}

/** Counts again without waiting a minute. */
async function measureAgain() {
  await server.deps.db
    .updateTable('whatsapp_account_health')
    .set({ next_traffic_at: new Date(0) })
    .execute()
  await measureTraffic(server.deps)
}

const findingCodes = async () =>
  (await readAllHealth(server.deps))
    .find(({ whatsAppAccountId }) => whatsAppAccountId === account.whatsAppAccountId)
    ?.findings.map(({ code }) => code)

test('reports missing statuses in log, metric and health findings until the next status', async () => {
  await insertMessage(1 * minutes, 'sent')
  await insertMessage(10 * minutes, 'pending')
  await measureAgain()
  expect(await findingCodes()).not.toContain('no_statuses')

  await insertMessage(6 * minutes, 'sent')
  await measureAgain()
  await measureAgain()
  expect(await findingCodes()).toContain('no_statuses')
  expect(await metric()).toMatch(/ 0$/)
  expect(logged('no status has arrived since')).toHaveLength(1)

  await recordCallbacks(server.deps.db, [account.whatsAppAccountId], 'statuses')
  expect(await findingCodes()).not.toContain('no_statuses')
})

test('reports no missing statuses if the last one came within seconds of an earlier one', async () => {
  const seconds = 1000
  const statusAt = new Date(Date.now() - 6 * minutes)
  const later = (milliseconds: number) => new Date(statusAt.getTime() + milliseconds)
  // A server stores the time of the first of several statuses that arrive within ten seconds.
  await setHealth(server.deps, account, { last_status_at: statusAt })
  await insertMessageAt(later(-seconds), 'read')
  await insertMessageAt(later(3 * seconds), 'read')
  await measureAgain()
  expect(await findingCodes()).not.toContain('no_statuses')

  await insertMessageAt(later(3 * seconds), 'sent')
  await measureAgain()
  expect(await findingCodes()).not.toContain('no_statuses')

  await insertMessageAt(later(15 * seconds), 'sent')
  await measureAgain()
  expect(await findingCodes()).toContain('no_statuses')
})

test('reports no missing statuses before the first stored time if messages have statuses', async () => {
  await insertMessage(20 * minutes, 'sent')
  await insertMessage(10 * minutes, 'read')

  await measureAgain()

  expect(await findingCodes()).not.toContain('no_statuses')
})

test('reports frequent failures in the log and the health findings', async () => {
  for (let n = 0; n < 15; n++) await insertMessage(2 * minutes, 'sent')
  for (let n = 0; n < 10; n++) await insertMessage(2 * minutes, 'failed', '131026')

  await measureAgain()

  expect(await findingCodes()).toContain('failures_frequent')
  expect(logged('10 of 25 messages of the last hour failed, most often with code 131026')).toHaveLength(1)
})

test('logs a problem when it is found and when it is solved, not at every check', async () => {
  const { phoneNumberId, wabaId } = account
  const number = server.simulator.addPhoneNumber({ phoneNumberId, wabaId, accessToken: 'token-of-this-test' })
  await replaceSecrets(server.deps, account.accountId, account.whatsAppAccountId, { accessToken: number.accessToken })
  number.qualityRating = 'RED'

  await checkNow(server.deps, owner())
  await checkNow(server.deps, owner())
  expect(logged('quality rating of the number is low')).toHaveLength(1)
  const findings = (await account.trpc.account.health.query({})).whatsAppAccounts[0]?.findings
  expect(findings?.map(({ code }) => code)).toContain('quality_low')

  number.qualityRating = 'GREEN'
  await checkNow(server.deps, owner())
  await checkNow(server.deps, owner())
  expect(logged('problem resolved').filter((line) => line.includes('quality_low'))).toHaveLength(1)
})

test('stores the state of token, number, subscription and callback URL that WhatsApp reports', async () => {
  const { phoneNumberId, wabaId } = account
  const accessToken = 'token-that-expires'
  server.simulator.addApp({ id: '300000000000055', name: 'App', secret: 'test-app-secret' })
  server.simulator.addPhoneNumber({
    phoneNumberId,
    wabaId,
    accessToken,
    nameStatus: 'DECLINED',
    messagingLimit: 'TIER_2K',
  })
  const expiresAt = Math.floor(Date.now() / 1000) + 3 * 86_400
  server.simulator.addToken(accessToken, { appId: '300000000000055', wabaIds: [wabaId], expiresAt })
  await replaceSecrets(server.deps, account.accountId, account.whatsAppAccountId, { accessToken })

  await checkNow(server.deps, owner())

  const [health] = (await account.trpc.account.health.query({})).whatsAppAccounts
  expect(health).toMatchObject({
    active: true,
    token: { valid: true, expiresAt: new Date(expiresAt * 1000).toISOString(), missingPermissions: [] },
    number: { status: 'CONNECTED', nameStatus: 'DECLINED', qualityRating: 'GREEN', messagingLimit: 'TIER_2K' },
    callbacks: { subscribed: true, fields: [] },
    lastHour: { sent: 0, failed: 0, failures: [] },
  })
  expect(health?.findings.map(({ code }) => code)).toEqual(
    expect.arrayContaining(['callback_missing', 'token_expiring', 'name_declined']),
  )
})

test('keeps the last value of a state that cannot be read', async () => {
  await checkNow(server.deps, owner())
  const before = (await account.trpc.account.health.query({})).whatsAppAccounts[0]
  server.simulator.intercept(() => ({ kind: 'drop' }))

  await checkNow(server.deps, owner())
  server.simulator.intercept(undefined)

  expect((await account.trpc.account.health.query({})).whatsAppAccounts[0]).toEqual(before)
})

test('shows an account only its own health', async () => {
  const other = await server.account()

  const { data } = (await other.get('/api/v1/account/health')).json()

  expect(JSON.stringify(data)).not.toContain(account.whatsAppAccountId)
  expect((await server.request('GET', '/api/v1/account/health')).statusCode).toBe(401)
})

test('stores the times of callbacks and statuses', async () => {
  server.simulator.reportTo({ url: `${server.url}/webhooks/whatsapp`, appSecret: 'test-app-secret' })
  const { messageId } = (await account.post('/api/v1/message/send', exampleSend)).json().data

  // Waits for the last callback, so that none arrives while the server closes.
  await expect
    .poll(async () => (await account.trpc.message.get.query({ messageId: String(messageId) })).status)
    .toBe('read')
  await expect
    .poll(async () => (await account.trpc.account.health.query({})).whatsAppAccounts[0]?.callbacks)
    .toMatchObject({ lastCallbackAt: expect.any(String), lastStatusAt: expect.any(String) })
  server.simulator.reportTo(undefined)
})

test('counts the last hour of all numbers in one pass', async () => {
  const second = await account.addWhatsAppAccount()
  await account.addWhatsAppAccount()
  await insertMessage(0, 'sent')
  await insertMessage(0, 'failed', '131026')
  for (const status of ['delivered', 'failed'] as const) await insertMessageAt(new Date(), status, { from: second })
  const { db, statements } = recordStatements(server.deps.db)

  const health = await readAccountHealth({ ...server.deps, db }, account.accountId)

  expect(health.whatsAppAccounts.map(({ lastHour }) => lastHour)).toEqual([
    { sent: 1, failed: 1, failures: [{ code: '131026', count: 1 }] },
    { sent: 1, failed: 1, failures: [{ code: 'UNKNOWN', count: 1 }] },
    { sent: 0, failed: 0, failures: [] },
  ])
  expect(statements.filter((statement) => statement.includes('from messages'))).toHaveLength(1)
})

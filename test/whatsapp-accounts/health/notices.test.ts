import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkNow } from '../../../src/whatsapp-accounts/health/check.ts'
import { listActive, mergeNotices } from '../../../src/whatsapp-accounts/health/notices.ts'
import { announceNotices } from '../../../src/webhooks/alerts/notices.ts'
import { cleanUpAlerts } from '../../../src/webhooks/alerts/store.ts'
import { failWith } from '../../../src/whatsapp/simulator/errors.ts'
import { ok } from '../../../src/whatsapp/simulator/exchange.ts'
import { appSecret, callbackPath, getMessage, post, sendOne } from '../../support/callbacks.ts'
import { eventually } from '../../support/eventually.ts'
import { readStoredHealth } from '../../support/health.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'
import { signedInOwner } from '../../support/user.ts'

let now: Date
const server = await forFile(startTestServer({ deps: { now: () => now } }))
server.simulator.reportTo({ url: server.url + callbackPath, appSecret })
let account: TestAccount
let portfolioId: string
beforeEach(async () => {
  now = new Date()
  account = await server.account()
  portfolioId = `9${account.wabaId.slice(1)}`
  await check(account)
})
afterEach(() => server.simulator.intercept(undefined))

const check = ({ accountId, whatsAppAccountId }: TestAccount) => checkNow(server.deps, { accountId, whatsAppAccountId })

const day = 86_400
const nowInSeconds = () => Math.floor(now.getTime() / 1000)

/** As WhatsApp reports it, about the portfolio if no other entry is given. */
async function receive(value: object, { id = portfolioId, field = 'account_update', time = nowInSeconds() } = {}) {
  const callback = { object: 'whatsapp_business_account', entry: [{ id, time, changes: [{ field, value }] }] }
  expect((await post(server, callback)).statusCode).toBe(200)
  await Promise.all([announceNotices(server.deps), announceNotices(server.deps)])
}

async function listFindings(of = account) {
  const { whatsAppAccounts } = await of.trpc.account.health.query({})
  return whatsAppAccounts.flatMap(({ findings }) => findings).filter(({ code }) => code.startsWith('account_'))
}

async function listAlerts(of = account) {
  const viewer = await signedInOwner(server, of.accountId, { role: 'viewer' })
  const { data } = await viewer.query<{
    items: { title: string; body: string; severity: string; page: string; recoveredAt?: string }[]
  }>('alert.list', { accountId: of.accountId })
  return data.items
}

const restrict = (violation: string, restrictions: [type: string, days: number][] = []) => ({
  event: 'ACCOUNT_RESTRICTION',
  violation_info: { violation_type: violation },
  ...(restrictions.length > 0 && {
    restriction_info: restrictions.map(([restriction_type, days]) => ({
      restriction_type,
      expiration: nowInSeconds() + days * day,
    })),
  }),
})

test('reports a restriction of the portfolio for all its numbers, with one alert, until it is over', async () => {
  await account.addWhatsAppAccount()
  const other = await server.account()
  await check(other)
  const second = await server.deps.db
    .selectFrom('whatsapp_accounts')
    .select('id')
    .where('account_id', '=', account.accountId)
    .where('id', '!=', account.whatsAppAccountId)
    .executeTakeFirstOrThrow()
  await checkNow(server.deps, { accountId: account.accountId, whatsAppAccountId: second.id })

  await receive(
    restrict('SPAM', [
      ['RESTRICTED_BIZ_INITIATED_MESSAGING', 5],
      ['RESTRICTED_CUSTOMER_INITIATED_MESSAGING', 5],
      ['RESTRICTED_ADD_PHONE_NUMBER_ACTION', 7],
    ]),
  )

  const finding = {
    code: 'account_restricted',
    severity: 'error',
    blocksSending: true,
    message: expect.stringContaining('RESTRICTED_BIZ_INITIATED_MESSAGING ('),
  }
  expect(await listFindings()).toMatchObject([finding, finding])
  expect(await listFindings(other)).toEqual([])
  expect(await listAlerts()).toMatchObject([
    { title: expect.stringMatching(/^WhatsApp has restricted /), severity: 'critical', page: 'whatsapp-accounts' },
  ])
  expect(await listAlerts(other)).toEqual([])

  await receive(restrict('SPAM_UNBAN'))
  expect(await listFindings()).toEqual([])
  expect(await listAlerts()).toMatchObject([{ recoveredAt: expect.any(String) }])
})

test('says what WhatsApp advises to do about a restriction', async () => {
  const until = nowInSeconds() + day
  const restriction = { restriction_type: 'RESTRICTED_UTILITY_TEMPLATES', expiration: until, remediation: 'Appeal.' }
  await receive({ ...restrict('UTILITY_TEMPLATE_ABUSE'), restriction_info: [restriction, { remediation: 'Not this' }] })

  expect(await listFindings()).toMatchObject([
    { code: 'account_restricted', message: expect.stringContaining('UTILITY_TEMPLATE_ABUSE: Appeal, RESTRICTED_') },
  ])
})

test.each([
  {
    field: 'account_update',
    value: { event: 'VOLUME_BASED_PRICING_TIER_UPDATE', volume_tier_info: { tier: '100001' } },
  },
  { field: 'security', value: { display_phone_number: '15550100', event: 'PIN_CHANGED', requester: '1' } },
  { field: 'history', value: { history: [{ metadata: { phase: 0 } }] } },
])('reports no problem because of $field $value.event', async ({ field, value }) => {
  await receive(value, { field, id: account.wabaId })

  const { whatsAppAccounts } = await account.trpc.account.health.query({})
  expect(whatsAppAccounts).toMatchObject([{ active: true, healthy: true, canSend: true }])
  expect(await listFindings()).toEqual([])
})

test('reports that another app answers conversations, and applies nothing of them', async () => {
  const { messageId, waMessageId } = await sendOne(account, { to: '15558000008' })
  const metadata = { display_phone_number: '15550100', phone_number_id: account.phoneNumberId }
  const delivered = { id: waMessageId, status: 'delivered', timestamp: String(nowInSeconds()) }
  await receive({ metadata, statuses: [delivered] }, { field: 'standby', id: account.wabaId })

  const listCodes = async () => {
    const { whatsAppAccounts } = await account.trpc.account.health.query({})
    return whatsAppAccounts.flatMap(({ findings }) => findings.map(({ code }) => code))
  }
  await eventually(async () => expect(await listCodes()).toContain('conversations_elsewhere'))
  expect(await getMessage(account, messageId)).toMatchObject({ status: 'sent' })

  now = new Date(now.getTime() + 25 * 3_600_000)
  expect(await listCodes()).not.toContain('conversations_elsewhere')
})

test('reports a business account without a payment method, if WhatsApp lets the app know', async () => {
  const checkWith = async (payment: { payment?: 'missing' | 'present' }) => {
    server.simulator.setBusinessAccount(account.wabaId, { name: 'Shop', ...payment })
    await check(account)
    return (await account.trpc.account.health.query({})).whatsAppAccounts[0]
  }
  const missing = { healthy: true, findings: [{ code: 'payment_method_missing' }] }
  expect(await checkWith({ payment: 'missing' })).toMatchObject(missing)
  expect(await checkWith({ payment: 'present' })).toMatchObject({ findings: [] })

  expect(await checkWith({ payment: 'missing' })).toMatchObject(missing)
  server.simulator.intercept(({ query }) =>
    query.get('fields')?.includes('primary_funding_id') ? failWith(2) : undefined,
  )
  expect(await checkWith({ payment: 'present' }), 'not known').toMatchObject(missing)

  server.simulator.intercept(undefined)
  expect(await checkWith({}), 'not readable').toMatchObject({
    findings: [],
    marketing: { onboardingStatus: 'ONBOARDED' },
  })

  // A provider with an API of its own names neither.
  server.simulator.intercept(({ path }) => (path === `/${account.wabaId}` ? ok({ id: account.wabaId }) : undefined))
  expect(await checkWith({ payment: 'missing' })).toMatchObject({ findings: [] })
})

test('stores texts that end within an emoji', async () => {
  const alert = { alert_type: 'SOMETHING_NEW', alert_severity: 'CRITICAL' }

  await receive({ ...alert, alert_description: `${'a'.repeat(499)}🚚` }, { field: 'account_alerts' })
  await receive({ ...alert, alert_type: 'OTHER', alert_description: '\ud83d' }, { field: 'account_alerts' })

  expect(await listFindings()).toMatchObject([
    { code: 'account_alert', message: expect.stringMatching(/SOMETHING_NEW: a{499}; OTHER: \ufffd/) },
  ])
})

test('ends each restriction when it expires, without a report', async () => {
  await receive(
    restrict('SPAM', [
      ['RESTRICTED_BIZ_INITIATED_MESSAGING', 5],
      ['RESTRICTED_ADD_PHONE_NUMBER_ACTION', 7],
    ]),
  )
  const later = (days: number) => new Date(now.getTime() + days * day * 1000)

  now = later(6)
  expect(await listFindings()).toMatchObject([
    { code: 'account_restricted', severity: 'warning', blocksSending: false },
  ])
  await announceNotices(server.deps)
  expect((await listAlerts()).map(({ recoveredAt }) => recoveredAt)).toEqual([undefined])

  now = later(2)
  expect(await listFindings()).toEqual([])
  await announceNotices(server.deps)
  expect(await listAlerts()).toMatchObject([{ recoveredAt: expect.any(String) }])
})

test('deletes each notice when it has expired', async () => {
  await receive({ ...restrict('SPAM', [['RESTRICTED_UTILITY_TEMPLATES', 2]]) })
  await receive(restrict('ADULT', [['RESTRICTED_UTILITY_TEMPLATES', 10]]))
  const readTypes = async () => {
    const { notices } = await readStoredHealth(server.deps, account)
    return notices.map(({ key }) => key)
  }
  const before = await readTypes()
  expect(before).toHaveLength(2)

  now = new Date(now.getTime() + 3 * day * 1000)
  await announceNotices(server.deps)
  expect(await readTypes()).toEqual(before.slice(1))

  now = new Date(now.getTime() + 40 * day * 1000)
  await announceNotices(server.deps)
  expect(await readTypes()).toEqual([])
})

test('takes a warning and its end for what they are, whatever the order in which they arrive', async () => {
  const time = nowInSeconds() - 60
  await receive(restrict('UTILITY_TEMPLATE_ABUSE'), { time })
  expect(await listFindings()).toMatchObject([{ code: 'account_warned', severity: 'warning' }])

  await receive(restrict('UTILITY_TEMPLATE_ABUSE_UNBAN'), { time: time + 20 })
  await receive(restrict('UTILITY_TEMPLATE_ABUSE'), { time: time + 10 })
  expect(await listFindings()).toEqual([])
  expect(await listAlerts()).toMatchObject([{ title: expect.stringMatching(/^WhatsApp has warned /) }])
})

test('alerts again about a further problem, but not about a repeated callback', async () => {
  const time = nowInSeconds() - 60
  await receive(restrict('UTILITY_TEMPLATE_ABUSE'), { time })
  const [first] = await listAlerts()
  await receive(restrict('UTILITY_TEMPLATE_ABUSE'), { time })
  expect(await listAlerts()).toEqual([first])

  await receive(restrict('SPAM', [['RESTRICTED_ADD_PHONE_NUMBER_ACTION', 5]]), { time })
  expect(await listAlerts()).toMatchObject([{ title: expect.stringMatching(/^WhatsApp has restricted /) }])
})

test('applies what is about one number to that number only', async () => {
  const { phoneNumberId, wabaId } = account
  server.simulator.addPhoneNumber({ phoneNumberId, wabaId, accessToken: 'one', displayPhoneNumber: '+1 555-0100' })
  await server.deps.db
    .updateTable('whatsapp_accounts')
    .set({ display_phone_number: '+1 555-0100' })
    .where('id', '=', account.whatsAppAccountId)
    .execute()
  await account.addWhatsAppAccount({})

  await receive({ ...restrict('SPAM'), phone_number: '15550100' }, { id: wabaId })
  await receive(
    { entity_type: 'PHONE_NUMBER', entity_id: phoneNumberId, alert_type: 'OBA_REJECTED', alert_status: 'ACTIVE' },
    { id: wabaId, field: 'account_alerts' },
  )
  await receive({ event: 'PARTNER_REMOVED', phone_number: '15550100', waba_info: { waba_id: wabaId } })

  const { whatsAppAccounts } = await account.trpc.account.health.query({})
  expect(whatsAppAccounts.map(({ active }) => active)).toEqual([false, true])
  expect(
    whatsAppAccounts.map(({ findings }) =>
      findings.map(({ code }) => code).filter((code) => code.startsWith('account_')),
    ),
  ).toEqual([['account_warned', 'account_alert'], []])
})

test('does not stop sending because an unnamed business account of the portfolio was removed', async () => {
  await receive({ event: 'PARTNER_REMOVED' })
  expect(await sendOne(account)).toMatchObject({ waMessageId: expect.any(String) })
})

test('applies a messaging limit to all numbers of the portfolio at once', async () => {
  await receive({ max_daily_conversations_per_business: 2000 }, { field: 'business_capability_update' })
  const { whatsAppAccounts } = await account.trpc.account.health.query({})
  expect(whatsAppAccounts).toMatchObject([{ number: { messagingLimit: 'TIER_2K', portfolioId } }])
  expect(server.log.filter((line) => line.includes(account.whatsAppAccountId)).join()).toContain(
    'WhatsApp changed the messaging limit',
  )
})

test('forgets the portfolio and closes its alerts with the WhatsApp account', async () => {
  await receive(restrict('SPAM'))
  await server.deps.db.deleteFrom('whatsapp_account_health').where('account_id', '=', account.accountId).execute()
  await server.deps.db.deleteFrom('whatsapp_accounts').where('account_id', '=', account.accountId).execute()
  await cleanUpAlerts(server.deps.db)
  expect(await listAlerts()).toMatchObject([{ recoveredAt: expect.any(String) }])
})

test.each([
  { to: '15556000001', limit: 'TIER_2K', codes: [] },
  { to: '15556000002', limit: 'TIER_50', codes: [] },
  { to: '15556000003', limit: 'TIER_250', codes: [], throughput: 'HIGH' },
  { to: '15556000004', limit: 'TIER_250', codes: ['account_alert'] },
  { to: '15556000006', limit: 'TIER_250', codes: ['account_warned'], end: '15556000010' },
  { to: '15556000007', limit: 'TIER_250', codes: ['account_restricted'], end: '15556000008' },
  { to: '15556000009', limit: 'TIER_250', codes: ['account_restricted'], end: '15556000010' },
])('the sandbox reports what $to stands for', async ({ to, limit, codes, throughput = 'STANDARD', end }) => {
  const readState = async () => {
    now = new Date()
    await check(account)
    const { whatsAppAccounts } = await account.trpc.account.health.query({})
    const [{ number, findings } = { number: {}, findings: [] }] = whatsAppAccounts
    return { number, codes: findings.map(({ code }) => code).filter((code) => code.startsWith('account_')) }
  }
  await sendOne(account, { to })
  await eventually(async () =>
    expect(await readState()).toMatchObject({ number: { messagingLimit: limit, throughputLevel: throughput }, codes }),
  )
  if (end === undefined) return
  await sendOne(account, { to: end })
  await eventually(async () => expect(await readState()).toMatchObject({ codes: [] }))
})

test('keeps few notices, however many WhatsApp reports', () => {
  const at = new Date('2026-11-20T12:00:00Z')
  const reported = Array.from({ length: 100 }, (_, index) => ({
    key: `warning ${index}`,
    kind: 'warning' as const,
    type: String(index),
    restrictions: [],
    at,
    isOver: false,
  }))
  expect(listActive(mergeNotices([], reported, at), at)).toHaveLength(20)
})

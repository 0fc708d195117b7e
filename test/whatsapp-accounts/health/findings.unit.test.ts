import { expect, test } from 'vitest'
import { inEnglish } from '../../../contracts/facts/fact.ts'
import { connectFacts } from '../../../contracts/facts/connect.ts'
import { findings, inactiveReasons } from '../../../contracts/facts/findings.ts'
import { findProblems, findVersionProblems, type HealthFacts } from '../../../src/whatsapp-accounts/health/findings.ts'
import { rejectedWith } from '../../../src/whatsapp-accounts/inactive-reason.ts'
import { callbackFields, requiredCallbackFields } from '../../../src/whatsapp/callbacks/subscription.ts'
import { newestVersion } from '../../../src/whatsapp/graph-versions.ts'

const now = new Date('2026-11-20T12:00:00Z')
const url = 'https://waybill.example.com/webhooks/whatsapp'

const healthy: HealthFacts = {
  whatsAppAccountId: 'wa_1',
  switchedOff: false,
  graphVersion: newestVersion,
  inactiveReason: undefined,
  hasAppSecret: true,
  tokenProblem: undefined,
  tokenExpiresAt: undefined,
  missingPermissions: [],
  numberStatus: 'CONNECTED',
  nameStatus: 'APPROVED',
  qualityRating: 'GREEN',
  health: [{ entity: 'PHONE_NUMBER', canSend: 'AVAILABLE', reasons: [] }],
  subscribed: true,
  subscriptionProblem: undefined,
  callbackCheckedAt: now,
  callbackUrl: url,
  callbackFields: [...callbackFields],
  callbackProblem: undefined,
  expectedCallbackUrl: url,
  lastStatusAt: now,
  traffic: {
    sent: 100,
    failed: 1,
    failures: [{ code: '131026', count: 1 }],
    lastAcceptedAt: '2026-11-20T11:50:00.000Z',
  },
  failureRatePercent: 20,
  failureRateMinMessages: 20,
}

const codes = (facts: Partial<HealthFacts>) =>
  findProblems({ ...healthy, ...facts }, now).map(({ code, severity, blocksSending }) => [
    code,
    severity,
    blocksSending,
  ])

test('finds nothing for a working account or one without known facts', () => {
  expect(codes({})).toEqual([])
  expect(
    codes({
      numberStatus: undefined,
      nameStatus: undefined,
      qualityRating: undefined,
      health: [],
      subscribed: undefined,
      callbackCheckedAt: undefined,
      callbackUrl: undefined,
      callbackFields: [],
      lastStatusAt: undefined,
      traffic: undefined,
    }),
  ).toEqual([])
})

const inDays = (days: number) => new Date(now.getTime() + days * 86_400_000)

const missing = { statuses: 3, reportedAt: inDays(-6), sentFrom: inDays(-7), sentUntil: inDays(-6) }

test.each<{ facts: Partial<HealthFacts>; finding: [string, 'error' | 'warning', boolean] }>([
  { facts: { missing }, finding: ['messages_missing', 'warning', false] },
  { facts: { switchedOff: true, inactiveReason: 'token' }, finding: ['deactivated', 'warning', true] },
  { facts: { inactiveReason: rejectedWith({ code: 190, title: 'expired' }) }, finding: ['rejected', 'error', true] },
  {
    facts: { inactiveReason: inactiveReasons.disabled({ event: 'SCHEDULE_FOR_DISABLE' }) },
    finding: ['disabled', 'error', true],
  },
  { facts: { tokenExpiresAt: inDays(-0.1) }, finding: ['token_expired', 'error', true] },
  { facts: { tokenProblem: 'Session has expired.' }, finding: ['token_invalid', 'error', true] },
  { facts: { tokenExpiresAt: inDays(14.5) }, finding: ['token_expiring', 'warning', false] },
  { facts: { tokenExpiresAt: inDays(0.5) }, finding: ['token_expiring', 'warning', false] },
  { facts: { missingPermissions: ['whatsapp_business_messaging'] }, finding: ['permission_missing', 'error', true] },
  { facts: { missingPermissions: ['whatsapp_business_management'] }, finding: ['permission_missing', 'error', false] },
  { facts: { numberStatus: 'PENDING' }, finding: ['number_pending', 'error', true] },
  { facts: { hasPaymentMethod: false }, finding: ['payment_method_missing', 'warning', false] },
  {
    facts: { lastStandbyAt: new Date('2026-11-19T13:00:00Z') },
    finding: ['conversations_elsewhere', 'warning', false],
  },
  { facts: { numberStatus: 'PENDING', onBusinessApp: true }, finding: ['number_not_linked', 'error', true] },
  { facts: { numberStatus: 'BANNED', onBusinessApp: true }, finding: ['number_banned', 'error', true] },
  { facts: { numberStatus: 'BANNED' }, finding: ['number_banned', 'error', true] },
  { facts: { numberStatus: 'FLAGGED' }, finding: ['number_flagged', 'warning', false] },
  { facts: { qualityRating: 'RED' }, finding: ['quality_low', 'warning', false] },
  { facts: { nameStatus: 'DECLINED' }, finding: ['name_declined', 'warning', false] },
  {
    facts: { health: [{ entity: 'WABA', canSend: 'BLOCKED', reasons: [{ description: 'Payment', solution: 'Pay' }] }] },
    finding: ['waba_blocked', 'error', true],
  },
  {
    facts: { health: [{ entity: 'BUSINESS', canSend: 'LIMITED', reasons: [] }] },
    finding: ['business_limited', 'warning', false],
  },
  { facts: { hasAppSecret: false }, finding: ['app_secret_missing', 'error', false] },
  { facts: { subscribed: false, subscriptionProblem: 'refused' }, finding: ['not_subscribed', 'error', false] },
  { facts: { callbackUrl: undefined, callbackFields: [] }, finding: ['callback_missing', 'error', false] },
  { facts: { callbackUrl: 'https://elsewhere.example/' }, finding: ['callback_elsewhere', 'warning', false] },
  { facts: { callbackOverride: 'https://elsewhere.example/' }, finding: ['callback_overridden', 'warning', false] },
  {
    facts: { callbackOverride: url, callbackUrl: 'https://elsewhere.example/', callbackFields: ['messages'] },
    finding: ['callback_overridden', 'warning', false],
  },
  // The override is of no use without the field.
  { facts: { callbackOverride: url, callbackFields: [] }, finding: ['field_messages_missing', 'error', false] },
  { facts: { callbackFields: ['account_update'] }, finding: ['field_messages_missing', 'error', false] },
  { facts: { callbackFields: ['messages'] }, finding: ['fields_missing', 'warning', false] },
  { facts: { callbackProblem: 'Meta got HTTP 502' }, finding: ['callback_problem', 'warning', false] },
  { facts: { lastStatusAt: inDays(-1) }, finding: ['no_statuses', 'error', false] },
  { facts: { lastStatusAt: undefined }, finding: ['no_statuses', 'error', false] },
  {
    facts: { traffic: { sent: 70, failed: 30, failures: [{ code: '131049', count: 30 }] } },
    finding: ['failures_frequent', 'warning', false],
  },
  {
    facts: { failureRateMinMessages: 5, traffic: { sent: 2, failed: 3, failures: [] } },
    finding: ['failures_frequent', 'warning', false],
  },
  // v21.0 ends on 2027-01-21, and v20.0 ended on 2026-09-24.
  { facts: { graphVersion: 'v21.0' }, finding: ['graph_version_ending', 'warning', false] },
  { facts: { graphVersion: 'v20.0' }, finding: ['graph_version_ending', 'warning', false] },
  {
    facts: { failureRatePercent: 5, traffic: { sent: 94, failed: 6, failures: [] } },
    finding: ['failures_frequent', 'warning', false],
  },
])('finds $finding for $facts', ({ facts, finding }) => {
  expect(codes(facts)).toEqual([finding])
})

test.each([
  { facts: { tokenExpiresAt: inDays(15.1) } },
  { facts: { graphVersion: 'v22.0' } },
  { facts: { graphVersion: 'v26.0' } },
  { facts: { graphVersion: 'v99.0' } },
  { facts: { numberStatus: 'SOMETHING_NEW' } },
  { facts: { qualityRating: 'YELLOW' } },
  { facts: { traffic: { sent: 1, failed: 9, failures: [] } } },
  { facts: { failureRatePercent: 30, traffic: { sent: 70, failed: 30, failures: [] } } },
  { facts: { failureRatePercent: null, traffic: { sent: 0, failed: 100, failures: [] } } },
  // The first seconds of traffic after an hour without any.
  { facts: { lastStatusAt: inDays(-1), traffic: { sent: 50, failed: 0, failures: [] } } },
  { facts: { expectedCallbackUrl: undefined, callbackUrl: 'https://elsewhere.example/' } },
  { facts: { callbackFields: [...requiredCallbackFields] } },
  { facts: { callbackOverride: url } },
  { facts: { callbackOverride: 'https://elsewhere.example/', expectedCallbackUrl: undefined } },
])('finds nothing for $facts', ({ facts }) => {
  expect(codes(facts)).toEqual([])
})

test('lists errors first, and those that block sending before the others', () => {
  const found = codes({ tokenExpiresAt: inDays(3), subscribed: false, numberStatus: 'BANNED' })

  expect(found.map(([code]) => code)).toEqual(['number_banned', 'not_subscribed', 'token_expiring'])
})

test('reports no other app a day after its last conversation', () => {
  expect(codes({ lastStandbyAt: new Date('2026-11-19T12:00:00Z'), hasPaymentMethod: true })).toEqual([])
})

test('gives advice for every finding', () => {
  const findings = findProblems(
    {
      ...healthy,
      inactiveReason: 'no',
      numberStatus: 'PENDING',
      subscribed: false,
      hasAppSecret: false,
      qualityRating: 'RED',
    },
    now,
  )

  for (const { message, fix } of findings) {
    expect(inEnglish(message)).toMatch(/\.$/)
    expect(inEnglish(fix).length).toBeGreaterThan(10)
  }
})

test.each([
  {
    inactiveReason: rejectedWith({ code: 190, title: 'Access token has expired.' }),
    says: 'WhatsApp rejects the access token: Access token has expired (error 190).',
  },
  { inactiveReason: rejectedWith({ code: 190, title: '' }), says: 'WhatsApp rejects the access token: error 190.' },
  {
    inactiveReason: rejectedWith({ code: 200, title: 'Error', details: 'Permissions error' }),
    says: 'The access token lacks a permission, or the account is not assigned to its system user: Permissions error (error 200).',
  },
  {
    inactiveReason: rejectedWith({ code: 131031, title: 'Business Account locked' }),
    says: 'WhatsApp rejected this account: Business Account locked (error 131031).',
  },
  { inactiveReason: 'no', says: 'WhatsApp rejected this account: no.' },
  // As the version before stored them.
  {
    inactiveReason: 'WhatsApp rejected it (190): Access token has expired.',
    says: 'WhatsApp rejects the access token: Access token has expired (error 190).',
  },
  { inactiveReason: 'WhatsApp returned error code 190', says: 'WhatsApp rejects the access token: error 190.' },
])('says once why WhatsApp rejected an account: $says', ({ inactiveReason, says }) => {
  const [finding] = findProblems({ ...healthy, inactiveReason }, now)

  expect(finding && inEnglish(finding.message)).toBe(says)
})

test.each([
  { tokenProblem: 'Session has expired.', says: 'WhatsApp rejects the access token: Session has expired.' },
  { tokenProblem: findings.tokenInvalid(), says: 'WhatsApp says that the access token is not valid.' },
])('says what is wrong with a token in the words of WhatsApp, or by its fact: $says', ({ tokenProblem, says }) => {
  const [finding] = findProblems({ ...healthy, tokenProblem }, now)

  expect(finding && inEnglish(finding.message)).toBe(says)
})

test('says why a token could not be refreshed by the fact', () => {
  const tokenRefreshProblem = connectFacts.refresh.notLater()
  const [finding] = findProblems({ ...healthy, tokenExpiresAt: inDays(1.5), tokenRefreshProblem }, now)

  expect(finding?.message.params).toMatchObject({ problem: { code: 'connect.refresh.notLater' } })
})

const since = (facts: Partial<HealthFacts>) => findProblems({ ...healthy, ...facts }, now).map((one) => one.since)

test.each([
  { event: 'DISABLED_UPDATE', fix: connectFacts.requestReview() },
  { event: 'ACCOUNT_DELETED', fix: findings.connectAndActivate() },
  { event: 'ACCOUNT_OFFBOARDED', fix: findings.connectAndActivate() },
  { event: 'PARTNER_APP_UNINSTALLED', fix: findings.connectAndActivate() },
  { event: 'PARTNER_REMOVED', fix: findings.connectAndActivate() },
  { event: 'PARTNER_REMOVED: ACCOUNT_DISCONNECTED', fix: findings.connectAndActivate() },
])('says what to do after $event', ({ event, fix }) => {
  const inactiveReason = inactiveReasons.disabled({ event })

  expect(findProblems({ ...healthy, inactiveReason }, now)).toMatchObject([{ code: 'disabled', fix }])
})

test('reports since when each finding has been known', () => {
  const at = '2026-11-20T11:00:00.000Z'

  expect(since({ subscribed: false, findingsSince: { not_subscribed: at } })).toEqual([at])
  expect(since({ inactiveReason: 'no', inactiveSince: new Date(at) })).toEqual([at])
  expect(since({ switchedOff: true, inactiveSince: new Date(at) })).toEqual([at])
  expect(since({ subscribed: false })).toEqual([undefined])
})

test.each([
  { date: '2028-04-29', says: /^The version v25\.0 of the Graph API, .* ends on 2028-07-29\.$/ },
  { date: '2028-07-30', says: /^The version v25\.0 of the Graph API, .* ended on 2028-07-29\. / },
])('reports the end of the Graph API version three months before it, as on $date', ({ date, says }) => {
  const [finding] = findVersionProblems({ graphVersion: 'v25.0' }, new Date(date))

  expect(inEnglish(finding?.message ?? '')).toMatch(says)
  expect(inEnglish(finding?.fix ?? '')).toContain('set GRAPH_API_VERSION to v26.0')
})

test('does not report the end of the Graph API version earlier', () => {
  expect(findVersionProblems({ graphVersion: 'v25.0' }, new Date('2028-04-27'))).toEqual([])
})

import { expect, test } from 'vitest'
import { compare } from '../../../../src/dashboard/pages/overview/change.ts'
import {
  describeAverage,
  describeShare,
  listTicks,
  toSteps,
} from '../../../../src/dashboard/pages/overview/statistics.ts'
import type { WhatsAppAccountHealth } from '../../../../contracts/api/account.ts'
import type { Alert } from '../../../../contracts/dashboard/alert.ts'
import { alertFacts } from '../../../../contracts/facts/alerts.ts'
import { withFacts } from '../../../../contracts/facts/fact.ts'
import {
  listAttention,
  listWithoutAlert,
  type TemplateProblems,
} from '../../../../src/dashboard/pages/overview/attention.ts'

test.each([
  { part: 0, whole: 0, described: '–' },
  { part: 0, whole: 3, described: '0.0%' },
  { part: 2, whole: 3, described: '66.7%' },
  { part: 1, whole: 1_000_000, described: '0.1%' },
  { part: 999_999, whole: 1_000_000, described: '99.9%' },
  { part: 3, whole: 3, described: '100.0%' },
])('describes $part of $whole as $described', ({ part, whole, described }) => {
  expect(describeShare(part, whole)).toBe(described)
})

const funnel = (delivered: number) => {
  const attempted = 100_000
  return { attempted, accepted: attempted, delivered, read: 0, refused: 0, undelivered: attempted - delivered }
}

test.each([
  // Exactly, 86.849% and 89.15%: 2.301 points.
  { delivered: 86_849, before: 89_150, shown: '86.8%', change: { text: '2.4 points', before: '89.2%' } },
  // Exactly, 86.84% and 89.14%: 2.3 points.
  { delivered: 86_840, before: 89_140, shown: '86.8%', change: { text: '2.3 points', before: '89.1%' } },
  { delivered: 86_849, before: 86_751, shown: '86.8%', change: { text: 'No change' } },
])(
  'a change of $before to $delivered is the difference of the shown shares',
  ({ delivered, before, shown, change }) => {
    expect(describeShare(delivered, 100_000)).toBe(shown)
    expect(compare('delivered', funnel(delivered), funnel(before))).toMatchObject(change)
  },
)

test.each([
  { attempted: 0, ticks: [0, 1, 2, 3, 4] },
  { attempted: 1, ticks: [0, 1, 2, 3, 4] },
  { attempted: 9, ticks: [0, 5, 10] },
  { attempted: 1400, ticks: [0, 500, 1000, 1500] },
  { attempted: 2011, ticks: [0, 1000, 2000, 3000] },
])('chooses round axis steps for $attempted attempted messages', ({ attempted, ticks }) => {
  expect(listTicks([{ attempted }])).toEqual(ticks)
})

test('labels delivery time buckets and omits empty ones at the end', () => {
  const until = [1, 2, 5, 10, 30, 60, 300, 1800, 3600, 21_600, 86_400, undefined]
  const counts = (last: number) =>
    until.map((untilSeconds, index) => ({
      ...(untilSeconds !== undefined && { untilSeconds }),
      count: index === last ? 1 : 0,
    }))
  const labels = (last: number) => toSteps(counts(last)).steps.map(({ label }) => label)

  expect(labels(0)).toEqual(['Under 1 s', '1 to 2 s', '2 to 5 s', '5 to 10 s'])
  expect(labels(11).slice(4)).toEqual([
    '10 to 30 s',
    '30 s to 1 min',
    '1 to 5 min',
    '5 to 30 min',
    '30 min to 1 h',
    '1 to 6 h',
    '6 h to 1 day',
    '1 day or more',
  ])
})

test.each([
  { total: 0, average: '0' },
  { total: 1, average: '< 0.1' },
  { total: 3, average: '0.1' },
  { total: 3_720, average: '124' },
])('describes the average of $total messages in 30 days as $average', ({ total, average }) => {
  expect(describeAverage(total, 30)).toBe(average)
})

const ready: WhatsAppAccountHealth = {
  accountId: 'wa_1',
  phoneNumberId: '1',
  displayPhoneNumber: '+34 911 23 45 67',
  isDefault: true,
  active: true,
  healthy: true,
  canSend: true,
  findings: [],
  token: { valid: true, missingPermissions: [] },
  number: { status: 'CONNECTED' },
  marketing: { setting: 'automatic', endpoint: 'messages' },
  callbacks: {
    subscribed: true,
    callbackUrl: 'https://waybill.example.com/webhooks/whatsapp',
    fields: [],
    lastStatusAt: '2026-11-22T10:00:00.000Z',
  },
}

const alert: Alert = {
  alertId: 'alt_1',
  severity: 'warning',
  title: 'The webhook endpoint at crm.example.com is failing',
  body: 'It fails.',
  page: 'webhooks/ep_1',
  openedAt: '2026-11-22T10:00:00.000Z',
}

const paused = { name: 'spring_sale', language: 'en', status: 'PAUSED', whatsAppAccountId: 'wa_1' }

function list({
  alerts = [],
  numbers = [ready],
  templates = [],
  total = templates.length,
  outcomeUnknown = 0,
}: {
  alerts?: Alert[]
  numbers?: WhatsAppAccountHealth[]
  templates?: TemplateProblems['items']
  total?: number
  outcomeUnknown?: number
} = {}) {
  const health = { healthy: true, canSend: true, whatsAppAccounts: numbers }
  const overview = {
    outcomeUnknown,
    from: '2026-11-01T00:00:00.000Z',
    until: '2026-11-22T10:00:00.000Z',
    isOver: false,
  }
  return listAttention({ alerts, health, templates: { items: templates, total }, overview })
}

test('lists nothing if all numbers and templates work and no alert is open', () => {
  expect(list({ alerts: [{ ...alert, recoveredAt: '2026-11-22T11:00:00.000Z' }] })).toEqual([])
})

test('lists alerts about the same template of two WABAs once', () => {
  const about = { ...alert, title: 'spring_sale (en): WhatsApp has paused the template', page: 'templates' }

  expect(list({ alerts: [about, { ...about, alertId: 'alt_2' }] })).toEqual([
    { tone: 'warning', text: about.title, page: 'templates' },
  ])
})

test('lists critical problems first, and each with the page where it is fixed', () => {
  const rejected: WhatsAppAccountHealth = {
    ...ready,
    accountId: 'wa_2',
    healthy: false,
    findings: [
      { code: 'token_expired', severity: 'error', blocksSending: true, message: 'The token has expired.', fix: '' },
    ],
  }
  const incomplete = { ...ready, accountId: 'wa_3', callbacks: { fields: [] } }

  const items = list({ alerts: [alert], numbers: [incomplete, rejected], templates: [paused], total: 3 })

  expect(items.map(({ tone, page }) => [tone, page])).toEqual([
    ['bad', 'whatsapp-accounts/wa_2#token'],
    ['warning', 'webhooks/ep_1'],
    ['warning', 'whatsapp-accounts/wa_3#subscription'],
    ['warning', 'templates?account=wa_1&name=spring_sale&language=en'],
    ['warning', 'templates'],
  ])
  expect(items.at(-1)?.text).toBe('2 more templates have problems')
})

test('lists a problem once, even if an alert is open for it or two numbers have the template', () => {
  const broken: WhatsAppAccountHealth = {
    ...ready,
    healthy: false,
    findings: [{ code: 'rejected', severity: 'error', blocksSending: true, message: 'Rejected.', fix: '' }],
  }
  const alerts: Alert[] = [
    { ...alert, severity: 'critical', page: 'whatsapp-accounts/wa_1', title: '+34 911 23 45 67 cannot send any more' },
    { ...alert, page: 'templates', ...withFacts({ title: alertFacts.template.paused(paused) }) },
  ]
  expect(list({ alerts, numbers: [broken], templates: [paused] }).map(({ page }) => page)).toEqual([
    'whatsapp-accounts/wa_1',
    'templates',
  ])

  expect(list({ templates: [paused, { ...paused, whatsAppAccountId: 'wa_2' }] })).toHaveLength(1)
})

test('lists acknowledged alerts last, and omits numbers that a user deactivated', () => {
  const deactivated: WhatsAppAccountHealth = {
    ...ready,
    active: false,
    healthy: false,
    findings: [{ code: 'deactivated', severity: 'error', blocksSending: true, message: 'Inactive.', fix: '' }],
  }
  const acknowledged: Alert = { ...alert, severity: 'critical', acknowledgedAt: '2026-11-22T11:00:00.000Z' }

  const items = list({ alerts: [acknowledged, { ...alert, page: 'webhooks' }], numbers: [deactivated] })

  expect(items.map(({ tone, page }) => [tone, page])).toEqual([
    ['warning', 'webhooks'],
    ['neutral', 'webhooks/ep_1'],
  ])
})

test('lists messages with an unknown outcome, with a link to them', () => {
  expect(list()).toEqual([])
  expect(list({ outcomeUnknown: 14 })).toEqual([
    {
      tone: 'warning',
      text: 'It is unknown whether WhatsApp accepted 14 messages. Resolve them before you send them again.',
      page: 'messages?status=pending&outcome=unknown&range=custom&from=2026-11-01T00%3A00%3A00.000Z',
    },
  ])
})

test('lists what no open alert is about for the page of alerts', () => {
  const health = { healthy: true, canSend: true, whatsAppAccounts: [ready] }
  const templates = { items: [paused], total: 1 }
  const aboutPaused = { ...alert, facts: { title: alertFacts.template.paused(paused) } }

  expect(listWithoutAlert({ alerts: [alert], health, templates })).toMatchObject([
    { tone: 'warning', text: expect.stringContaining('spring_sale (en) cannot be sent') as string },
  ])
  expect(listWithoutAlert({ alerts: [aboutPaused], health, templates })).toEqual([])
})

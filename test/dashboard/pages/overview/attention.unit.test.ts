import { expect, test } from 'vitest'
import type { WhatsAppAccountHealth } from '../../../../contracts/api/account.ts'
import type { Alert } from '../../../../contracts/dashboard/alert.ts'
import { alertFacts } from '../../../../contracts/facts/alerts.ts'
import { withFacts } from '../../../../contracts/facts/fact.ts'
import {
  listAttention,
  listWithoutAlert,
  type TemplateProblems,
} from '../../../../src/dashboard/pages/overview/attention.ts'

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

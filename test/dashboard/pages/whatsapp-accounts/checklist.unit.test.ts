import { expect, test } from 'vitest'
import type { HealthFinding, WhatsAppAccountHealth } from '../../../../contracts/api/account.ts'
import {
  stepOf,
  toChecklist,
  toSetUpState,
  withoutRegistrationToCome,
} from '../../../../src/dashboard/pages/whatsapp-accounts/checklist.ts'

const finding = (code: string, severity: HealthFinding['severity'] = 'error'): HealthFinding => ({
  code,
  severity,
  blocksSending: false,
  message: 'What.',
  fix: 'How.',
})

const health = (more: Partial<WhatsAppAccountHealth> = {}): WhatsAppAccountHealth => ({
  accountId: 'wa_1',
  phoneNumberId: '1',
  isDefault: true,
  active: true,
  healthy: true,
  canSend: true,
  findings: [],
  token: { valid: true, missingPermissions: [] },
  number: { status: 'CONNECTED' },
  marketing: { setting: 'automatic', endpoint: 'messages' },
  callbacks: { subscribed: true, callbackUrl: 'https://waybill.example.com/webhooks/whatsapp', fields: [] },
  ...more,
})

test('marks all steps as done once WhatsApp has reported a status', () => {
  const callbacks = { ...health().callbacks, lastStatusAt: '2026-11-22T10:00:00.000Z' }

  const steps = toChecklist(health({ callbacks }), 1, false)

  expect(Object.values(steps).every(({ done }) => done)).toBe(true)
})

test.each([
  { callbacks: { lastStatusAt: '2026-11-22T10:00:00.000Z' }, findings: [], state: { kind: 'ready' } },
  { callbacks: {}, findings: [], state: { kind: 'incomplete', next: 'test' } },
  { callbacks: {}, findings: [finding('not_subscribed')], state: { kind: 'incomplete', next: 'subscription' } },
  {
    callbacks: { lastStatusAt: '2026-11-22T10:00:00.000Z' },
    findings: [{ ...finding('token_expired'), blocksSending: true }],
    state: { kind: 'blocked' },
  },
])('derives the state $state of a number', ({ callbacks, findings, state }) => {
  const facts = health({ callbacks: { ...health().callbacks, ...callbacks }, findings })

  expect(toSetUpState(facts)).toEqual(state)
})

test('reports a current problem with callbacks despite earlier callbacks', () => {
  const callbacks = { fields: [], lastCallbackAt: '2026-11-22T10:00:00.000Z' }
  const findings = [
    finding('app_secret_missing'),
    finding('callback_missing'),
    finding('callback_elsewhere', 'warning'),
  ]

  const { callback } = toChecklist(health({ callbacks, findings }), 1, false)

  expect(callback).toEqual({ done: false, findings })
  expect(toChecklist(health({ callbacks }), 1, false).callback).toEqual({ done: true, findings: [] })
})

test.each([
  { status: 'CONNECTED', done: true },
  { status: 'FLAGGED', done: true },
  { status: 'RATE_LIMITED', done: true },
  { status: 'BANNED', done: true },
  { status: 'PENDING', done: false },
  { status: 'UNVERIFIED', done: false },
  { status: 'DISCONNECTED', done: false },
  { status: undefined, done: false },
])('registration with the status $status: done is $done', ({ status, done }) => {
  const number = status === undefined ? {} : { status }

  expect(toChecklist(health({ number }), 1, false).registration.done).toBe(done)
})

test('lists findings that concern no step separately', () => {
  const shown = [
    'rejected',
    'disabled',
    'token_expired',
    'not_subscribed',
    'fields_missing',
    'no_statuses',
    'number_banned',
  ]
  const apart = ['quality_low', 'name_declined', 'waba_blocked', 'failures_frequent']

  expect(shown.filter((code) => stepOf(code) === undefined)).toEqual([])
  expect(apart.filter((code) => stepOf(code) !== undefined)).toEqual([])
})

test.each([
  { what: 'a registration to come', status: 'PENDING', lastStatusAt: undefined, healthy: true },
  {
    what: 'a number that has sent before',
    status: 'PENDING',
    lastStatusAt: '2026-11-22T10:00:00.000Z',
    healthy: false,
  },
  { what: 'a number that was disconnected', status: 'DISCONNECTED', lastStatusAt: undefined, healthy: false },
])('$what counts as healthy: $healthy', ({ status, lastStatusAt, healthy }) => {
  const findings = [{ ...finding(`number_${status.toLowerCase()}`), blocksSending: true }]
  const callbacks = { ...health().callbacks, ...(lastStatusAt !== undefined && { lastStatusAt }) }

  const shown = withoutRegistrationToCome(health({ healthy: false, number: { status }, callbacks, findings }))

  expect(shown.healthy).toBe(healthy)
  expect(shown.findings).toEqual(healthy ? [] : findings)
})

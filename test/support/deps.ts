import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import type { Deps } from '../../src/deps.ts'
import { noSendJournal } from '../../src/messages/send-journal.ts'
import { createLocalNotifications } from '../../src/platform/db/notifications.ts'
import { encodeId } from '../../src/platform/ids.ts'
import { createSecretBox } from '../../src/platform/secrets.ts'
import { newestVersion } from '../../src/whatsapp/graph-versions.ts'
import type { Onboarding } from '../../src/whatsapp/onboarding.ts'
import type { ListedTemplate, TemplateManagement } from '../../src/whatsapp/template-management.ts'
import type { ReadOutcome } from '../../src/whatsapp/read-outcome.ts'
import type { TestDatabase } from './database.ts'
import { createTestMedia } from './media.ts'

export type Listings = Record<string, ReadOutcome<ListedTemplate[]>>

/**
 * Real handlers on a real database. WhatsApp accepts every number and lists the templates that a test sets by WABA and
 * token.
 */
export function createTestDeps({ db }: TestDatabase, listings: Listings = {}): Deps & { listings: Listings } {
  let time = Date.parse('2026-11-20T09:00:00Z')
  const now = () => new Date((time += 1000))
  return {
    db,
    listings,
    whatsapp: {
      sendTemplate: () => Promise.reject(new Error('no test sends')),
      listTemplates: ({ wabaId, accessToken }) => Promise.resolve(listings[`${wabaId} ${accessToken}`] ?? unreachable),
      getPhoneNumber: () => Promise.resolve({ ok: true, value: {} }),
      uploadMedia: () => Promise.reject(new Error('no test uploads')),
      deleteMedia: () => Promise.resolve(true),
      deleteContact: () => Promise.resolve({ ok: true, value: false }),
      hasPhoneNumber: () => Promise.resolve({ ok: true, value: true }),
      ...onboarding,
      ...noTemplateChanges,
      close: () => Promise.resolve(),
    },
    webhooks: {
      attempt: () => Promise.reject(new Error('no test delivers')),
      post: () => Promise.reject(new Error('no test posts')),
      check: () => Promise.resolve('allowed'),
      close: () => Promise.resolve(),
    },
    media: createTestMedia(),
    mail: undefined,
    graphVersion: newestVersion,
    publicUrl: 'https://waybill.example.com',
    callbacks: {
      appSecret: 'test-app-secret',
      verifyToken: 'test-verify-token',
      baseUrl: 'https://waybill.example.com',
    },
    notifications: createLocalNotifications(),
    sendJournal: noSendJournal,
    quotas: { suppressions: 1_000_000, templates: 10_000, savedViews: 30 },
    requestLogDays: 7,
    secrets: createSecretBox([randomBytes(32)], randomBytes),
    now,
    newId: (prefix) => encodeId(prefix, now().getTime(), randomBytes(10)),
    randomBytes,
    log: pino({ level: 'silent' }),
  }
}

const notCalled = () => Promise.reject(new Error('no test changes templates'))
const noTemplateChanges: TemplateManagement = {
  createTemplate: notCalled,
  editTemplate: notCalled,
  deleteTemplate: notCalled,
  getTemplate: notCalled,
  uploadSample: notCalled,
}

/** WhatsApp accepts every token and every request. */
const onboarding: Onboarding = {
  inspectToken: () =>
    Promise.resolve({
      ok: true,
      value: { valid: true, appId: '300001', scopes: ['whatsapp_business_management', 'whatsapp_business_messaging'] },
    }),
  listBusinessAccounts: () => Promise.resolve({ ok: true, value: [] }),
  listPhoneNumbers: () => Promise.resolve({ ok: true, value: [] }),
  getMarketingAccess: () =>
    Promise.resolve({
      ok: true,
      value: { onboardingStatus: undefined, isOffCloudApi: undefined, hasPaymentMethod: undefined },
    }),
  getNumberDetails: ({ phoneNumberId }) => Promise.resolve({ ok: true, value: { phoneNumberId, status: 'CONNECTED' } }),
  isOnBusinessApp: () => Promise.resolve({ ok: true, value: false }),
  registerNumber: () => Promise.resolve({ ok: true, value: undefined }),
  listSubscribedApps: () => Promise.resolve({ ok: true, value: [{ appId: '300001' }] }),
  subscribeApp: () => Promise.resolve({ ok: true, value: undefined }),
  refreshToken: () => Promise.reject(new Error('no test refreshes')),
  getAppSubscription: () => Promise.resolve({ ok: true, value: undefined }),
  subscribeCallback: () => Promise.resolve({ ok: true, value: ['messages'] }),
}

export const unreachable = {
  ok: false,
  refused: false,
  accountUnusable: false,
  reason: 'WhatsApp is unavailable',
} as const

export const tokenRefused = {
  ok: false,
  refused: true,
  accountUnusable: true,
  reason: 'token expired (190)',
  error: { code: 190, title: 'Access token has expired' },
} as const

let phoneNumbers = 0

/** A phone number belongs to one account only, so each test uses the next one. */
export function nextPhoneNumberId(): string {
  phoneNumbers += 1
  return String(100_000 + phoneNumbers)
}

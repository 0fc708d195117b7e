import { expect, test } from 'vitest'
import { readCallback } from '../../../src/whatsapp/callbacks/read-callback.ts'

const seconds = 1_790_000_000
const at = new Date(seconds * 1000)

function read(field: string, value: unknown, entry: object = { id: '200', time: seconds }) {
  const parts = [...readCallback({ entry: [{ ...entry, changes: [{ field, value }] }] })]
  return { accounts: parts.flatMap(({ accounts }) => accounts), ignored: parts[0]?.ignored }
}

const expires = { type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', until: new Date('2026-12-01T00:00:00Z') }
const end = expires.until.getTime() / 1000

test.each<{ says: string; field: string; value: object; update: object }>([
  {
    says: 'a limit as a number',
    field: 'business_capability_update',
    value: { max_daily_conversations_per_business: 2000, max_phone_numbers_per_business: 20 },
    update: { change: 'recheck', messagingLimit: 'TIER_2K' },
  },
  {
    says: 'a limit as a tier',
    field: 'business_capability_update',
    value: { max_daily_conversations_per_business: 'TIER_UNLIMITED' },
    update: { messagingLimit: 'TIER_UNLIMITED' },
  },
  {
    says: 'a limit of a number, with its older key',
    field: 'phone_number_quality_update',
    value: { display_phone_number: '15550100', event: 'UPGRADE', current_limit: 'TIER_10K', old_limit: 'TIER_2K' },
    update: { change: 'recheck', reason: 'phone_number_quality_update', messagingLimit: 'TIER_10K' },
  },
  {
    says: 'a throughput, without a limit',
    field: 'phone_number_quality_update',
    value: { display_phone_number: '15550100', event: 'THROUGHPUT_UPGRADE' },
    update: { ownerId: '200', change: 'recheck', reason: 'phone_number_quality_update', notices: [] },
  },
  {
    says: 'a warning',
    field: 'account_update',
    value: { event: 'ACCOUNT_RESTRICTION', violation_info: { violation_type: 'UTILITY_TEMPLATE_ABUSE' } },
    update: {
      notices: [{ key: 'warning UTILITY_TEMPLATE_ABUSE', kind: 'warning', at, isOver: false, restrictions: [] }],
    },
  },
  {
    says: 'several restrictions, whose ends are numbers, text and dates',
    field: 'account_update',
    value: {
      event: 'ACCOUNT_RESTRICTION',
      violation_info: { violation_type: 'SPAM' },
      restriction_info: [
        { restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', expiration: end },
        { restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', expiration: String(end) },
        { restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', expiration: '2026-12-01T00:00:00Z' },
        { restriction_type: 'RESTRICTED_ADD_PHONE_NUMBER_ACTION', expiration: 'soon', remediation: 'none' },
        { expiration: end },
      ],
    },
    update: {
      notices: [
        {
          key: 'restriction SPAM',
          restrictions: [expires, expires, expires, { type: 'RESTRICTED_ADD_PHONE_NUMBER_ACTION' }],
        },
      ],
    },
  },
  {
    says: 'the end of a limit, by the same event',
    field: 'account_update',
    value: {
      event: 'ACCOUNT_RESTRICTION',
      violation_info: { violation_type: 'UTILITY_TEMPLATE_ABUSE_RATE_LIMIT_RECOVERY' },
    },
    update: {
      notices: [
        { key: 'restriction UTILITY_TEMPLATE_ABUSE_RATE_LIMIT', isOver: true },
        { key: 'warning UTILITY_TEMPLATE_ABUSE_RATE_LIMIT', isOver: true },
      ],
    },
  },
  {
    says: 'a ban that is scheduled',
    field: 'account_update',
    value: { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'SCHEDULE_FOR_DISABLE', waba_ban_date: 'Monday' } },
    update: { change: 'recheck', notices: [{ type: 'SCHEDULE_FOR_DISABLE', description: 'Monday', isOver: false }] },
  },
  {
    says: 'a ban that is lifted',
    field: 'account_update',
    value: { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'REINSTATE' } },
    update: { change: 'reinstated', notices: [{ type: 'SCHEDULE_FOR_DISABLE', isOver: true }] },
  },
  {
    says: 'why a number in the WhatsApp Business app was removed',
    field: 'account_update',
    value: {
      event: 'PARTNER_REMOVED',
      phone_number: '+1 555-0100',
      waba_info: { waba_id: '300' },
      disconnection_info: { reason: 'PRIMARY_INACTIVITY', initiated_by: 'SYSTEM' },
    },
    update: {
      ownerId: '300',
      number: { displayDigits: '15550100' },
      change: 'disabled',
      reason: 'PARTNER_REMOVED: PRIMARY_INACTIVITY',
    },
  },
  {
    says: 'an alert',
    field: 'account_alerts',
    value: {
      entity_type: 'BUSINESS',
      entity_id: '506',
      alert_info: {
        alert_severity: 'WARNING',
        alert_status: 'ACTIVE',
        alert_type: 'PROFILE_PICTURE_LOST',
        alert_description: 'Lost.',
      },
    },
    update: {
      change: 'recheck',
      notices: [{ key: 'alert PROFILE_PICTURE_LOST', kind: 'alert', description: 'Lost.', isOver: false }],
    },
  },
  {
    says: 'an alert of one number without alert_info',
    field: 'account_alerts',
    value: {
      entity_type: 'PHONE_NUMBER',
      entity_id: 106,
      alert_severity: 'CRITICAL',
      alert_status: 'ACTIVE',
      alert_type: 'OBA_REJECTED',
    },
    update: { number: { phoneNumberId: '106' }, notices: [{ key: 'alert OBA', type: 'OBA_REJECTED', isOver: false }] },
  },
  {
    says: 'good news as an alert',
    field: 'account_alerts',
    value: { alert_info: { alert_severity: 'WARNING', alert_status: 'ACTIVE', alert_type: 'OBA_APPROVED' } },
    update: { notices: [{ key: 'alert OBA', isOver: true }] },
  },
])('reads $says', ({ field, value, update }) => {
  expect(read(field, value)).toMatchObject({ accounts: [{ ownerId: '200', ...update }], ignored: 0 })
})

test.each([
  ['account_update', {}],
  ['account_update', { event: 7 }],
  ['account_update', null],
  ['account_alerts', {}],
  ['account_alerts', 'x'],
  ['account_alerts', { alert_info: { alert_status: 'ACTIVE' } }],
])('ignores %s that names nothing', (field, value) => {
  expect(read(field, value)).toEqual({ accounts: [], ignored: 1 })
})

test.each([
  ['business_capability_update', {}],
  ['business_capability_update', null],
  ['business_capability_update', { max_daily_conversations_per_business: -1 }],
  ['business_capability_update', { max_daily_conversations_per_business: 'lots' }],
  ['phone_number_quality_update', { current_limit: 'TIER_NOT_SET' }],
  ['account_update', { event: 'ACCOUNT_RESTRICTION', restriction_info: 'x', violation_info: [], ban_info: 1 }],
])('rechecks the account after %s without its values', (field, value) => {
  const { accounts } = read(field, value, { id: '200' })
  expect(accounts).toMatchObject([{ change: 'recheck' }])
  expect(accounts[0]).not.toHaveProperty('messagingLimit')
})

test('keeps a bounded number of restrictions and a bounded text of a callback', () => {
  const restriction_info = Array.from({ length: 100_000 }, () => ({ restriction_type: 'X'.repeat(10_000) }))
  const [update] = read('account_update', { event: 'ACCOUNT_RESTRICTION', restriction_info }).accounts
  expect(JSON.stringify(update).length).toBeLessThan(10_000)
})

import { expect, test } from 'vitest'
import { readCallback } from '../../../src/whatsapp/callbacks/read-callback.ts'

const nothing = Array.from({ length: 900_000 }, () => ({}))

test.each([
  { what: 'changes', changes: nothing },
  {
    what: 'statuses',
    changes: [{ field: 'messages', value: { metadata: { phone_number_id: '1' }, statuses: nothing } }],
  },
])('reads a callback of 3 MB with empty $what about as quickly as its JSON is parsed', ({ changes }) => {
  const callback = { entry: [{ id: '1', changes }] }
  const json = JSON.stringify(callback)
  const beforeParsing = process.threadCpuUsage()
  JSON.parse(json)
  const parsing = process.threadCpuUsage(beforeParsing).user
  const beforeReading = process.threadCpuUsage()
  const ignored = readCallback(callback).reduce((sum, part) => sum + part.ignored, 0)
  const reading = process.threadCpuUsage(beforeReading).user

  expect(ignored).toBe(nothing.length)
  // With a schema for each item, it takes a multiple. Both are measured here, so that the machine does not matter.
  expect(reading / parsing).toBeLessThan(10)
})

test.each([null, '', false, []])('keeps the text of a failed status whose error has the code %j', (code) => {
  const status = {
    id: 'wamid.A',
    status: 'failed',
    timestamp: '1800000000',
    errors: [{ code, title: 'Undeliverable' }],
  }
  const value = { metadata: { phone_number_id: '1' }, statuses: [status] }
  const [part] = readCallback({ entry: [{ id: '1', changes: [{ field: 'messages', value }] }] })

  expect(part?.statuses).toMatchObject([{ error: { code: 'UNKNOWN', message: 'Undeliverable' } }])
})

test.each([
  { details: '', title: 'Undeliverable', message: 'Undeliverable.', said: 'Undeliverable' },
  { details: null, title: '', message: 'Undeliverable.', said: 'Undeliverable.' },
  { details: '', title: '', message: '', said: 'WhatsApp gave no reason' },
])('passes over empty texts of an error: $details, $title, $message', ({ details, title, message, said }) => {
  const errors = [{ code: 131026, title, message, error_data: { details } }]
  const statuses = [{ id: 'wamid.A', status: 'failed', timestamp: '1800000000', errors }]
  const value = { metadata: { phone_number_id: '1' }, statuses }
  const [part] = readCallback({ entry: [{ id: '1', changes: [{ field: 'messages', value }] }] })

  expect(part?.statuses).toMatchObject([{ error: { code: '131026', message: said } }])
})

test.each([
  { what: 'an item without a value', errors: [null, { code: 131026, title: 'Undeliverable' }] },
  { what: 'details as text', errors: [{ code: 131026, title: 'Error', error_data: 'Undeliverable' }] },
  {
    what: 'details as JSON text',
    errors: [{ code: 131026, title: 'Error', error_data: '{"details":"Undeliverable"}' }],
  },
])('reads the reason of a failure beside $what', ({ errors }) => {
  const statuses = [{ id: 'wamid.A', status: 'failed', timestamp: '1800000000', errors }]
  const value = { metadata: { phone_number_id: '1' }, statuses }
  const [part] = readCallback({ entry: [{ id: '1', changes: [{ field: 'messages', value }] }] })

  expect(part?.statuses).toMatchObject([{ error: { code: '131026', message: 'Undeliverable' } }])
})

test('shortens the reason of a failure, which is stored and sent to webhooks', () => {
  const errors = [{ code: 131026, title: 'x'.repeat(100_000) }]
  const statuses = [{ id: 'wamid.A', status: 'failed', timestamp: '1800000000', errors }]
  const value = { metadata: { phone_number_id: '1' }, statuses }
  const [part] = readCallback({ entry: [{ id: '1', changes: [{ field: 'messages', value }] }] })

  expect(part?.statuses[0]?.error?.message).toBe('x'.repeat(500))
})

test.each([1e20, 131026.5, '-1', 'NaN'])('keeps no code that is no code of Meta: %j', (code) => {
  const statuses = [{ id: 'wamid.A', status: 'FAILED', timestamp: '1800000000', errors: [{ code, title: 'No' }] }]
  const value = { metadata: { phone_number_id: '1' }, statuses }
  const [part] = readCallback({ entry: [{ id: '1', changes: [{ field: 'messages', value }] }] })

  expect(part?.statuses).toMatchObject([{ status: 'failed', error: { code: 'UNKNOWN', message: 'No' } }])
})

test('reads a preference in capitals, of a number with a plus sign', () => {
  const preference = { wa_id: '+34600111222', category: 'MARKETING_MESSAGES', value: 'STOP', timestamp: 1_790_000_000 }
  const value = { metadata: { phone_number_id: '1' }, user_preferences: [preference] }
  const [part] = readCallback({ entry: [{ id: '1', changes: [{ field: 'user_preferences', value }] }] })

  expect(part?.preferences).toMatchObject([{ user: { waId: '34600111222' }, value: 'stop' }])
})

test('reads the events of an account in lower case', () => {
  const change = {
    field: 'account_update',
    value: { event: 'disabled_update', ban_info: { waba_ban_state: 'disable' } },
  }
  const [part] = readCallback({ entry: [{ id: '1', changes: [change] }] })

  expect(part?.accounts).toMatchObject([{ change: 'disabled', reason: 'DISABLED_UPDATE' }])
})

const details = { message_template_name: 'offer', message_template_language: 'en' }

function readTemplateChange(field: string, value: object) {
  const [part] = readCallback({ entry: [{ id: '7', changes: [{ field, value: { ...details, ...value } }] }] })
  return part
}

test('reads the category, quality and status of a template in lower case', () => {
  const category = readTemplateChange('template_category_update', { new_category: 'marketing', correct_category: '' })
  const announced = { new_category: 'utility', correct_category: 'marketing' }
  const upcoming = readTemplateChange('template_category_update', announced)
  const quality = readTemplateChange('message_template_quality_update', { new_quality_score: 'red' })
  const status = readTemplateChange('message_template_status_update', { event: 'paused', reason: '' })

  expect([category, upcoming, quality, status].map((part) => part?.templates[0]?.change)).toEqual([
    { category: 'MARKETING' },
    { currentCategory: 'UTILITY', announcedCategory: 'MARKETING', takesEffectAt: undefined },
    { quality: 'RED' },
    { status: 'PAUSED' },
  ])
})

test.each([
  { field: 'template_category_update', value: { new_category: '' } },
  { field: 'message_template_quality_update', value: { new_quality_score: '' } },
  { field: 'message_template_status_update', value: { event: '' } },
])('reads the template again after a $field whose new value is empty', ({ field, value }) => {
  const part = readTemplateChange(field, value)

  expect(part).toMatchObject({ templates: [], accounts: [{ ownerId: '7', change: 'recheck', reason: field }] })
})

test('reads a restriction beside an item that cannot be read', () => {
  const restrictions = [null, { restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING' }]
  const value = { event: 'ACCOUNT_RESTRICTION', restriction_info: restrictions }
  const [part] = readCallback({ entry: [{ id: '7', changes: [{ field: 'account_update', value }] }] })

  expect(part?.accounts).toMatchObject([
    { notices: [{ kind: 'restriction', restrictions: [{ type: 'RESTRICTED_BIZ_INITIATED_MESSAGING' }] }] },
  ])
})

test("reads the user's own number beside contacts that cannot be read", () => {
  const own = { origin: 'contact_request', phones: [null, { phone: '+34600111222' }] }
  const message = { id: 'wamid.R', type: 'contacts', timestamp: '1800000000', contacts: [null, own] }
  const value = { metadata: { phone_number_id: '1' }, messages: [message] }
  const [part] = readCallback({ entry: [{ id: '1', changes: [{ field: 'messages', value }] }] })

  expect(part?.replies).toMatchObject([{ kind: 'contact', from: { waId: '34600111222' } }])
})

test('ignores a change whose account is null', () => {
  const change = { field: 'account_update', value: { event: 'PARTNER_REMOVED' } }
  const [part] = readCallback({ entry: [{ id: null, changes: [change] }] })

  expect(part).toMatchObject({ accounts: [], errors: [], ignored: 1 })
})

test.each([undefined, null, '', 1.5, true])('reads what names its number or account without the entry ID %j', (id) => {
  const status = { id: 'wamid.A', status: 'delivered', timestamp: '1800000000' }
  const removed = { event: 'PARTNER_REMOVED', waba_info: { waba_id: '7' } }
  const template = { event: 'PAUSED', message_template_name: 'order_shipped', message_template_language: 'en' }
  const changes = [
    { field: 'messages', value: { metadata: { phone_number_id: '1' }, statuses: [status] } },
    { field: 'account_update', value: removed },
    { field: 'message_template_status_update', value: template },
    { field: 'phone_number_name_update', value: {} },
  ]
  const [part] = readCallback({ entry: [{ id, changes }] })

  expect(part).toMatchObject({
    statuses: [{ waMessageId: 'wamid.A' }],
    accounts: [{ ownerId: '7', change: 'disabled' }],
    templates: [],
    ignored: 2,
  })
})

test.each([
  'standby',
  'messaging_handovers',
  'history',
  'smb_app_state_sync',
  'smb_message_echoes',
  'message_echoes',
  'calls',
  'flows',
  'group_lifecycle_update',
  'account_settings_update',
  'automatic_events',
  'tracking_events',
  'partner_solutions',
  'payment_configuration_update',
  'business_status_update',
  'consumer_profile',
  'user_id_update',
  'business_username_updates',
  'template_correct_category_detection',
  'a_field_of_next_year',
])('reads nothing from the field %s, even if it has statuses', (field) => {
  const status = { id: 'wamid.A', status: 'delivered', timestamp: '1800000000' }
  const value = { metadata: { phone_number_id: '1' }, statuses: [status], messages: [{ id: 'wamid.B' }] }
  const parts = [...readCallback({ entry: [{ id: '1', changes: [{ field, value }] }] })]

  expect(parts).toEqual([
    {
      statuses: [],
      replies: [],
      preferences: [],
      templates: [],
      accounts: [],
      errors: [],
      identityChanges: [],
      standby: field === 'standby' ? ['1'] : [],
      ignored: 1,
    },
  ])
})

test('counts clicks of the Marketing Messages API, which name no message, as ignored', () => {
  const action = { action_type: 'marketing_messages_link_click', timestamp: '1800000000' }
  const value = { metadata: { phone_number_id: '1' }, user_actions: [action] }
  const parts = [...readCallback({ entry: [{ id: '1', changes: [{ field: 'messages', value }] }] })]

  expect(parts).toMatchObject([{ statuses: [], replies: [], ignored: 1 }])
})

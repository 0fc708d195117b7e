import { expect, test } from 'vitest'
import { scanIds } from '../../../src/whatsapp/callbacks/account-ids.ts'

function scan(value: unknown): string[] {
  return scanIds(Buffer.from(JSON.stringify(value)))
}

function messages(phoneNumberId: string, statuses: object[]): object {
  return { field: 'messages', value: { metadata: { phone_number_id: phoneNumberId }, statuses } }
}

const statuses = Array.from({ length: 20_000 }, (_, index) => ({
  id: `wamid.HBgLMzQ2MDAxMTEyMjIVAgARGBI${index}`,
  status: 'read',
  timestamp: '1800000000',
  biz_opaque_callback_data: 'msg_01j9z3k4m5n6p7q8r9s0t1v2w3',
}))

test('lists WABA IDs and phone number IDs once, in order', () => {
  const callback = {
    entry: [
      { id: '11', changes: [messages('21', [{ id: 'wamid.A' }]), messages('22', [])] },
      { id: 12, changes: [messages('21', [])] },
    ],
  }
  expect(scan(callback)).toEqual(['11', '21', '22', '12'])
  expect(scanIds(Buffer.from(JSON.stringify(callback, null, 2)))).toEqual(['11', '21', '22', '12'])
})

test('finds the WABA that an event about a partner names in its value', () => {
  const removed = { field: 'account_update', value: { event: 'PARTNER_REMOVED', waba_info: { waba_id: '31' } } }
  expect(scan({ entry: [{ id: '11', changes: [removed] }] })).toEqual(['11', '31'])
})

test('finds the IDs of a callback of 3 MB before or after its statuses', () => {
  expect(scan({ entry: [{ id: '11', changes: [messages('21', statuses)] }] })).toEqual(['11', '21'])
  const reversed = { value: { statuses, metadata: { phone_number_id: '21' } }, field: 'messages' }
  expect(scan({ entry: [{ changes: [reversed], id: '11' }] })).toEqual(['21', '11'])
})

test('ignores IDs in the text of a user', () => {
  const text = { body: '"phone_number_id":"666", "id":"667"' }
  expect(scan({ entry: [{ id: '11', changes: [{ value: { messages: [{ text }] } }] }] })).toEqual(['11'])
})

test.each([
  ['an id without an end', `"id":${'1'.repeat(3_000_000)}`],
  ['many empty ids', '"id":'.repeat(600_000)],
  ['spaces', `"id":${' '.repeat(3_000_000)}1`],
  ['no bytes', ''],
  ['bytes that are not text', '\u00ff\u0000'.repeat(10_000)],
])('finds no ID in %s', (_what, text) => {
  expect(scanIds(Buffer.from(text, 'latin1'))).toEqual([])
})

test('stops after a hundred IDs', () => {
  const changes = Array.from({ length: 5_000 }, (_, index) => messages(String(1_000 + index), []))
  expect(scan({ entry: [{ id: '11', changes }] })).toHaveLength(100)
})

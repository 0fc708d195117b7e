import { expect, test } from 'vitest'
import { SendMessageRequest } from '../../../contracts/api/message.ts'
import { fingerprintRequest, replay } from '../../../src/messages/send/idempotency.ts'
import { createSecretBox } from '../../../src/platform/secrets.ts'
import { sentMessageAt } from '../../support/stored-messages.ts'

const oldKey = new Uint8Array(32).fill(1)
const newKey = new Uint8Array(32).fill(2)
const secrets = createSecretBox([oldKey], (size) => new Uint8Array(size))

function hashOf(input: SendMessageRequest): string {
  return Buffer.from(fingerprintRequest('order-1', input, secrets).requestHash).toString('hex')
}

const whole = {
  to: '34600111222',
  template: 'order_shipped',
  language: 'en',
  variables: { '2': 'WB-1042', '1': 'Ada', '10': 'x', name: 'Zoë "Q"' },
  externalId: 'order-1042',
  accountId: 'wa_01kah39zr4e8m5n6p7q8s9t0vw',
}

const sentMessage = sentMessageAt(new Date(0))

const stored: { request: string; input: SendMessageRequest; hash: string }[] = [
  { request: 'all fields', input: whole, hash: 'abb60e7c830301e0fc0b24b01396993c8bfc3202415ad14345c8b628b94c41e8' },
  {
    request: 'the usual fields',
    input: {
      to: '34600111222',
      template: 'order_shipped',
      language: 'en',
      variables: { '1': 'Ada', '2': 'WB-1042' },
      externalId: 'order-1042',
    },
    hash: 'bc48da5a891f5d67cb7e17b91a863b69cfa5f0ba5bddf52794e49e50685e552a',
  },
  {
    request: 'the required fields',
    input: { to: '34600111222', template: 'order_shipped', language: 'en' },
    hash: '0f4d22f8008192d25758e73de1c53ef21056b85ceef9e278589b26c549731fab',
  },
  {
    request: 'no variables',
    input: { to: '34600111222', template: 'order_shipped', language: 'en', variables: {} },
    hash: '0f4d22f8008192d25758e73de1c53ef21056b85ceef9e278589b26c549731fab',
  },
  {
    request: 'a field that came later, keyed',
    input: { to: '34600111222', template: 'login_code', language: 'en', code: '481516' },
    hash: '71e3b6e87dc2f92423ad45af76078cb628cd89094f3215dde02a83a533df0552',
  },
]

/** After an upgrade, a retry must still match its first request. */
test.each(stored)('keeps the fingerprint of a request with $request stable', ({ input, hash }) => {
  expect(hashOf(input)).toBe(hash)
})

function change(value: unknown): unknown {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (typeof value === 'object') return { ...value, '1': 'Grace' }
  return `${String(value)}x`
}

test.each(Object.keys(SendMessageRequest.shape))('changes the fingerprint when %s changes', (field) => {
  // Also provides values for fields that the contract adds later.
  const before: Record<string, unknown> = { [field]: 'value', ...whole }
  const other = { ...before, [field]: change(before[field]) }
  const without = Object.fromEntries(Object.entries(before).filter(([name]) => name !== field))

  const hashes = [before, other, without].map((input) => hashOf(input as SendMessageRequest))

  expect(new Set(hashes).size).toBe(3)
})

test('includes the sending account in the fingerprint', () => {
  expect(hashOf({ ...whole, accountId: 'wa_other' })).not.toBe(hashOf(whole))
})

test('includes fields added to the contract later in the fingerprint, whatever their key order', () => {
  const later = (field: unknown) => hashOf({ ...whole, header: field } as SendMessageRequest)

  expect(later({ image: 'a', caption: ['x', 'y'] })).not.toBe(hashOf(whole))
  expect(later({ image: 'a', caption: ['x', 'y'] })).toBe(later({ caption: ['x', 'y'], image: 'a' }))
  expect(later({ image: 'a', caption: ['x', 'y'] })).not.toBe(later({ image: 'a', caption: ['y', 'x'] }))
  expect(later(undefined)).toBe(hashOf(whole))
})

test('keys the fingerprint, so that a one-time code cannot be found by trying', () => {
  const input = { to: '34600111222', template: 'login_code', language: 'en', code: '481516' }
  const otherServer = createSecretBox([newKey], (size) => new Uint8Array(size))

  expect(fingerprintRequest('order-1', input, otherServer).requestHash).not.toEqual(
    fingerprintRequest('order-1', input, secrets).requestHash,
  )
})

test('matches a retry with its first request after a rotation of the server key', () => {
  const input = { to: '34600111222', template: 'login_code', language: 'en', code: '481516' }
  const rotated = createSecretBox([newKey, oldKey], (size) => new Uint8Array(size))
  const { requestHash } = fingerprintRequest('order-1', input, secrets)
  const earlier = { requestHash, message: sentMessage }

  expect(replay(earlier, fingerprintRequest('order-1', input, rotated))).toMatchObject({ messageId: sentMessage.id })
  const other = fingerprintRequest('order-1', { ...input, code: '481517' }, rotated)
  expect(() => replay(earlier, other)).toThrow(expect.objectContaining({ code: 'IDEMPOTENCY_KEY_REUSED' }))
})

test('ignores empty lists in the fingerprint', () => {
  const { to, template, language } = whole
  const plain = { to, template, language, variables: { '1': 'Ada' } }

  expect(hashOf({ ...plain, buttons: [], cards: [], components: [] })).toBe(hashOf(plain))
})

test.each([
  { what: 'a value moves to another field', a: { externalId: 'x' }, b: { accountId: 'x' } },
  { what: 'a value moves to another variable', a: { variables: { '1': 'x' } }, b: { variables: { '2': 'x' } } },
] satisfies { what: string; a: Partial<SendMessageRequest>; b: Partial<SendMessageRequest> }[])(
  'changes the fingerprint when $what',
  ({ a, b }) => {
    const { to, template, language } = whole
    expect(hashOf({ to, template, language, ...a })).not.toBe(hashOf({ to, template, language, ...b }))
  },
)

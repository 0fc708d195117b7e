import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { isSignedWith, signCallback } from '../../../src/whatsapp/callbacks/signature.ts'

const body = Buffer.from('{"object":"whatsapp_business_account"}')
const secret = 'app-secret'
const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

// RFC 4231, test case 2.
test('signs a body with HMAC-SHA256', () => {
  expect(signCallback(Buffer.from('what do ya want for nothing?'), 'Jefe')).toBe(
    'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
})

test.each([
  { what: 'the signature', given: signature },
  { what: 'the signature in upper case', given: signature.toUpperCase() },
])('accepts $what', ({ given }) => {
  expect(isSignedWith(body, given, secret)).toBe(true)
})

test.each([
  { what: 'no signature', given: '' },
  { what: 'the scheme alone', given: 'sha256=' },
  { what: 'the digest without its scheme', given: signature.slice('sha256='.length) },
  { what: 'a shortened signature', given: signature.slice(0, -1) },
  { what: 'a lengthened signature', given: `${signature}0` },
  { what: 'another signature of the same length', given: `sha256=${'0'.repeat(64)}` },
  { what: 'a signature with one other digit', given: signature.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')) },
  { what: 'the signature of another body', given: signCallback(Buffer.from('{}'), secret) },
  { what: 'a signature by another secret', given: signCallback(body, 'other') },
  { what: 'as many characters but more bytes', given: `${signature.slice(0, -1)}é` },
])('rejects $what', ({ given }) => {
  expect(isSignedWith(body, given, secret)).toBe(false)
})

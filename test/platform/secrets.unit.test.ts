import { createHmac, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSecretBox, isSameSecret, UnknownSecretKeyError } from '../../src/platform/secrets.ts'

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]

test('decrypts for the same purpose and never encrypts to the same ciphertext twice', () => {
  const box = createSecretBox([oldKey], randomBytes)
  const [first, second] = [box.encrypt('token', 'a'), box.encrypt('token', 'a')]
  expect(first).not.toBe(second)
  expect(box.decrypt(first, 'a')).toBe('token')
})

test('rejects a ciphertext that was moved or changed', () => {
  const box = createSecretBox([oldKey], randomBytes)
  const sealed = box.encrypt('token', 'a')
  expect(() => box.decrypt(sealed, 'b')).toThrow(/authenticate/)
  expect(() => box.decrypt(sealed.slice(0, -2) + (sealed.endsWith('AA') ? 'BB' : 'AA'), 'a')).toThrow(/authenticate/)
})

test('decrypts with the old key after a rotation and encrypts with the new one', () => {
  const sealed = createSecretBox([oldKey], randomBytes).encrypt('token', 'a')
  const rotated = createSecretBox([newKey, oldKey], randomBytes)
  expect(rotated.decrypt(sealed, 'a')).toBe('token')
  expect(rotated.isCurrent(sealed)).toBe(false)
  expect(rotated.isCurrent(rotated.encrypt('token', 'a'))).toBe(true)
})

test('names a key that is missing from the ring', () => {
  const sealed = createSecretBox([oldKey], randomBytes).encrypt('token', 'a')
  expect(() => createSecretBox([newKey], randomBytes).decrypt(sealed, 'a')).toThrow(
    /was encrypted with key [0-9a-f]{8}, which WAYBILL_SECRET_KEY does not contain/,
  )
})

test.each([
  { what: 'the same text', given: 'secret', expected: 'secret', same: true },
  { what: 'another text of the same length', given: 'secreT', expected: 'secret', same: false },
  { what: 'a shorter text', given: 'secre', expected: 'secret', same: false },
  { what: 'an empty text', given: '', expected: 'secret', same: false },
  { what: 'an empty text to an empty one', given: '', expected: '', same: true },
  { what: 'a text to no secret', given: '', expected: undefined, same: false },
])('compares $what: $same', ({ given, expected, same }) => {
  expect(isSameSecret(given, expected)).toBe(same)
})

test('writes the version, the key, the nonce and the ciphertext with its tag', () => {
  const nonces = [Buffer.alloc(12, 1), Buffer.alloc(12, 2)]
  const box = createSecretBox([Buffer.alloc(32, 9)], (size) => nonces.shift()?.subarray(0, size) ?? Buffer.alloc(size))

  // Computed with another library, pyca/cryptography, and the key ID with sha256sum.
  expect(box.encrypt('token', 'a')).toBe('v1.8c0cc17a.AQEBAQEBAQEBAQEB.zR_qAH2QZY4S5W3okvov9g6c2cdB')
  expect(box.encrypt('token', 'a').split('.')[2]).toBe(Buffer.alloc(12, 2).toString('base64url'))
})

test.each([
  { what: 'another version', change: (sealed: string) => sealed.replace('v1.', 'v2.') },
  { what: 'a key that is not in the ring', change: (sealed: string) => sealed.replace(/^v1\.\w{8}/, 'v1.00000000') },
  { what: 'an empty text', change: () => '' },
])('refuses to decrypt $what', ({ change }) => {
  const box = createSecretBox([oldKey], randomBytes)
  expect(() => box.decrypt(change(box.encrypt('token', 'a')), 'a')).toThrow(UnknownSecretKeyError)
})

test.each([
  { what: 'no ciphertext', change: (sealed: string) => sealed.split('.').slice(0, 3).join('.') },
  { what: 'no nonce', change: (sealed: string) => sealed.split('.').slice(0, 2).join('.') },
  { what: 'a shortened tag', change: (sealed: string) => sealed.slice(0, -8) },
  { what: 'another nonce', change: (sealed: string) => sealed.replace(/\.[^.]+\.([^.]+)$/, '.AAAAAAAAAAAAAAAA.$1') },
])('refuses to decrypt a ciphertext with $what', ({ change }) => {
  const box = createSecretBox([oldKey], randomBytes)
  expect(() => box.decrypt(change(box.encrypt('token', 'a')), 'a')).toThrow(Error)
})

test('rejects a tag of fewer than 16 bytes, which could be found by trying', () => {
  const box = createSecretBox([oldKey], randomBytes)
  const [version, key, nonce, tag = ''] = box.encrypt('', 'a').split('.')
  const sealed = (bytes: number) => {
    return [version, key, nonce, Buffer.from(tag, 'base64url').subarray(0, bytes).toString('base64url')].join('.')
  }
  expect(box.decrypt(sealed(16), 'a')).toBe('')
  for (const bytes of [4, 12, 15]) expect(() => box.decrypt(sealed(bytes), 'a')).toThrow(/tag/)
})

const hmac = (key: Uint8Array, text: string) => createHmac('sha256', key).update(text).digest()

test('fingerprints a text with each key of the ring, bound to its purpose', () => {
  const box = createSecretBox([newKey, oldKey], randomBytes)

  expect(box.fingerprints('481516', 'code')).toEqual([hmac(newKey, 'code\n481516'), hmac(oldKey, 'code\n481516')])
})

test('caches by purpose too, because a ciphertext is bound to it', () => {
  const box = createSecretBox([oldKey], randomBytes)
  const sealed = box.encrypt('token', 'a')

  expect(box.decryptCached(sealed, 'a')).toBe('token')
  expect(() => box.decryptCached(sealed, 'b')).toThrow(/authenticate/)
})

test('keeps the plaintext of a secret in memory only if the caller asks for it', () => {
  const key = randomBytes(32)
  const box = createSecretBox([key], randomBytes)
  const [kept, read] = [box.encrypt('token', 'a'), box.encrypt('link', 'a')]
  expect([box.decryptCached(kept, 'a'), box.decrypt(read, 'a')]).toEqual(['token', 'link'])

  // From now on, nothing can be decrypted.
  key.fill(0)
  expect(box.decryptCached(kept, 'a')).toBe('token')
  expect(() => box.decryptCached(read, 'a')).toThrow(/authenticate/)
})

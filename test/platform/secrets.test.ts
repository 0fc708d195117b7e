import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { cacheSecrets, createSecretBox } from '../../src/platform/secrets.ts'

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
    /WAYBILL_SECRET_KEY does not contain/,
  )
})

test('caches what it decrypts, apart from the purposes that are not cached', () => {
  const box = createSecretBox([oldKey], randomBytes)
  const decrypted: string[] = []
  const counting = {
    ...box,
    decrypt: (...[ciphertext, purpose]: Parameters<typeof box.decrypt>) => {
      decrypted.push(purpose)
      return box.decrypt(ciphertext, purpose)
    },
  }
  const cached = cacheSecrets(counting, (purpose) => purpose !== 'link')

  for (const purpose of ['token', 'link']) {
    const sealed = box.encrypt('secret', purpose)
    expect([cached.decrypt(sealed, purpose), cached.decrypt(sealed, purpose)]).toEqual(['secret', 'secret'])
  }

  expect(decrypted).toEqual(['token', 'link', 'link'])
})

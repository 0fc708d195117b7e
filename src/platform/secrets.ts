import { createCipheriv, createDecipheriv, createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { BoundedMap } from './bounded-map.ts'

/**
 * Encrypts values that must be stored but not be readable: access tokens, app secrets, webhook secrets. `purpose` is
 * bound to the ciphertext, so that a secret cannot be moved to another row.
 */
export interface SecretBox {
  /** `v1.<key id>.<nonce>.<ciphertext and tag>`, AES-256-GCM (NIST SP 800-38D), base64url. */
  encrypt(plaintext: string, purpose: string): string
  /** Throws if no key of the ring produced this ciphertext, or if it was changed or moved. */
  decrypt(ciphertext: string, purpose: string): string
  /** Keeps the plaintext in memory, for secrets that are used thousands of times a second. Not for what people wrote. */
  decryptCached(ciphertext: string, purpose: string): string
  /** Returns whether the first key of the ring produced this ciphertext; false after a rotation. */
  isCurrent(ciphertext: string): boolean
  /**
   * HMAC-SHA256 of a text with each key of the ring, the current one first. Without a key, even a short text cannot be
   * found by brute force.
   */
  fingerprints(text: string, purpose: string): [Uint8Array, ...Uint8Array[]]
}

const nonceBytes = 12
const tagBytes = 16
const maxCached = 10_000

/**
 * Creates a secret box from keys of 32 bytes. The first key encrypts and all keys decrypt, so that keys can be rotated.
 */
export function createSecretBox(
  keys: readonly [Uint8Array, ...Uint8Array[]],
  randomBytes: (size: number) => Uint8Array,
): SecretBox {
  const ring = new Map(keys.map((key) => [keyId(key), key]))
  const current = keyId(keys[0])
  const cache = new BoundedMap<string, { purpose: string; plaintext: string }>(maxCached)
  const box: SecretBox = {
    encrypt(plaintext, purpose) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', keys[0], nonce).setAAD(Buffer.from(purpose))
      const sealed = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return ['v1', current, Buffer.from(nonce).toString('base64url'), sealed.toString('base64url')].join('.')
    },
    decrypt(ciphertext, purpose) {
      const [version, id = '', nonce = '', sealedText = ''] = ciphertext.split('.')
      const key = ring.get(id)
      if (version !== 'v1' || !key) throw new UnknownSecretKeyError(id)
      const sealed = Buffer.from(sealedText, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), {
        authTagLength: tagBytes,
      })
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(sealed.subarray(-tagBytes))
      return decipher.update(sealed.subarray(0, -tagBytes), undefined, 'utf8') + decipher.final('utf8')
    },
    decryptCached(ciphertext, purpose) {
      const known = cache.get(ciphertext)
      // The purpose is bound to the ciphertext.
      if (known?.purpose === purpose) return known.plaintext
      const plaintext = box.decrypt(ciphertext, purpose)
      cache.set(ciphertext, { purpose, plaintext })
      return plaintext
    },
    isCurrent: (ciphertext) => ciphertext.split('.')[1] === current,
    fingerprints(text, purpose) {
      const [first, ...others] = keys
      const fingerprint = (key: Uint8Array) => createHmac('sha256', key).update(`${purpose}\n${text}`).digest()
      return [fingerprint(first), ...others.map(fingerprint)]
    },
  }
  return box
}

export class UnknownSecretKeyError extends Error {
  constructor(id: string) {
    super(
      `a stored secret was encrypted with key ${id}, which WAYBILL_SECRET_KEY does not contain. Add that key to it, after its first key and a comma`,
    )
    this.name = 'UnknownSecretKeyError'
  }
}

function keyId(key: Uint8Array): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 8)
}

/** As `decryptCached`, but returns undefined if no key of the ring decrypts the ciphertext. */
export function tryDecryptCached(box: SecretBox, ciphertext: string, purpose: string): string | undefined {
  try {
    return box.decryptCached(ciphertext, purpose)
  } catch {
    return undefined
  }
}

/**
 * Compares in constant time. That requires values of equal length, so their digests are compared. An undefined secret
 * never matches.
 */
export function isSameSecret(given: string, expected: string | undefined): boolean {
  return expected !== undefined && timingSafeEqual(digest(given), digest(expected))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

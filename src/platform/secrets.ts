import { createCipheriv, createDecipheriv, createHash, timingSafeEqual } from 'node:crypto'

/**
 * Encrypts what must be kept but not read: access tokens, app secrets, webhook secrets.
 * `purpose` is bound to the ciphertext, so that a row's secret cannot be moved to another row.
 */
export interface SecretBox {
  /** `v1.<key id>.<nonce>.<ciphertext and tag>`, AES-256-GCM (NIST SP 800-38D), base64url. */
  encrypt(plaintext: string, purpose: string): string
  /** Throws when no key of the ring made this ciphertext, or it was changed, or moved. */
  decrypt(ciphertext: string, purpose: string): string
  /** Whether the first key of the ring made this ciphertext; false after a rotation. */
  isCurrent(ciphertext: string): boolean
}

const nonceBytes = 12
const tagBytes = 16

/** The first key encrypts; all of them decrypt, which is what lets a key be rotated. Keys have 32 bytes. */
export function createSecretBox(
  keys: readonly [Uint8Array, ...Uint8Array[]],
  randomBytes: (size: number) => Uint8Array,
): SecretBox {
  const ring = new Map(keys.map((key) => [keyId(key), key]))
  const current = keyId(keys[0])
  return {
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
    isCurrent: (ciphertext) => ciphertext.split('.')[1] === current,
  }
}

export class UnknownSecretKeyError extends Error {
  constructor(id: string) {
    super(`a stored secret was encrypted with key ${id}, which WAYBILL_SECRET_KEY does not hold`)
    this.name = 'UnknownSecretKeyError'
  }
}

function keyId(key: Uint8Array): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 8)
}

const maxRemembered = 10_000

/** Decrypts each ciphertext once: for whoever opens the same secrets thousands of times a second. */
export function rememberSecrets(box: SecretBox): SecretBox {
  const opened = new Map<string, string>()
  return {
    ...box,
    decrypt(ciphertext, purpose) {
      // The purpose is bound to the ciphertext: both make the key, so that neither passes for another.
      const key = `${purpose} ${ciphertext}`
      const known = opened.get(key)
      if (known !== undefined) return known
      const plaintext = box.decrypt(ciphertext, purpose)
      if (opened.size >= maxRemembered) opened.clear()
      opened.set(key, plaintext)
      return plaintext
    },
  }
}

/** Compares in constant time, which takes two values of one length: their digests. Nothing is the same as no secret. */
export function isSameSecret(given: string, expected: string | undefined): boolean {
  return expected !== undefined && timingSafeEqual(digest(given), digest(expected))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

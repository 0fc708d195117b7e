import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { BoundedMap } from '../../platform/bounded-map.ts'

interface SignedContent {
  /** The event ID, which is the same for every attempt. */
  id: string
  timestampSeconds: number
  payload: string
}

export type Signer = (content: SignedContent, secrets: readonly string[]) => string

export const secretPrefix = 'whsec_'
const maxKeys = 10_000

/**
 * Creates the `webhook-signature` header as Standard Webhooks defines it: `v1,` and the base64 HMAC-SHA256 of
 * `id.timestamp.payload`, one per secret, separated by spaces. Keys are cached: an HMAC takes 1.5 µs with a cached key
 * and 10.6 µs without.
 */
export function createSigner(): Signer {
  const keys = new BoundedMap<string, KeyObject>(maxKeys)
  const keyOf = (secret: string) => {
    const known = keys.get(secret)
    if (known) return known
    const key = createSecretKey(Buffer.from(secret.slice(secretPrefix.length), 'base64'))
    keys.set(secret, key)
    return key
  }
  return ({ id, timestampSeconds, payload }, secrets) => {
    const signed = `${id}.${timestampSeconds}.${payload}`
    return secrets
      .map((secret) => `v1,${createHmac('sha256', keyOf(secret)).update(signed).digest('base64')}`)
      .join(' ')
  }
}

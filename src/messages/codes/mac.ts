import { timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../../platform/secrets.ts'

/** The ID is part of it, so that equal codes have different values. */
export function computeCodeMac(secrets: SecretBox, id: string, code: string): Uint8Array {
  return secrets.fingerprints(code, purposeOf(id))[0]
}

/**
 * Compares in constant time, with each key of the ring: a code that was sent before the keys were rotated stays valid
 * as long as its key is in the ring.
 */
export function isRightCode(secrets: SecretBox, id: string, code: string, mac: Uint8Array): boolean {
  const matches = secrets.fingerprints(code, purposeOf(id)).map((candidate) => timingSafeEqual(candidate, mac))
  return matches.includes(true)
}

function purposeOf(id: string): string {
  return `one-time code ${id}`
}

/** What a limit counts for: the database does not need to hold the addresses of users. */
export function hashSubject(secrets: SecretBox, subject: string): Uint8Array {
  return secrets.fingerprints(subject, 'limit of one-time codes')[0]
}

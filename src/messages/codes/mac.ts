import { timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../../platform/secrets.ts'

/** Includes the ID, so that equal codes have different MACs. */
export function computeCodeMac(secrets: SecretBox, id: string, code: string): Uint8Array {
  return secrets.fingerprints(code, purposeOf(id))[0]
}

/**
 * Compares in constant time, with each server key: a code that was sent before a key rotation stays valid as long as
 * its key is configured.
 */
export function isCorrectCode(secrets: SecretBox, id: string, code: string, mac: Uint8Array): boolean {
  const matches = secrets.fingerprints(code, purposeOf(id)).map((candidate) => timingSafeEqual(candidate, mac))
  return matches.includes(true)
}

function purposeOf(id: string): string {
  return `one-time code ${id}`
}

/** Hashes the subject of a limit, so that the database does not contain the IP addresses of users. */
export function hashSubject(secrets: SecretBox, subject: string): Uint8Array {
  return secrets.fingerprints(subject, 'limit of one-time codes')[0]
}

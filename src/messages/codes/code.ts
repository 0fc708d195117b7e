import { timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../../platform/secrets.ts'

/** Digits, each of them equally likely. */
export function generateCode(length: number, randomBytes: (size: number) => Uint8Array): string {
  let code = ''
  while (code.length < length)
    // The largest multiple of ten that a byte can hold is 250; the rest would make small digits more likely.
    for (const byte of randomBytes(length)) if (byte < 250 && code.length < length) code += byte % 10
  return code
}

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

import { createHash, timingSafeEqual } from 'node:crypto'

/** Compares in constant time, which takes two values of one length: their digests. Nothing is the same as no secret. */
export function isSameSecret(given: string, expected: string | undefined): boolean {
  return expected !== undefined && timingSafeEqual(digest(given), digest(expected))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

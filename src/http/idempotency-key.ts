import { ServiceError } from '../../contracts/errors.ts'

/** Printable ASCII, as a Structured Field string holds it (RFC 9651, 3.3.3). */
const keyPattern = /^[\x20-\x7e]{1,255}$/

/**
 * The key of an `Idempotency-Key` header: a quoted string, as draft-ietf-httpapi-idempotency-key-header
 * has it, or bare, as most callers write it. Both spellings are one key.
 */
export function parseIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  const key =
    text.startsWith('"') && text.endsWith('"') && text.length >= 2
      ? text.slice(1, -1).replace(/\\(["\\])/g, '$1')
      : text
  if (!keyPattern.test(key))
    throw new ServiceError(
      'VALIDATION_ERROR',
      'Idempotency-Key: must be 1 to 255 printable ASCII characters, such as a UUID.',
    )
  return key
}

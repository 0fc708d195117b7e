import { describeError, type ErrorCode } from '../../../contracts/errors.ts'
import type { ApiProcedure } from '../../../contracts/procedure.ts'
import { type Header, refer, type Reference } from './document.ts'

/** The header fields of our responses. */
export const headers = {
  'X-Request-Id': {
    description: 'ID of this request, which is also in our log. Include it when you report a problem.',
    schema: { type: 'string' },
    example: 'req_9f86d081884c_1x',
  },
  'Retry-After': {
    description: 'Whole seconds after which to try again (RFC 9110, 10.2.3).',
    schema: { type: 'integer', minimum: 0 },
    example: 12,
  },
  Link: {
    description: 'The documentation page of the error code (RFC 8288).',
    schema: { type: 'string' },
    example: '</docs/errors/VALIDATION_ERROR>; rel="help"',
  },
  RateLimit: {
    description:
      'What is left of the rate limit: `r` requests during the next `t` seconds (draft-ietf-httpapi-ratelimit-headers).',
    schema: { type: 'string' },
    example: '"default";r=59;t=60',
  },
  'RateLimit-Policy': {
    description: 'The rate limit of the account: `q` requests in `w` seconds (draft-ietf-httpapi-ratelimit-headers).',
    schema: { type: 'string' },
    example: '"default";q=60;w=60',
  },
  'Idempotent-Replayed': {
    description:
      '`true` when this is the stored result of an earlier request: one with the same `Idempotency-Key` or, for `code.send`, the same request within 30 seconds; absent otherwise.',
    schema: { type: 'string' },
    example: 'true',
  },
} as const satisfies Record<string, Header>

type HeaderName = keyof typeof headers

/** Errors returned before rate limiting and validation. */
const rejectedEarly: ReadonlySet<ErrorCode> = new Set([
  'INVALID_API_KEY',
  'API_DISABLED',
  'IP_NOT_ALLOWED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'INTERNAL_ERROR',
])

/** Error codes that can be stored as the result of a request with an idempotency key. */
const storedOutcomes: ReadonlySet<ErrorCode> = new Set(['MESSAGE_REJECTED', 'SEND_OUTCOME_UNKNOWN'])

/** Lists the header fields of a failure with one of these codes, or of a success if there are none. */
export function listHeaders(contract: ApiProcedure, codes: readonly ErrorCode[]): Record<string, Reference> {
  const succeeded = codes.length === 0
  const names: HeaderName[] = succeeded ? ['X-Request-Id'] : ['X-Request-Id', 'Link']
  if (codes.some((code) => describeError(code).retryAfter)) names.push('Retry-After')
  if (contract.budget === 'sends' && (succeeded || codes.some((code) => !rejectedEarly.has(code))))
    names.push('RateLimit', 'RateLimit-Policy')
  if (contract.idempotent && (succeeded || codes.some((code) => storedOutcomes.has(code))))
    names.push('Idempotent-Replayed')
  return Object.fromEntries(names.map((name) => [name, refer('headers', name)]))
}

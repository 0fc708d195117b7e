/**
 * Every failure a caller can see. A code, once published, keeps its meaning.
 * The first six are the spec's (section Errors); the rest fill what it leaves open.
 */
export const errors = {
  VALIDATION_ERROR: {
    status: 400,
    summary:
      'A field is missing or malformed, or the variables do not fit the template. The message names the field and the fix.',
  },
  NO_ACTIVE_ACCOUNT: {
    status: 400,
    summary: 'No usable WhatsApp account: none, inactive, unknown `accountId`, or its token was refused by WhatsApp.',
  },
  INVALID_API_KEY: { status: 401, summary: 'The `X-API-Key` header is absent, or its key does not match.' },
  API_DISABLED: { status: 403, summary: 'API access is disabled for this account.' },
  IP_NOT_ALLOWED: { status: 403, summary: 'The source address is not on the IP allow-list of this account.' },
  TEMPLATE_NOT_FOUND: { status: 404, summary: 'The template is unknown or not APPROVED. The message says which.' },
  MESSAGE_NOT_FOUND: { status: 404, summary: 'This account has no message with this ID.' },
  NOT_FOUND: { status: 404, summary: 'There is no such route.' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    summary: 'The route exists, but not with this method. `Allow` lists the methods.',
  },
  IDEMPOTENCY_KEY_IN_USE: { status: 409, summary: 'The first request with this `Idempotency-Key` is still running.' },
  PAYLOAD_TOO_LARGE: { status: 413, summary: 'The request body is larger than 64 KiB.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, summary: 'The request body is not `application/json`.' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, summary: 'This `Idempotency-Key` was used with another request body.' },
  MESSAGE_REJECTED: {
    status: 422,
    summary: 'WhatsApp refused this message for good. The message carries its code and reason.',
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    summary: 'Too many requests for this account. `Retry-After` says when to try again.',
  },
  WHATSAPP_THROTTLED: {
    status: 429,
    summary: 'WhatsApp is throttling the sender. Nothing was sent. `Retry-After` says when to try again.',
  },
  INTERNAL_ERROR: {
    status: 500,
    summary: 'Something failed on our side. The message carries a request ID that our log has too.',
  },
  WHATSAPP_UNAVAILABLE: {
    status: 503,
    summary: 'WhatsApp could not be reached or could not serve the request. Nothing was sent.',
  },
  SERVICE_UNAVAILABLE: { status: 503, summary: 'The service or its database is unavailable. Nothing was sent.' },
  SEND_OUTCOME_UNKNOWN: {
    status: 504,
    summary:
      'The connection to WhatsApp broke after the request was written: the message may have been sent. It stays `pending` until the status webhook settles it; a retry with the same `Idempotency-Key` never sends twice.',
  },
} as const satisfies Record<string, { status: number; summary: string }>

export type ErrorCode = keyof typeof errors
export type ErrorStatus = (typeof errors)[ErrorCode]['status']

/** What a caller did or met, as one of the published codes. Its message is written for the caller. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  /** Whole seconds after which a retry makes sense; sent as `Retry-After` (RFC 9110, 10.2.3). */
  readonly retryAfterSeconds: number | undefined
  /** The answer to an earlier request with the same `Idempotency-Key`, given again. */
  readonly replayed: boolean

  constructor(
    code: ErrorCode,
    message: string,
    options: { retryAfterSeconds?: number; replayed?: boolean; cause?: unknown } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.name = 'ServiceError'
    this.code = code
    this.retryAfterSeconds = options.retryAfterSeconds
    this.replayed = options.replayed ?? false
  }
}

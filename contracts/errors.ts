import { errorFactsWithValues } from './facts/errors.ts'
import { type Fact, type Facts, inEnglish, type Sentence } from './facts/fact.ts'

interface ErrorDefinition {
  status: number
  /** When the error occurs, for the documentation. */
  summary: string
  /** Example of an error message. */
  example: string
  /** What else a program can read in the example. */
  exampleDetails?: ErrorDetails
  /** The response has a `Retry-After` header (RFC 9110, 10.2.3). */
  retryAfter?: true
  /** Only the dashboard and commands meet it. Every other code is part of the public API. */
  audience?: 'dashboard'
}

/**
 * Every failure that a caller can see. A published code never changes its meaning.
 */
export const errors = {
  VALIDATION_ERROR: {
    status: 400,
    summary:
      'A field is missing or malformed, or the values do not fit the template. The message names the field and the fix.',
    example:
      'to: must be the country code followed by the number, 7 to 15 digits only: no +, no spaces, no hyphens, no leading zero (for example 34600111222).',
  },
  NO_ACTIVE_ACCOUNT: {
    status: 400,
    summary: 'No usable WhatsApp account: none, inactive, unknown `accountId`, or its token was rejected by WhatsApp.',
    example: 'No default WhatsApp account is set up. Add one, or name one in accountId.',
  },
  INVALID_API_KEY: {
    status: 401,
    summary: 'The `X-API-Key` header is absent, or its key does not match.',
    example: 'Invalid API key.',
  },
  API_DISABLED: {
    status: 403,
    summary: 'API access is disabled for this account.',
    example: 'API access is disabled for this account.',
  },
  IP_NOT_ALLOWED: {
    status: 403,
    summary: 'The source address is not on the IP allow-list of this account.',
    example: 'Requests from 203.0.113.7 are not allowed: it is not on the IP allow-list of this account.',
  },
  TEMPLATE_NOT_FOUND: {
    status: 404,
    summary: 'The template is unknown or not APPROVED. The message says which.',
    example: 'The template "order_shipped" in language en is not approved: its status is PAUSED.',
  },
  MESSAGE_NOT_FOUND: {
    status: 404,
    summary: 'This account has no message with this ID.',
    example:
      'messageId: this account has no message with this ID. GET /api/v1/message lists the messages with their IDs.',
  },
  MEDIA_NOT_FOUND: {
    status: 404,
    summary: 'This account has no uploaded file with this ID, or it has expired.',
    example: 'mediaId: this account has no file with this ID, or it has expired.',
  },
  CODE_NOT_FOUND: {
    status: 404,
    summary: 'No one-time code is waiting to be checked for this recipient and purpose.',
    example: 'to: no code is waiting to be checked for this recipient and purpose: none was sent, or it was used.',
  },
  TEMPLATE_EXISTS: {
    status: 409,
    summary: 'WhatsApp has a template of this name and language with other content.',
    example:
      'The template "order_shipped" in language en exists with other content (APPROVED). Update it, or choose another name.',
  },
  TEMPLATE_CHANGES_DISABLED: {
    status: 403,
    summary: 'The API key of this account may not create, change or delete templates.',
    example:
      'The API key of this account may not change templates. Allow it in the dashboard under Public API, or change templates there.',
  },
  TEMPLATE_REFUSED: {
    status: 422,
    summary: 'WhatsApp rejected a change to a template, or the quota is used up. The message says why.',
    example:
      'The body has too many variables for its length. Add words around the variables, or use fewer of them. WhatsApp said (100/2388293): This template has too many variables for its length.',
    exampleDetails: { failureCode: '100' },
  },
  /** For the dashboard and commands, also for what has no code of its own, such as an account or a user. */
  NOT_FOUND: {
    status: 404,
    summary: 'There is no such route.',
    example: 'There is no such route. The routes are listed in /openapi.json.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    summary: 'The route exists, but not with this method. `Allow` lists the methods.',
    example: 'This route takes POST only.',
  },
  SIGN_IN_REQUIRED: {
    status: 401,
    summary: 'The caller is not signed in, or the session has ended.',
    example: 'You are not signed in, or your session has ended. Sign in again.',
    audience: 'dashboard',
  },
  ROLE_REQUIRED: {
    status: 403,
    summary: 'The role of this user does not allow the change.',
    example: 'Viewers cannot change anything. Ask an owner of this account.',
    audience: 'dashboard',
  },
  FOREIGN_ORIGIN: {
    status: 403,
    summary: 'The request came from a page of another site.',
    example: 'This request was rejected because it came from a site other than the dashboard.',
    audience: 'dashboard',
  },
  /** Also for a command that cannot run, such as a move to a database that is in use. */
  SETTING_REFUSED: {
    status: 409,
    summary: 'The change is not possible in the current state. The message says why.',
    example: 'This WhatsApp account is inactive: nothing is sent from it. Activate it first.',
    audience: 'dashboard',
  },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    summary: 'The first request with this `Idempotency-Key` is still running.',
    example: 'The first request with this Idempotency-Key is still running. Try again in a moment.',
    retryAfter: true,
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    summary: 'The request body is larger than 64 KiB, or an uploaded file larger than WhatsApp accepts.',
    example: 'The request body is larger than 64 KiB.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    summary: 'The request body is not `application/json`, or an uploaded file is of a type that no template can show.',
    example: 'The request body must be JSON in UTF-8: send the header Content-Type: application/json.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    summary: 'This `Idempotency-Key` was used with another request body.',
    example: 'This Idempotency-Key was used with another request body. Use a new key for a new message.',
  },
  MESSAGE_REJECTED: {
    status: 422,
    summary: 'WhatsApp rejected this message permanently. `failureCode` is its code.',
    example: 'WhatsApp rejected this message (131026): Message undeliverable.',
    exampleDetails: { messageId: 'msg_01kah3b9mzf5vt2d0wq8r6x4ye', failureCode: '131026' },
  },
  MEDIA_DOWNLOAD_FAILED: {
    status: 422,
    summary: 'The file behind `link` could not be downloaded. The message says why.',
    example: 'link: the server answered HTTP 404. Nothing was stored.',
  },
  MEDIA_QUOTA_EXCEEDED: {
    status: 422,
    summary: 'The stored files of this account would exceed its quota.',
    example:
      'With this file of 12 MB, the files of this account would exceed its quota of 2048 MB (WAYBILL_MEDIA_QUOTA_MB). Delete files, wait until some expire, or ask the operator for a higher quota.',
  },
  SUPPRESSION_QUOTA_EXCEEDED: {
    status: 422,
    summary: 'The suppression list of this account would exceed its quota. Nothing was added.',
    example:
      'The suppression list of this account would exceed its quota of 1000000 recipients (WAYBILL_SUPPRESSION_QUOTA). Nothing was added. Remove recipients, or ask the operator for a higher quota. Recipients can still opt out.',
  },
  MEDIA_REJECTED: {
    status: 422,
    summary: 'WhatsApp rejected a file. `failureCode` is its code.',
    example: 'WhatsApp rejected this file (100): Param file must be a file with one of the supported types.',
    exampleDetails: { failureCode: '100' },
  },
  RECIPIENT_SUPPRESSED: {
    status: 422,
    summary: 'The recipient opted out of messages of this category, or of all messages. Nothing was sent.',
    example:
      'to: this recipient has been on the suppression list since 2026-11-20T09:36:12.000Z (reason: reply). MARKETING templates are not sent to suppressed recipients. Nothing was sent.',
  },
  CODE_INCORRECT: {
    status: 422,
    summary: 'The one-time code is wrong. The message says how many attempts are left.',
    example: 'code: incorrect code; 4 attempts left.',
  },
  CODE_EXPIRED: {
    status: 422,
    summary: 'The one-time code has expired.',
    example: 'code: the code has expired. Send a new one.',
  },
  CODE_ATTEMPTS_EXCEEDED: {
    status: 422,
    summary: 'The one-time code was checked too often and is no longer accepted.',
    example: 'code: the code was checked too often and is no longer accepted. Send a new one.',
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    summary: 'Too many requests for this account. `Retry-After` says when to try again.',
    example: 'This account may send 60 requests per minute. Try again in 12 seconds.',
    retryAfter: true,
  },
  CODE_LIMIT_EXCEEDED: {
    status: 429,
    summary:
      'Too many one-time codes for this recipient, or too many codes or wrong checks from this `clientIp`. `Retry-After` says when to try again.',
    example: 'to: too many codes were sent to this recipient. Try again in 25 seconds.',
    retryAfter: true,
  },
  WHATSAPP_THROTTLED: {
    status: 429,
    summary: 'WhatsApp is throttling the sender. Nothing was sent. `Retry-After` says when to try again.',
    example: 'WhatsApp is throttling this sender (130429): Rate limit hit. Nothing was sent.',
    retryAfter: true,
  },
  INTERNAL_ERROR: {
    status: 500,
    summary: 'An unexpected error in Waybill. The message has a request ID, which is also in the log of the server.',
    example: 'Internal error. Contact whoever operates this server, and include the request ID req_9f86d081884c_1x.',
  },
  WHATSAPP_UNAVAILABLE: {
    status: 503,
    summary: 'WhatsApp could not be reached or could not serve the request. Nothing was sent.',
    example: 'WhatsApp is unavailable: no connection. Nothing was sent.',
    retryAfter: true,
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    summary: 'The service or its database is unavailable. Nothing was sent.',
    example: 'The database is unavailable. Nothing was sent. Try again in a moment.',
    retryAfter: true,
  },
  SEND_OUTCOME_UNKNOWN: {
    status: 504,
    summary:
      'WhatsApp’s response was lost, because the connection broke or the service was interrupted: the message may have been sent. It stays `pending` until the status webhook settles it; a retry with the same `Idempotency-Key` never sends twice.',
    example:
      "WhatsApp's answer is missing (the connection broke), so message msg_01kah3b9mzf5vt2d0wq8r6x4ye may have been sent. It stays pending until the status webhook settles it. A retry with the same Idempotency-Key never sends twice; one without it may.",
    exampleDetails: { messageId: 'msg_01kah3b9mzf5vt2d0wq8r6x4ye' },
  },
} as const satisfies Record<string, ErrorDefinition>

export type ErrorCode = keyof typeof errors
export type ErrorStatus = (typeof errors)[ErrorCode]['status']

type DashboardErrorCode = {
  [Code in ErrorCode]: (typeof errors)[Code] extends { audience: 'dashboard' } ? Code : never
}[ErrorCode]
/** The codes of the public API, which `openapi.json` lists. */
export type ApiErrorCode = Exclude<ErrorCode, DashboardErrorCode>

export function describeError(code: ErrorCode): ErrorDefinition {
  return errors[code]
}

// The casts are needed because `Object.keys` returns `string[]`.
export const apiErrorCodes = (Object.keys(errors) as ErrorCode[]).filter(
  (code) => describeError(code).audience !== 'dashboard',
) as ApiErrorCode[]

/** What else a program can read about a failure. */
export interface ErrorDetails {
  /** The message of a send that failed after it was recorded. */
  messageId?: string | undefined
  /** Why: the error code of WhatsApp, such as `131026`, or one of ours. A failed message has it as `error.code`. */
  failureCode?: string | undefined
  /** The first field that is wrong, such as `variables.2`. */
  field?: string | undefined
}

/** The data of a tRPC error for API callers. */
export interface ErrorData<Code extends ErrorCode = ErrorCode> extends ErrorDetails {
  code: Code
  httpStatus: ErrorStatus
  /** Whole seconds after which a retry makes sense. */
  retryAfterSeconds?: number
}

/** The data of a tRPC error for the dashboard. */
export interface DashboardErrorData extends ErrorData {
  /** The problem of each field, by dotted name, to show beside the field. */
  fields?: Readonly<Record<string, string>>
  /** What the message says. */
  fact?: Fact
  /** What the problem of each field says. */
  facts?: Facts
}

interface ServiceErrorOptions extends Omit<ErrorDetails, 'field'> {
  retryAfterSeconds?: number
  replayed?: boolean
  /** The field that the whole message is about. For several fields, use `fields`. */
  field?: string
  fields?: Readonly<Record<string, Sentence>>
  remedy?: string
  cause?: unknown
}

/** An error that is reported to the caller with one of the codes above. Its message is written for the caller. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  /** Whole seconds after which a retry makes sense; sent as `Retry-After` (RFC 9110, 10.2.3). */
  readonly retryAfterSeconds: number | undefined
  /** Whether this is the stored result of an earlier request with the same `Idempotency-Key`. */
  readonly replayed: boolean
  readonly details: Readonly<ErrorDetails>
  /** What the message says; absent if it has no translation. */
  readonly fact: Fact | undefined
  /** The problem of each field, by dotted name. */
  readonly fields: Readonly<Record<string, Sentence>>
  /** A command that fixes the problem. Shown only on the command line. */
  readonly remedy: string | undefined

  constructor(code: ErrorCode, said: Sentence, options: ServiceErrorOptions = {}) {
    super(inEnglish(said), 'cause' in options ? { cause: options.cause } : undefined)
    this.name = 'ServiceError'
    this.code = code
    this.retryAfterSeconds = options.retryAfterSeconds
    this.replayed = options.replayed ?? false
    this.fields = options.fields ?? (options.field === undefined ? {} : { [options.field]: said })
    const field = toFieldPath(Object.keys(this.fields)[0] ?? '')
    this.details = {
      ...(options.messageId !== undefined && { messageId: options.messageId }),
      ...(options.failureCode !== undefined && { failureCode: options.failureCode }),
      ...(field !== '' && { field }),
    }
    this.fact = typeof said === 'string' ? undefined : said
    this.remedy = options.remedy
  }
}

const step = /^(?:[A-Za-z_][\w-]{0,63}|\d{1,3})$/

/** `buttons[0].url` becomes `buttons.0.url`. Ends before a name of the caller's that can be a value, such as a code. */
function toFieldPath(field: string): string {
  const steps = field.replaceAll(/\[(\d+)\]/g, '.$1').split('.')
  const end = steps.findIndex((name) => !step.test(name))
  return (end === -1 ? steps : steps.slice(0, end)).join('.')
}

/** Creates the error for one invalid field. `problem` is a sentence without its subject, such as `must be a number.` */
export function invalidField(field: string, problem: Sentence): ServiceError {
  return new ServiceError('VALIDATION_ERROR', errorFactsWithValues.field({ field, problem }), {
    fields: { [field]: problem },
  })
}

/** Creates the error for a request, or a part of it, that arrives too slowly. The same one succeeds over a better connection. */
export function arrivedTooLate(part: string, reason?: string): ServiceError {
  const problem = `${part} did not arrive in time${reason === undefined ? '' : `: ${reason}`}.`
  return new ServiceError('SERVICE_UNAVAILABLE', `${problem} Nothing was stored or sent.`, { retryAfterSeconds: 1 })
}

/** Formats the path of a field for messages: `['buttons', 0, 'url']` becomes `buttons[0].url`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${String(step)}`))
    .join('')
}

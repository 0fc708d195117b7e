import type { TRPC_ERROR_CODE_KEY } from '@trpc/server'
import { errorFacts, errorFactsWithValues } from '../../../contracts/facts/errors.ts'
import { documentedErrorCodes } from '../../../contracts/error-help.ts'
import { type ErrorCode, type ErrorDetails, errors, type ErrorStatus, ServiceError } from '../../../contracts/errors.ts'
import { isDeadlock, isDiskFull, isLockTimeout, isTransient } from '../../platform/db/errors.ts'
import type { Logger } from '../../platform/log.ts'

export interface FailureBody {
  success: false
  error: { code: ServiceError['code']; message: string } & ErrorDetails
}

export function toFailureBody({ code, message, details }: ServiceError): FailureBody {
  return { success: false, error: { code, message, ...details } }
}

export function statusOf(error: ServiceError): ErrorStatus {
  return errors[error.code].status
}

/** Header fields of a failure. Without a public URL, the link to the error code's page is relative. */
export function failureHeaders(error: ServiceError, publicUrl: string | undefined): Record<string, string> {
  return {
    'Cache-Control': 'no-store',
    ...(documented.has(error.code) && { Link: `<${helpUrl(error.code, publicUrl)}>; rel="help"` }),
    ...(error.retryAfterSeconds !== undefined && { 'Retry-After': String(error.retryAfterSeconds) }),
    ...(error.replayed && { 'Idempotent-Replayed': 'true' }),
  }
}

const documented: ReadonlySet<ErrorCode> = new Set(documentedErrorCodes)

function helpUrl(code: ErrorCode, publicUrl: string | undefined): string {
  const path = `/docs/errors/${code}`
  return publicUrl === undefined ? path : new URL(path, publicUrl).href
}

export const trpcCodes = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_SUPPORTED',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'UNPROCESSABLE_CONTENT',
  429: 'TOO_MANY_REQUESTS',
  500: 'INTERNAL_SERVER_ERROR',
  503: 'SERVICE_UNAVAILABLE',
  504: 'GATEWAY_TIMEOUT',
} as const satisfies Record<ErrorStatus, TRPC_ERROR_CODE_KEY>

/**
 * Converts anything thrown to one of the published error codes. An unknown error becomes INTERNAL_ERROR without its
 * text; the log has the details under the same request ID.
 */
export function toServiceError(error: unknown, { requestId, log }: { requestId: string; log: Logger }): ServiceError {
  if (error instanceof ServiceError) return error
  if (isTransient(error)) {
    logUnavailable(log, error, requestId)
    return new ServiceError('SERVICE_UNAVAILABLE', errorFacts.databaseUnavailable(), { retryAfterSeconds: 1 })
  }
  log.error({ err: error, requestId }, 'a request failed')
  return new ServiceError('INTERNAL_ERROR', errorFactsWithValues.internal({ requestId }))
}

const outageLogMilliseconds = 1_000
type LastLogged = WeakMap<Logger, { loggedAt: number; unlogged: number }>
const outages: LastLogged = new WeakMap()
const lockTimeouts: LastLogged = new WeakMap()

/** During an outage, thousands of requests a second can fail for the same reason: at most one a second is logged. */
function logUnavailable(log: Logger, error: unknown, requestId: string): void {
  const now = performance.now()
  const [lastLogged, message] =
    isLockTimeout(error) || isDeadlock(error)
      ? [lockTimeouts, 'a request waited too long for a lock of the database']
      : [outages, isDiskFull(error) ? 'the disk of the database is full' : 'the database is unavailable']
  const last = lastLogged.get(log)
  if (last && now - last.loggedAt < outageLogMilliseconds) {
    last.unlogged += 1
    return
  }
  lastLogged.set(log, { loggedAt: now, unlogged: 0 })
  const moreRequests = last && last.unlogged > 0 ? { moreRequests: last.unlogged } : {}
  log.error({ err: error, requestId, ...moreRequests }, message)
}

/** Errors that Fastify raises before a route runs, by Fastify's error code. */
const fastifyErrors: Record<string, () => ServiceError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new ServiceError('PAYLOAD_TOO_LARGE', 'The request body is larger than 64 KiB.'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new ServiceError(
      'UNSUPPORTED_MEDIA_TYPE',
      'The request body must be JSON: send the header Content-Type: application/json.',
    ),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ServiceError('VALIDATION_ERROR', 'The request body does not have the length that Content-Length announces.'),
  FST_ERR_BAD_URL: () =>
    new ServiceError('VALIDATION_ERROR', 'The path of the URL is not valid: check its percent-encoding.'),
  FST_ERR_MAX_PARAM_LENGTH: () => new ServiceError('NOT_FOUND', errorFacts.noRoute()),
}

/** Returns a `ServiceError` for a caller's mistake at the HTTP level; undefined for any other error. */
export function fromFastifyError(error: unknown): ServiceError | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  const create = fastifyErrors[error.code]
  if (create) return create()
  const status = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500
  return error.code.startsWith('FST_') && status < 500
    ? new ServiceError('VALIDATION_ERROR', 'The request could not be read as HTTP.')
    : undefined
}

import type { TRPC_ERROR_CODE_KEY } from '@trpc/server'
import { errors, ServiceError, type ErrorStatus } from '../../contracts/errors.ts'
import { isDatabaseUnavailable } from '../db/unavailable.ts'
import type { Logger } from '../telemetry.ts'

/** The failure envelope of the spec. */
export interface FailureBody {
  success: false
  error: { code: ServiceError['code']; message: string }
}

export function toFailureBody({ code, message }: ServiceError): FailureBody {
  return { success: false, error: { code, message } }
}

export function statusOf(error: ServiceError): ErrorStatus {
  return errors[error.code].status
}

/** Header fields of a failure. */
export function failureHeaders(error: ServiceError): Record<string, string> {
  return {
    ...(error.retryAfterSeconds !== undefined && { 'Retry-After': String(error.retryAfterSeconds) }),
    ...(error.replayed && { 'Idempotent-Replayed': 'true' }),
  }
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
 * Whatever was thrown, as one of the published codes. What is not ours becomes INTERNAL_ERROR with
 * nothing of its text; the log has the rest, under the same request id.
 */
export function toServiceError(error: unknown, { requestId, log }: { requestId: string; log: Logger }): ServiceError {
  if (error instanceof ServiceError) return error
  if (isDatabaseUnavailable(error)) {
    log.error({ err: error, requestId }, 'the database is unavailable')
    return new ServiceError(
      'SERVICE_UNAVAILABLE',
      'The database is unavailable. Nothing was sent. Try again in a moment.',
      { retryAfterSeconds: 1 },
    )
  }
  log.error({ err: error, requestId }, 'a request failed')
  return new ServiceError('INTERNAL_ERROR', `Something failed on our side. Report it with the request ID ${requestId}.`)
}

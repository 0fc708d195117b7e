import { ServiceError } from '../../contracts/errors.ts'

/** What Fastify itself refuses before a route runs, by its error code. */
const refusals: Record<string, () => ServiceError> = {
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
  FST_ERR_MAX_PARAM_LENGTH: () => new ServiceError('NOT_FOUND', 'There is no such route.'),
}

/** A `ServiceError` for what the caller did wrong at the HTTP level; undefined for everything else. */
export function fromFastifyError(error: unknown): ServiceError | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  const refusal = refusals[error.code]
  if (refusal) return refusal()
  const status = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500
  return error.code.startsWith('FST_') && status < 500
    ? new ServiceError('VALIDATION_ERROR', 'The request could not be read as HTTP.')
    : undefined
}

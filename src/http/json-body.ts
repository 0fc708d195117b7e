import { isUtf8 } from 'node:buffer'
import { ServiceError } from '../../contracts/errors.ts'

/** RFC 8259, 8.1, lets a parser ignore it. */
const byteOrderMark = '\uFEFF'

/** The value of a JSON request body (RFC 8259). Errors say where it breaks, never what stands there. */
export function parseJsonBody(
  body: unknown,
  headers: { contentType: string | undefined; contentEncoding: string | undefined },
): unknown {
  if (!isJson(headers.contentType))
    throw new ServiceError(
      'UNSUPPORTED_MEDIA_TYPE',
      'The request body must be JSON in UTF-8: send the header Content-Type: application/json.',
    )
  if (headers.contentEncoding !== undefined && headers.contentEncoding !== 'identity')
    throw new ServiceError(
      'UNSUPPORTED_MEDIA_TYPE',
      'The request body must not be compressed: send it without Content-Encoding.',
    )
  if (!Buffer.isBuffer(body) || body.length === 0)
    throw new ServiceError('VALIDATION_ERROR', 'The request body is empty: it must be a JSON object.')
  return parse(decode(body))
}

function isJson(contentType: string | undefined): boolean {
  // As most callers write it.
  if (contentType === 'application/json') return true
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '')
  return type === 'application/json' && (charset === undefined || charset === 'utf-8' || charset === 'utf8')
}

function decode(body: Buffer): string {
  if (!isUtf8(body)) throw new ServiceError('VALIDATION_ERROR', 'The request body is not valid UTF-8.')
  const text = body.toString('utf8')
  return text.startsWith(byteOrderMark) ? text.slice(1) : text
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined
    throw new ServiceError(
      'VALIDATION_ERROR',
      `The request body is not valid JSON: it breaks at ${position === undefined ? 'its end' : `character ${position}`}.`,
    )
  }
}

import type { Socket } from 'node:net'
import { ServiceError } from '../../contracts/errors.ts'
import { toFailureBody } from './errors.ts'

/** Answers what is not HTTP, or came too slowly, in the envelope too; then the connection is over. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const body = JSON.stringify(toFailureBody(describe(error.code)))
  const head = [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

function describe(code: string | undefined): ServiceError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ServiceError(
        'VALIDATION_ERROR',
        'The request did not arrive in time: send headers and body within 10 seconds.',
      )
    case 'HPE_HEADER_OVERFLOW':
      return new ServiceError('VALIDATION_ERROR', 'The request headers are larger than 16 KiB.')
    default:
      return new ServiceError('VALIDATION_ERROR', 'The request is not valid HTTP.')
  }
}

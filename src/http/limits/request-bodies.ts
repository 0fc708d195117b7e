import type { IncomingMessage } from 'node:http'
import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify'
import { errorFacts } from '../../../contracts/facts/errors.ts'
import { arrivedTooLate, ServiceError } from '../../../contracts/errors.ts'
import { networkOf } from '../../accounts/ip-allow-list.ts'
import { type BodyLimits, type BodyRejection, createBodyReceiver, type ReceivedBody } from './body.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** A content type parser that receives the bytes of a body. */
    receiveBody: ReceiveBody
  }
}

type ReceiveBody = (
  request: FastifyRequest,
  payload: IncomingMessage,
  done: (error: Error | null, body?: Buffer) => void,
) => void

const mebibyte = 1024 * 1024

const limits: Omit<BodyLimits, 'maxBytes'> = {
  maxHeldBytes: 32 * mebibyte,
  // All bodies that the concurrent requests of one proxy can have, if they arrive in pieces of 32 KiB.
  maxHeldBytesOfAddress: 16 * mebibyte,
  // `Connections` ends slow bodies much earlier.
  deadlineMilliseconds: 60_000,
  // Clients that write JSON piece by piece have few bytes in a chunk, but small bodies.
  maxChunks: 1024,
}

/**
 * Only collects the bytes of bodies, in this Fastify context and those inside: they are parsed after authentication. Until
 * then, the caller is unknown, so memory is limited per body, per network and in total.
 */
export function receiveBodies(app: FastifyInstance, maxBytes: number): void {
  const bodies = createBodyReceiver({ ...limits, maxBytes }, toFailure)
  app.decorate('receiveBody', (request, payload, done) => {
    const length = contentLength(request)
    if (length !== undefined && length > maxBytes) return done(toFailure('too_large'))
    let body: Buffer | undefined
    const stop = () => payload.off('data', append).off('end', finish).off('error', finish)
    const append = (chunk: Buffer) => {
      // Nearly all bodies arrive in one chunk. It is copied, because it shares the memory of the socket.
      if (chunk.length === length) {
        body = Buffer.from(chunk)
        return
      }
      stop()
      const sender = { address: networkOf(request.ip), length }
      bodies.receive(payload, { ...sender, first: chunk }).then(complete, done)
    }
    const complete = ({ bytes, release }: ReceivedBody) => {
      release()
      done(null, bytes)
    }
    const finish = (error?: Error) => {
      stop()
      done(error ?? null, body ?? Buffer.alloc(0))
    }
    payload.on('data', append).on('end', finish).on('error', finish)
  })
  app.removeAllContentTypeParsers()
  // Fastify parses a type that is not named anew for each request.
  app.addContentTypeParser(['application/json', '*'], app.receiveBody)
}

function toFailure(reason: BodyRejection): Error {
  switch (reason) {
    case 'too_large':
      return new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
    case 'too_many_chunks':
      return new ServiceError(
        'PAYLOAD_TOO_LARGE',
        'The request body has more than 1,024 chunks. Send it with a Content-Length, or in larger chunks.',
      )
    case 'too_many':
      return new ServiceError('SERVICE_UNAVAILABLE', errorFacts.busy(), { retryAfterSeconds: 1 })
    case 'too_slow':
      return arrivedTooLate('The request body')
    case 'interrupted':
      return new ServiceError('VALIDATION_ERROR', 'The request ended early.')
  }
}

/** The Content-Length; undefined for a chunked body. */
export function contentLength({ headers }: FastifyRequest): number | undefined {
  const length = Number(headers['content-length'] ?? NaN)
  return Number.isSafeInteger(length) ? length : undefined
}

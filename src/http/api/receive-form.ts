import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import type { SpooledFile } from '../../media/spool.ts'
import { StoreUnavailableError } from '../../media/store/object-store.ts'
import { storeUnavailable } from '../../media/upload.ts'
import { type Form, maxFormBytes, readForm } from './multipart.ts'

/** How long the rest of a body is read and discarded before the connection is closed. */
const lingerMilliseconds = 5_000

/** Passes bodies to the handlers of this Fastify context as streams, so that none is read before authorization. */
export function streamBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload))
  app.addHook('onResponse', (request, _reply, next) => {
    dropRest(request.raw)
    next()
  })
}

/** A client that still sends its body after the response gets a moment to read the response. */
function dropRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  const timer = setTimeout(() => request.socket.destroy(), lingerMilliseconds)
  request.once('close', () => clearTimeout(timer)).resume()
}

/** Reads a form with one file, which `keep` consumes as it arrives. */
export async function receiveForm(
  deps: Pick<Deps, 'media' | 'log'>,
  request: IncomingMessage,
  keep: (file: Readable) => Promise<SpooledFile>,
): Promise<Form> {
  const { 'content-type': contentType = '', 'content-encoding': contentEncoding } = request.headers
  if (contentEncoding !== undefined && contentEncoding !== 'identity')
    throw new ServiceError(
      'UNSUPPORTED_MEDIA_TYPE',
      'The request body must not be compressed: send it without Content-Encoding.',
    )
  if (Number(request.headers['content-length'] ?? 0) > maxFormBytes)
    throw new ServiceError('PAYLOAD_TOO_LARGE', 'The file is larger than 100 MB, the most that WhatsApp takes.')
  const { stallMilliseconds } = deps.media.limits
  return readForm(request, { contentType, stallMilliseconds }, keep).catch((error: unknown) => {
    throw error instanceof StoreUnavailableError ? storeUnavailable(deps, error) : error
  })
}

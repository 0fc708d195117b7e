import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Media, MediaFields, UploadMediaRequest, uploadMedia } from '../../../contracts/api/media.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import { cleanFilename, storeUpload, storeUnavailable, uploadLink } from '../../media/upload.ts'
import { spool } from '../../media/spool.ts'
import { StoreUnavailableError } from '../../media/store/object-store.ts'
import { type ApiCall, authorizeApiKey } from './authorize.ts'
import { parseInput, parseJsonBody } from './input.ts'
import { endIfStalled, maxFormBytes, readForm } from './multipart.ts'

/** How long the rest of a body may take that is read only to be thrown away. */
const lingerMilliseconds = 5_000
const maxJsonBytes = 64 * 1024

/** Whether a request is an upload, whose body may take longer than others. */
export function isUpload({ method, url }: IncomingMessage): boolean {
  return method === uploadMedia.method && url === uploadMedia.path
}

/** Serves the one route that takes files. Its body is a stream: nothing reads it before the caller is authorized. */
export async function registerMediaUpload(app: FastifyInstance, deps: Deps): Promise<void> {
  await app.register((upload, _options, done) => {
    upload.removeAllContentTypeParsers()
    upload.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload))
    upload.addHook('onResponse', (request, _reply, next) => {
      dropRest(request.raw)
      next()
    })
    upload.route({
      method: uploadMedia.method,
      url: uploadMedia.path,
      handler: async (request, reply) => {
        const call = await authorizeApiKey(deps, uploadMedia, { request, reply })
        const releaseSlot = deps.media.slots.take(call.accountId)
        // From here on the limits of uploads hold: an upload would keep the slot of hundreds of sends.
        request.slot?.release()
        try {
          return { success: true, data: await receive(deps, call, request) }
        } finally {
          releaseSlot()
        }
      },
    })
    done()
  })
}

/** A client that still sends after its answer gets a moment to read it before the connection is closed. */
function dropRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  const timer = setTimeout(() => request.socket.destroy(), lingerMilliseconds)
  request.once('close', () => clearTimeout(timer)).resume()
}

async function receive(deps: Deps, call: ApiCall, { raw, headers }: FastifyRequest): Promise<Media> {
  const { stallMilliseconds } = deps.media.limits
  const { 'content-type': contentType, 'content-encoding': contentEncoding } = headers
  if (contentType?.toLowerCase().startsWith('multipart/form-data') !== true) {
    const body = await endIfStalled(raw, { stallMilliseconds }, readSmall(raw))
    return uploadLink(deps, call, parseInput(UploadMediaRequest, parseJsonBody(body, { contentType, contentEncoding })))
  }
  if (contentEncoding !== undefined && contentEncoding !== 'identity')
    throw new ServiceError(
      'UNSUPPORTED_MEDIA_TYPE',
      'The request body must not be compressed: send it without Content-Encoding.',
    )
  if (Number(headers['content-length'] ?? 0) > maxFormBytes)
    throw new ServiceError('PAYLOAD_TOO_LARGE', 'The file is larger than 100 MB, the most that WhatsApp takes.')
  const keep = (file: Readable) => spool(file, deps.media.limits)
  const form = await readForm(raw, { contentType, stallMilliseconds }, keep).catch((error: unknown) => {
    throw error instanceof StoreUnavailableError ? storeUnavailable(deps, error) : error
  })
  const fields = parseFields(form.fields, form.file)
  return storeUpload(deps, call, form.file, { ...fields, filename: fields.filename ?? cleanFilename(form.filename) })
}

/** Throws away the file if a field is wrong. */
function parseFields(fields: Record<string, string>, file: { discard(): Promise<void> }): MediaFields {
  try {
    return parseInput(MediaFields, fields)
  } catch (error) {
    void file.discard()
    throw error
  }
}

async function readSmall(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxJsonBytes)
      throw new ServiceError(
        'PAYLOAD_TOO_LARGE',
        'The request body is larger than 64 KiB. Send a file as multipart/form-data.',
      )
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

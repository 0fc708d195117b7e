import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'
import type { FastifyInstance } from 'fastify'
import { maxMediaBytes, uploadMedia } from '../../../contracts/api/media.ts'
import { arrivedTooLate, invalidField, ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import { defaultStallMilliseconds, type SpooledFile } from '../../media/spool.ts'
import { StoreUnavailableError } from '../../media/object-store.ts'
import { storeUnavailable } from '../../media/upload.ts'
import { rejectCompressed } from './input.ts'
import { cut } from '../../platform/text.ts'
import { lingerMilliseconds } from '../limits/connection.ts'

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
  rejectCompressed(contentEncoding)
  if (Number(request.headers['content-length'] ?? 0) > maxFormBytes)
    throw new ServiceError('PAYLOAD_TOO_LARGE', 'The file is larger than 100 MB, the most that WhatsApp takes.')
  const { stallMilliseconds } = deps.media.limits
  return readForm(request, { contentType, stallMilliseconds }, keep).catch((error: unknown) => {
    throw error instanceof StoreUnavailableError ? storeUnavailable(deps, error) : error
  })
}

interface StallLimit {
  /** The request fails if no bytes of the body arrive for this long. */
  stallMilliseconds: number | undefined
}

interface Form {
  file: SpooledFile
  /** As the client sent it; not validated. */
  filename: string | undefined
  fields: Record<string, string>
}

/** The largest document, plus the other parts of the form. */
const maxFormBytes = maxMediaBytes.document + 64 * 1024
const limits = { files: 1, fields: 8, parts: 9, fieldSize: 1024, headerPairs: 16, headerSize: 8 * 1024 }
const { fileField = 'file' } = uploadMedia
/** Of a part (RFC 2045). The others change the bytes of the file, and forms no longer use them (RFC 7578, section 4.7). */
const unencoded: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary'])

/**
 * Reads a multipart/form-data body (RFC 7578) with one file, which `keep` consumes as it arrives. If anything is wrong
 * with the body, before the file, in it or after it, or if it stops arriving, the file is discarded.
 */
async function readForm(
  request: IncomingMessage,
  { contentType, stallMilliseconds }: { contentType: string } & StallLimit,
  keep: (file: Readable) => Promise<SpooledFile>,
): Promise<Form> {
  const parser = createParser(contentType)
  const fields = new Map<string, string>()
  const { promise: parsed, resolve, reject } = Promise.withResolvers<void>()
  let incoming: { stream: Readable; filename: string | undefined; kept: Promise<SpooledFile> } | undefined

  parser
    .on('field', (name, value, nameTruncated, valueTruncated) => {
      if (nameTruncated || valueTruncated) reject(invalidField(cut(name, 80), 'must have at most 1024 bytes.'))
      else if (fields.has(name)) reject(invalidField(cut(name, 80), 'was given twice. Send it once.'))
      else fields.set(name, value)
    })
    .on('file', (_name, stream, filename, encoding) => {
      if (!unencoded.has(encoding.toLowerCase()))
        reject(invalidField(fileField, 'must be sent as it is, without Content-Transfer-Encoding.'))
      const kept = keep(stream)
      incoming = { stream, filename, kept }
      kept.catch(reject)
      // The only event with which the parser reports a body that ends in the middle of a part.
      stream.on('error', (error: Error) => {
        if (/terminated early/.test(error.message)) reject(cutOff())
      })
    })
    .on('filesLimit', () => reject(invalidField(fileField, 'was given twice. Upload one file per request.')))
    .on('fieldsLimit', () => reject(tooManyParts()))
    .on('partsLimit', () => reject(tooManyParts()))
    .on('error', () => reject(cutOff()))
    .on('finish', resolve)
  rejectIncomplete(request, reject)
  request.pipe(parser)

  try {
    await endIfStalled(request, { stallMilliseconds }, parsed)
    if (!incoming) throw invalidField(fileField, 'is missing: send the file in a part with this name.')
    return { file: await incoming.kept, filename: incoming.filename, fields: Object.fromEntries(fields) }
  } catch (error) {
    request.unpipe(parser)
    incoming?.stream.destroy(error instanceof Error ? error : cutOff())
    await incoming?.kept.then(
      (file) => file.discard(),
      () => {},
    )
    throw error
  }
}

/** Rejects a body that is too large or ends early. */
function rejectIncomplete(body: IncomingMessage, reject: (error: ServiceError) => void): void {
  let received = 0
  body
    .on('data', (chunk: Buffer) => {
      received += chunk.length
      if (received > maxFormBytes)
        reject(
          new ServiceError(
            'PAYLOAD_TOO_LARGE',
            'The request body is larger than 100 MB, the most that WhatsApp takes.',
          ),
        )
    })
    .on('error', () => reject(cutOff()))
    .on('close', () => {
      if (!body.complete) reject(cutOff())
    })
}

/** Rejects if the body stops arriving. */
export async function endIfStalled<Result>(
  body: IncomingMessage,
  { stallMilliseconds = defaultStallMilliseconds }: StallLimit,
  reading: Promise<Result>,
): Promise<Result> {
  const { promise: stalled, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(arrivedTooLate('The file', 'its sender stalled')), stallMilliseconds)
  const refresh = () => void timer.refresh()
  body.on('data', refresh)
  try {
    return await Promise.race([reading, stalled])
  } finally {
    clearTimeout(timer)
    body.off('data', refresh)
  }
}

function createParser(contentType: string) {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits,
      isPartAFile: (name) => name === fileField,
    })
  } catch {
    throw new ServiceError('VALIDATION_ERROR', 'Content-Type: multipart/form-data must name a boundary.')
  }
}

function cutOff(): ServiceError {
  return new ServiceError('VALIDATION_ERROR', 'The request ended before the file was complete. Nothing was stored.')
}

function tooManyParts(): ServiceError {
  return new ServiceError('VALIDATION_ERROR', 'The request has too many parts: send the file and its fields only.')
}

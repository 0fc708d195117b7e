import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ImportMediaRequest, type Media, MediaFields, uploadMedia } from '../../../contracts/api/media.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import type { Pipeline } from '../../pipeline/pipeline.ts'
import { cleanFilename } from '../../media/types.ts'
import { storeUpload, uploadLink } from '../../media/upload.ts'
import { removeLeftovers, spool } from '../../media/spool.ts'
import { type ApiCall, authorizeApiKey } from './authorize.ts'
import { parseInput, parseJsonBody } from './input.ts'
import { endIfStalled, receiveForm, streamBodies } from './receive-form.ts'

const maxJsonBytes = 64 * 1024

/** Whether a request is an upload, whose body may take longer than that of other requests. */
export function isUpload({ method, url }: IncomingMessage): boolean {
  return method === uploadMedia.method && url?.split('?', 1)[0] === uploadMedia.path
}

const sweepMilliseconds = 10 * 60_000

/** Each process does this, because other machines do not see its folder. */
function removeLeftoversRegularly(app: FastifyInstance, { media, now, log }: Deps): void {
  const sweep = () =>
    removeLeftovers(media.limits.spoolDir, now()).catch((error: unknown) =>
      log.warn({ err: error }, 'could not remove what interrupted uploads left'),
    )
  const timer = setInterval(() => void sweep(), sweepMilliseconds).unref()
  // Not awaited: a folder that responds slowly does not delay the start.
  app.addHook('onReady', (done) => {
    void sweep()
    done()
  })
  app.addHook('onClose', (_app, done) => {
    clearInterval(timer)
    done()
  })
}

/** Serves the only API route that accepts files. Its body is a stream that is not read before the caller is authorized. */
export async function registerMediaUpload(app: FastifyInstance, deps: Deps, pipeline: Pipeline): Promise<void> {
  removeLeftoversRegularly(app, deps)
  await app.register((upload, _options, done) => {
    streamBodies(upload)
    upload.route({
      method: uploadMedia.method,
      url: uploadMedia.path,
      handler: async (request, reply) => {
        const call = await authorizeApiKey(deps, uploadMedia, { request, reply })
        // The limits of uploads apply, which are independent of those of other requests.
        const perform = () => deps.media.slots.run(call.accountId, () => receive(deps, call, request))
        const procedure = { name: 'media.upload', contract: uploadMedia, perform }
        // The handler reads the body.
        return { success: true, data: await pipeline.run(procedure, call, { bytes: 0, parse: () => undefined }) }
      },
    })
    done()
  })
}

async function receive(deps: Deps, call: ApiCall, { raw, headers }: FastifyRequest): Promise<Media> {
  const { stallMilliseconds } = deps.media.limits
  const { 'content-type': contentType, 'content-encoding': contentEncoding } = headers
  const type = contentType?.toLowerCase() ?? ''
  if (!type.startsWith('multipart/form-data')) {
    if (!type.startsWith('application/json'))
      throw new ServiceError(
        'UNSUPPORTED_MEDIA_TYPE',
        'The request body must be a form with the file: send it as multipart/form-data, in the part "file".',
      )
    const body = await endIfStalled(raw, { stallMilliseconds }, readSmall(raw))
    return uploadLink(deps, call, parseInput(ImportMediaRequest, parseJsonBody(body, { contentType, contentEncoding })))
  }
  const form = await receiveForm(deps, raw, (file) => spool(file, deps.media.limits))
  const fields = parseFields(form.fields, form.file)
  return storeUpload(deps, call, form.file, { ...fields, filename: fields.filename ?? cleanFilename(form.filename) })
}

/** Discards the file if a field is invalid. */
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

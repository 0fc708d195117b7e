import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { exportMessages as contract, exportTypes, Message } from '../../../contracts/api/message.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import { type ExportInput, exportMessages } from '../../messages/queries/read.ts'
import type { Pipeline } from '../../pipeline/pipeline.ts'
import { type ApiCall, authorizeApiKey } from './authorize.ts'
import { toServiceError } from './errors.ts'
import { parseInput } from './input.ts'
import { recordFailure } from './request-log.ts'
import { sizeOf, urlReader } from './rest.ts'

/**
 * Serves the only API route whose response is a stream. It holds the page that is written and the next one, whatever the
 * size of the export: the next page is read when the client has room for it.
 */
export function registerMessageExport(app: FastifyInstance, deps: Deps, pipeline: Pipeline): void {
  const slots = createExportSlots()
  const readUrl = urlReader(contract.input)
  // A client can take hours to read. It continues on another node, or on this one after the restart.
  app.addHook('preClose', (done) => {
    slots.endAll()
    done()
  })
  app.get(contract.path, async (request, reply) => {
    const authorize = () => authorizeApiKey(deps, contract, { request, reply })
    const call = await authorize()
    if (request.raw.httpVersion === '1.0') throw unframed()
    const slot = slots.take(call.accountId)
    const perform = async (_deps: Deps, _call: ApiCall, input: ExportInput): Promise<Readable> => {
      const stream = await openStream(exportMessages(deps, call, input), { format: formats[input.format], authorize })
      slot.holdUntilClosed(stream)
      recordEnd(deps, stream, { request, reply })
      // Fastify would read all of it to answer without a body.
      if (request.method === 'HEAD') stream.destroy()
      void reply.type(formats[input.format].type)
      return stream
    }
    const parse = () => parseInput(contract.input, readUrl(request))
    const procedure = { name: 'message.export', contract, perform }
    try {
      return await pipeline.run(procedure, call, { bytes: sizeOf(request), parse })
    } catch (error) {
      slot.free()
      throw error
    }
  })
}

/** A response that is cut emits neither `finish` nor `error`, so the request log and the metrics would not have it. */
function recordEnd(
  { log }: Pick<Deps, 'log'>,
  stream: Readable,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): void {
  stream
    .once('error', (error) => recordFailure(request, toServiceError(error, { requestId: request.id, log })))
    .once('close', () => reply.raw.destroyed && reply.raw.emit('error', new Error('The export was cut.')))
}

type Pages = AsyncGenerator<Message[], void, void>

interface Writing {
  format: Format
  /** Runs before each further page, so that a revoked key gets none. */
  authorize: () => Promise<unknown>
}

/** Reads the first page before the response begins, so that its failure is an ordinary answer. */
async function openStream(pages: Pages, writing: Writing): Promise<Readable> {
  return Readable.from(writePages(await pages.next(), pages, writing), { highWaterMark: 1 })
}

async function* writePages(
  first: IteratorResult<Message[], void>,
  pages: Pages,
  { format: { head, write }, authorize }: Writing,
): AsyncGenerator<string, void, void> {
  if (head !== '') yield head
  for (let page = first; page.done !== true; page = await pages.next()) {
    if (page.value.length > 0) yield page.value.map(write).join('')
    await authorize()
  }
}

interface Format {
  type: string
  head: string
  write: (message: Message) => string
}

type Column = { name: string; read: (message: Message) => string | undefined }

/** The fields of the contract. An error takes two columns. */
const columns: Column[] = Message.keyof().options.flatMap((field): Column[] =>
  field === 'error'
    ? [
        { name: 'error.code', read: ({ error }) => error?.code },
        { name: 'error.message', read: ({ error }) => error?.message },
      ]
    : [{ name: field, read: (message) => message[field] }],
)

const formats: Record<ExportInput['format'], Format> = {
  ndjson: { type: exportTypes.ndjson, head: '', write: (message) => `${JSON.stringify(message)}\n` },
  csv: {
    type: `${exportTypes.csv}; charset=utf-8; header=present`,
    head: toRow(columns.map(({ name }) => name)),
    write: (message) => toRow(columns.map(({ read }) => read(message))),
  },
}

/**
 * RFC 4180. Programs read it and join its values with their own, so text that a spreadsheet would run as a formula is not
 * changed, unlike in the exports of the dashboard.
 */
function toRow(cells: readonly (string | undefined)[]): string {
  return `${cells.map((cell = '') => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`
}

/** Without chunks, a client cannot tell the end of an export from a connection that was lost. */
function unframed(): ServiceError {
  return new ServiceError(
    'VALIDATION_ERROR',
    'An export needs HTTP/1.1. If you do use it, set the proxy in front of Waybill to HTTP/1.1, such as with proxy_http_version 1.1 in nginx.',
  )
}

interface ExportSlot {
  holdUntilClosed(stream: Readable): void
  /** Frees the slot, at once or with the end of its stream. */
  free(): void
}

/** Each export in progress holds two pages. */
const maxInProcess = 64
const retryAfterSeconds = 30

/** Limits this process to one export of each account. */
function createExportSlots(): { take(accountId: string): ExportSlot; endAll(): void } {
  const accounts = new Set<string>()
  const streams = new Set<Readable>()
  let isEnding = false
  return {
    take: (accountId) => {
      if (accounts.has(accountId))
        throw new ServiceError(
          'RATE_LIMIT_EXCEEDED',
          `This account already has an export in progress. Try again in ${retryAfterSeconds} seconds.`,
          { retryAfterSeconds },
        )
      if (accounts.size >= maxInProcess)
        throw new ServiceError('SERVICE_UNAVAILABLE', 'Too many exports are in progress. Try again in a moment.', {
          retryAfterSeconds,
        })
      accounts.add(accountId)
      let held: Readable | undefined
      return {
        free: () => void (held?.destroy() ?? accounts.delete(accountId)),
        holdUntilClosed: (stream) => {
          held = stream
          streams.add(stream)
          stream.once('close', () => {
            streams.delete(stream)
            accounts.delete(accountId)
          })
          if (isEnding) stream.destroy(stopping())
        },
      }
    },
    endAll: () => {
      isEnding = true
      for (const stream of streams) stream.destroy(stopping())
    },
  }
}

function stopping(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'The server is stopping. Continue the export in a moment.', {
    retryAfterSeconds: 1,
  })
}

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Busboy } from '@fastify/busboy'
import { graphVersions } from '../graph-versions.ts'
import type { ReceivedRequest, SimulatedResponse } from './exchange.ts'

export async function receive(request: IncomingMessage): Promise<ReceivedRequest> {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const [, version, path = '/'] = /^(?:\/(v\d+\.\d+))?(\/.*)$/.exec(url.pathname) ?? []
  return {
    method: request.method ?? 'GET',
    path,
    ...(version === undefined ? {} : { version }),
    query: url.searchParams,
    headers: request.headers,
    ...(await readBody(request)),
  }
}

const noBytes = Buffer.alloc(0)

/** The files of a form are hashed as they arrive; an uploaded sample is the only body that is kept as bytes. */
async function readBody(request: IncomingMessage): Promise<Pick<ReceivedRequest, 'body' | 'bytes'>> {
  const { 'content-type': type = '' } = request.headers
  if (type.startsWith('multipart/form-data')) return { body: await readForm(request, type), bytes: noBytes }
  const bytes = await readBytes(request)
  if (type === 'application/octet-stream') return { body: '', bytes }
  return { body: parse(bytes.toString('utf8')), bytes: noBytes }
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** `headers` are added to responses of the Graph API itself, not to those of a proxy. */
export function respond(
  output: ServerResponse,
  response: SimulatedResponse,
  headers: Record<string, string> = {},
): void {
  switch (response.kind) {
    case 'json':
      return write(output, response.status, 'application/json; charset=UTF-8', JSON.stringify(response.body), headers)
    case 'text':
      return write(output, response.status, response.contentType, response.text, response.headers)
    case 'bytes':
      output.writeHead(response.status, {
        'content-type': response.contentType,
        'content-length': response.bytes.length,
      })
      output.end(response.bytes)
      return
    case 'cut-off':
      return cutOff(output, response.status, JSON.stringify(response.body))
    case 'drop':
      output.destroy()
      return
    case 'silence':
      return
    case 'late':
      return respondLater(output, response, headers)
  }
}

function write(output: ServerResponse, status: number, type: string, text: string, headers = {}): void {
  output.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text), ...headers }).end(text)
}

function cutOff(output: ServerResponse, status: number, text: string): void {
  const bytes = Buffer.from(text)
  output.writeHead(status, { 'content-type': 'application/json; charset=UTF-8', 'content-length': bytes.length })
  output.write(bytes.subarray(0, bytes.length / 2), () => output.destroy())
}

/** The timer of a delayed response is cleared when the client disconnects or the simulator stops. */
function respondLater(
  output: ServerResponse,
  { delayMs, response }: Extract<SimulatedResponse, { kind: 'late' }>,
  headers: Record<string, string>,
): void {
  const timer = setTimeout(() => respond(output, response, headers), delayMs)
  output.once('close', () => clearTimeout(timer))
}

/** Reads a multipart/form-data body. Keeps only the metadata of a file, because a test can upload more than fits in memory. */
async function readForm(request: IncomingMessage, contentType: string): Promise<Record<string, unknown>> {
  const form: Record<string, unknown> = {}
  const parser = new Busboy({ headers: { 'content-type': contentType } })
  parser.on('field', (name, value) => (form[name] = value))
  parser.on('file', (name, stream, filename, _encoding, type) => {
    const hash = createHash('sha256')
    let size = 0
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length
      hash.update(chunk)
    })
    stream.on('error', (error) => parser.emit('error', error))
    stream.on('end', () => (form[name] = { filename, type, size, sha256: hash.digest('hex') }))
  })
  request.once('error', (error) => parser.emit('error', error)).pipe(parser)
  await once(parser, 'finish')
  return form
}

/** Versions that were released earlier. */
const released = /^v(1\.0|2\.(\d|1[0-2])|3\.[0-3]|([4-9]|1\d|20)\.0)$/

/**
 * Returns the version that serves a request, or undefined for one that was never released. As in Meta's versioning
 * guide, an expired version is served by the oldest usable one, and a path without a version by the newest.
 */
export function servedVersion(requested: string | undefined, now: number): string | undefined {
  const usable = graphVersions.filter(({ until }) => until === undefined || Date.parse(until) > now)
  if (requested === undefined) return usable.at(-1)?.version
  const known = released.test(requested) || graphVersions.some(({ version }) => version === requested)
  if (!known) return undefined
  return usable.some(({ version }) => version === requested) ? requested : usable[0]?.version
}

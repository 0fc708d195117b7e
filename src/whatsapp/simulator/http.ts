import type { IncomingMessage, ServerResponse } from 'node:http'
import { readForm } from './form.ts'
import type { Answer } from './answer.ts'
import type { ReceivedRequest } from './request.ts'

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

/** A form is hashed as it arrives; an uploaded sample is the only body that is kept as bytes. */
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

/** `headers` are those of the Graph API's own answers; a proxy's have none of them. */
export function respond(response: ServerResponse, answer: Answer, headers: Record<string, string> = {}): void {
  switch (answer.kind) {
    case 'json':
      return write(response, answer.status, 'application/json; charset=UTF-8', JSON.stringify(answer.body), headers)
    case 'text':
      return write(response, answer.status, answer.contentType, answer.text, answer.headers)
    case 'bytes':
      response.writeHead(answer.status, {
        'content-type': answer.contentType,
        'content-length': answer.bytes.length,
      })
      response.end(answer.bytes)
      return
    case 'cut-off':
      return cutOff(response, answer.status, JSON.stringify(answer.body))
    case 'drop':
      response.destroy()
      return
    case 'silence':
      return
    case 'late':
      return respondLater(response, answer, headers)
  }
}

function write(response: ServerResponse, status: number, type: string, text: string, headers = {}): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text), ...headers }).end(text)
}

function cutOff(response: ServerResponse, status: number, text: string): void {
  const bytes = Buffer.from(text)
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8', 'content-length': bytes.length })
  response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy())
}

/** The timer of a delayed response is cleared when the client disconnects or the simulator stops. */
function respondLater(
  response: ServerResponse,
  { delayMs, answer }: Extract<Answer, { kind: 'late' }>,
  headers: Record<string, string>,
): void {
  const timer = setTimeout(() => respond(response, answer, headers), delayMs)
  response.once('close', () => clearTimeout(timer))
}

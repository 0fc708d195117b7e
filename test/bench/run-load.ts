import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { request } from 'undici'
import { varying } from './example.ts'
import type { NumberedMessages } from './numbered-ids.ts'

export interface LoadOptions {
  /** The connections are divided evenly between the targets. */
  targets: Target[]
  connections: number
  /** Seconds of load before measuring. */
  warmUpSeconds: number
  seconds: number
  /** Expects 503 responses, since the load exceeds the server's limit. */
  mayRefuse?: boolean
}

export interface LoadResult {
  /** Responses per second. */
  perSecond: number
  /** Milliseconds from the first byte of the request to the last byte of the response. */
  p50: number
  p99: number
  /** All responses, including those outside the measured time. */
  answered: number
  /** The load generator's share of one core. */
  busy: number
}

const script = path.join(import.meta.dirname, 'load.ts')

export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(options)])
  return JSON.parse(stdout) as LoadResult
}

/** The requests that the load generator sends to a server. */
export type Target = RepeatedRequest | Callbacks

/** One repeated request with different digits each time. */
export interface RepeatedRequest {
  url: string
  path: string
  headers: Record<string, string>
  body: string
}

/** Signed WhatsApp callbacks in which every status is new. */
export interface Callbacks {
  url: string
  appSecret: string
  phoneNumberId: string
  messages: NumberedMessages
  statusesPerCallback: number
  /** How many callbacks were already sent. */
  sent: number
}

/** Returns the same bytes each time except for the digits, which are replaced in place. */
export function repeatRequest({ url, path, headers, body }: RepeatedRequest): () => Buffer {
  const request = writeRequest({ url, path, headers, body })
  const positions = findVarying(request)
  return () => {
    writeNextNumber(request, positions)
    return request
  }
}

function findVarying(request: Buffer): number[] {
  const positions: number[] = []
  for (let at = request.indexOf(varying); at !== -1; at = request.indexOf(varying, at + 1)) positions.push(at)
  return positions
}

const numbers = 10 ** varying.length
/** Shares no factor with `numbers`, so that every number appears once, in no obvious order, before any repeats. */
const step = 7_368_787
let number = Date.now() % numbers

function writeNextNumber(request: Buffer, positions: number[]): void {
  number = (number + step) % numbers
  for (let index = varying.length - 1, rest = number; index >= 0; index--, rest = Math.trunc(rest / 10))
    for (const position of positions) request[position + index] = 48 + (rest % 10)
}

export interface ArrivalOptions {
  /** One status per callback and no more callbacks than messages. */
  callbacks: Callbacks
  perSecond: number
  count: number
}

/** Milliseconds from sending a status to receiving its webhook. */
export interface ArrivalResult {
  p50: number
  p99: number
}

/** `url`: the address of an `arrivals.ts` process, which receives the webhooks. */
export async function measureArrivals(url: string, options: ArrivalOptions): Promise<ArrivalResult> {
  const { body } = await request(`${url}/measure`, { method: 'POST', body: JSON.stringify(options) })
  return (await body.json()) as ArrivalResult
}

/** The bytes of a POST request. */
export function writeRequest({
  url,
  path,
  headers,
  body,
}: {
  url: string
  path: string
  headers: Record<string, string>
  body: string
}): Buffer {
  const fields = { host: new URL(url).host, ...headers, 'content-length': String(Buffer.byteLength(body)) }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${head.join('')}\r\n${body}`)
}

import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { codeOf } from '../../platform/error-code.ts'
import { parseRetryAfter } from '../../platform/retry-after.ts'
import type { Tracing } from '../../platform/telemetry/tracing.ts'
import { errors, ProxyError } from '../../platform/undici.ts'

export interface GraphRequest {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  headers: Record<string, string>
  /** If it is a stream, `headers` must contain `content-length`. */
  body?: string | Readable
}

/** The result of one HTTP request. Reasons are texts of this file and contain nothing from the network. */
export type Exchange =
  /** Nothing was written. */
  | { kind: 'unsent'; reason: string }
  /** At least part of the request was written, but no status line was received. */
  | { kind: 'unanswered'; reason: string }
  /** `body` is absent if it could not be read completely, `retryAfterSeconds` if the response does not say it. */
  | { kind: 'answered'; status: number; body?: string; retryAfterSeconds?: number }

export interface ExchangeLimits {
  /**
   * Milliseconds until the first byte of the request, so that waiting for a connection does not shorten the time for
   * the response.
   */
  startWithinMs: number
  /** Milliseconds from the first byte of the request to the last byte of the response. */
  respondWithinMs: number
  maxResponseBytes: number
}

/** Sends one request. `beforeWrite` runs right before the first byte is written; if it throws, nothing is written. */
export function exchange(
  dispatcher: Dispatcher,
  request: GraphRequest,
  limits: ExchangeLimits,
  beforeWrite?: () => void,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const handler = new ExchangeHandler(limits, beforeWrite, resolve)
    dispatcher.dispatch(request, handler)
    handler.limitTime()
  })
}

/**
 * undici calls `onRequestStart` right before it writes to a connection, so a request that fails earlier was certainly
 * not sent.
 */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined
  #status: number | undefined
  #retryAfterSeconds: number | undefined
  #chunks: Buffer[] = []
  #received = 0
  #settled = false
  readonly #limits: ExchangeLimits
  readonly #beforeWrite: (() => void) | undefined
  readonly #resolve: (result: Exchange) => void
  #timer: NodeJS.Timeout | undefined
  /** When the limit ends that applies now, by `performance.now()`. */
  #endsAt = Infinity

  constructor(limits: ExchangeLimits, beforeWrite: (() => void) | undefined, resolve: (result: Exchange) => void) {
    this.#limits = limits
    this.#beforeWrite = beforeWrite
    this.#resolve = resolve
  }

  /** Call this after dispatching. */
  limitTime(): void {
    if (this.#settled) return
    const { startWithinMs } = this.#limits
    if (!this.#controller) this.#endsAt = performance.now() + startWithinMs
    this.#checkAfter(startWithinMs)
  }

  /**
   * One timer serves both limits: nearly all requests end before it does, so it need not be set again when they start. The
   * limit of the response can end first.
   */
  #checkAfter(milliseconds: number): void {
    this.#timer = setTimeout(() => this.#check(), Math.min(milliseconds, this.#limits.respondWithinMs))
  }

  #check(): void {
    const left = this.#endsAt - performance.now()
    if (left > 0) this.#checkAfter(Math.ceil(left))
    else this.#abort(this.#controller ? 'no response in time' : 'no connection in time')
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Throwing prevents the write: the deadline has passed, or undici is about to write the request a second time.
    if (this.#settled || this.#controller) throw new errors.RequestAbortedError()
    this.#beforeWrite?.()
    this.#controller = controller
    this.#endsAt = performance.now() + this.#limits.respondWithinMs
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // 1xx responses precede the final response.
    if (status < 200) return
    this.#status = status
    if (status >= 400) this.#retryAfterSeconds = readRetryAfter(headers)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#received += chunk.length
    if (this.#received > this.#limits.maxResponseBytes) this.#abort('the response is too large')
    else this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    if (this.#status === undefined) return
    // Most responses arrive in one piece.
    const [first] = this.#chunks
    const bytes = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#received)
    const answer: Exchange = { kind: 'answered', status: this.#status, body: bytes.toString('utf8') }
    if (this.#retryAfterSeconds !== undefined) answer.retryAfterSeconds = this.#retryAfterSeconds
    this.#settle(answer)
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#settle(this.#failed(this.#controller ? 'the connection was lost' : reasonOf(error)))
  }

  #abort(reason: string): void {
    this.#settle(this.#failed(reason))
    this.#controller?.abort(new errors.RequestAbortedError())
  }

  #failed(reason: string): Exchange {
    if (this.#status !== undefined) return { kind: 'answered', status: this.#status }
    return { kind: this.#controller ? 'unanswered' : 'unsent', reason }
  }

  #settle(result: Exchange): void {
    if (this.#settled) return
    this.#settled = true
    clearTimeout(this.#timer)
    this.#resolve(result)
  }
}

/** A delay that a server requests is followed up to a day. */
const maxRetryAfterSeconds = 24 * 60 * 60

function readRetryAfter({
  'retry-after': value,
  date,
}: Record<string, string | string[] | undefined>): number | undefined {
  // A proxy can add one of its own.
  const delays = [value ?? []].flat().flatMap((one) => {
    return parseRetryAfter(one, { date: typeof date === 'string' ? date : undefined, now: new Date() }) ?? []
  })
  return delays.length === 0 ? undefined : Math.min(Math.ceil(Math.max(...delays)), maxRetryAfterSeconds)
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name not found',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  ETIMEDOUT: 'no connection in time',
  EHOSTUNREACH: 'host not reachable',
  ENETUNREACH: 'network not reachable',
  UND_ERR_INVALID_ARG: 'the request could not be built: check that the access token is intact',
}

function reasonOf(error: Error): string {
  if (error instanceof ProxyError) return describeProxyError(error)
  const code = codeOf(error) ?? ''
  if (/CERT|TLS|SSL|SIGNATURE/.test(code)) return 'no trusted TLS connection'
  return reasons[code] ?? 'no connection'
}

function describeProxyError({ status }: ProxyError): string {
  if (status === undefined) return 'the proxy (HTTPS_PROXY) cannot be reached'
  if (status === 407) return 'the proxy (HTTPS_PROXY) requires another user name and password'
  return `the proxy (HTTPS_PROXY) did not connect: HTTP ${status}`
}

/** Records a span for each request to WhatsApp that belongs to a trace. No trace context is sent to WhatsApp. */
export function traceExchange(tracing: Tracing, { hostname, port, protocol }: URL): typeof exchange {
  const server = {
    'server.address': hostname,
    'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  }
  return (dispatcher, request, limits, beforeWrite) => {
    const template = toTemplate(request.path)
    const attributes = { 'http.request.method': request.method, 'url.template': template, ...server }
    return tracing.child({ name: `${request.method} ${template}`, kind: 'client', attributes }, async (span) => {
      const result = await exchange(dispatcher, request, limits, beforeWrite)
      span?.setAttributes(describeResult(result))
      return result
    })
  }
}

/** Keeps the version and words; IDs, signatures and the query can identify or authorize. */
function toTemplate(path: string): string {
  const [pathname = ''] = path.split('?')
  return pathname
    .split('/')
    .map((part) => (/^([a-z_]{0,32}|v\d+\.\d+)$/.test(part) ? part : '{id}'))
    .join('/')
}

function describeResult(result: Exchange): Record<string, string | number> {
  if (result.kind !== 'answered') return { 'error.type': result.kind }
  return {
    'http.response.status_code': result.status,
    ...(result.status >= 400 && { 'error.type': String(result.status) }),
  }
}

import type { Dispatcher } from 'undici'
import { errors } from '../../platform/undici.ts'
import { parseRetryAfter } from '../../platform/retry-after.ts'
import type { AttemptResult } from './webhook-sender.ts'

export interface AttemptLimits {
  /** Timeout from the start of the request to the end of the response. */
  timeoutMilliseconds: number
  timestamp: Date
}

/** A longer response is not read to its end, and the connection is closed. */
const maxResponseBytes = 16 * 1024
const storedResponseBytes = 1024

/** Sends one request and returns its result. Never rejects. */
export function attemptOnce(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: AttemptLimits,
): Promise<AttemptResult> {
  return new Promise((resolve) => {
    const handler = new AttemptHandler(limits, resolve)
    try {
      dispatcher.dispatch(request, handler)
    } catch (error) {
      handler.onResponseError(undefined, error instanceof Error ? error : new Error('dispatch failed'))
    }
  })
}

/** Responses are not decompressed: the content is not needed and could be huge. */
class AttemptHandler implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined
  #status: number | undefined
  #retryAfterSeconds: number | undefined
  #start: Buffer[] = []
  #received = 0
  #settled = false
  readonly #startedAt = performance.now()
  readonly #timestamp: Date
  readonly #resolve: (result: AttemptResult) => void
  readonly #timer: NodeJS.Timeout

  constructor({ timeoutMilliseconds, timestamp }: AttemptLimits, resolve: (result: AttemptResult) => void) {
    this.#timestamp = timestamp
    this.#resolve = resolve
    this.#timer = setTimeout(() => this.#abort(timedOut()), timeoutMilliseconds)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Throwing prevents the request, because it timed out before a connection was available.
    if (this.#settled) throw new errors.RequestAbortedError()
    this.#controller = controller
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx responses precede the final response.
    if (status < 200) return
    this.#status = status
    const retryAfter = firstOf(headers['retry-after'])
    if (retryAfter === undefined) return
    const now = new Date(this.#timestamp.getTime() + this.#elapsed())
    this.#retryAfterSeconds = parseRetryAfter(retryAfter, { date: firstOf(headers['date']), now })
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // Copies the chunk, because the parser reuses its memory.
    if (this.#received < storedResponseBytes)
      this.#start.push(Buffer.from(chunk.subarray(0, storedResponseBytes - this.#received)))
    this.#received += chunk.length
    if (this.#received > maxResponseBytes) this.#abort(undefined)
  }

  onResponseEnd(): void {
    this.#settle(undefined)
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#settle(
      this.#status === undefined
        ? describeAttemptError(error)
        : 'the connection closed before the response was complete',
    )
  }

  #abort(error: string | undefined): void {
    this.#settle(error)
    this.#controller?.abort(new errors.RequestAbortedError())
  }

  /** A success requires a complete response before the timeout. For a failure, the status is enough. */
  #settle(error: string | undefined): void {
    if (this.#settled) return
    this.#settled = true
    clearTimeout(this.#timer)
    const durationMilliseconds = this.#elapsed()
    const status = this.#status
    if (status === undefined)
      return this.#resolve({
        outcome: 'failed',
        error: error ?? 'the connection closed before the response was complete',
        durationMilliseconds,
      })
    const response = { statusCode: status, responseStart: this.#responseStart(), durationMilliseconds }
    if (status >= 200 && status < 300)
      return this.#resolve(
        error === undefined ? { outcome: 'delivered', ...response } : { outcome: 'failed', error, ...response },
      )
    this.#resolve({
      outcome: status === 410 ? 'gone' : 'failed',
      error: `HTTP ${status}`,
      ...(this.#retryAfterSeconds !== undefined && { retryAfterSeconds: this.#retryAfterSeconds }),
      ...response,
    })
  }

  /** PostgreSQL rejects NUL, and control characters must not reach a terminal. */
  #responseStart(): string {
    return Buffer.concat(this.#start)
      .toString('utf8')
      .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd')
  }

  #elapsed(): number {
    return performance.now() - this.#startedAt
  }
}

function firstOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

/** Fixed texts for failed attempts. Customers read them, so they reveal no internals. */
const texts: Record<string, string> = {
  // Missing names and private addresses share a text, because different texts would reveal names in our network.
  WAYBILL_ADDRESS_NOT_ALLOWED: unusableHost(),
  ENOTFOUND: unusableHost(),
  ENODATA: unusableHost(),
  EAI_AGAIN: unusableHost(),
  ESERVFAIL: unusableHost(),
  ECONNREFUSED: 'connection refused',
  ETIMEDOUT: timedOut(),
  UND_ERR_CONNECT_TIMEOUT: timedOut(),
  EHOSTUNREACH: 'the host is not reachable',
  ENETUNREACH: 'the host is not reachable',
  WAYBILL_PROXY_FAILED: 'the proxy of this server did not connect to the host',
  CERT_HAS_EXPIRED: 'TLS: the certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'TLS: the certificate is for another host',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS: the certificate is not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'TLS: the certificate is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'TLS: the certificate is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'TLS: the certificate is not trusted',
  UND_ERR_HEADERS_OVERFLOW: 'the response headers are too large',
  UND_ERR_INVALID_ARG: 'the request could not be built: check the headers of the endpoint',
  // undici reports these before it has read a status: contradicting lengths, and a status below 100.
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: invalidHttp(),
  ERR_ASSERTION: invalidHttp(),
}

function unusableHost(): string {
  return 'the host could not be resolved, or is not public'
}

function invalidHttp(): string {
  return 'the response is not valid HTTP'
}

function timedOut(): string {
  return 'timed out'
}

/** Returns one of a fixed set of texts. */
export function describeAttemptError(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const known = texts[code]
  if (known !== undefined) return known
  // A receiver must not switch protocols unasked.
  if (error instanceof errors.HTTPParserError || error.message === 'bad upgrade') return invalidHttp()
  if (/CERT|TLS|SSL|SIGNATURE|CRL|EPROTO/.test(code)) return 'TLS: no secure connection'
  return 'the connection was lost'
}

/** Headers that HTTP, the connection or Waybill controls. Endpoints cannot override them. */
const reservedHeaders = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
])

/** Returns whether a header is reserved and cannot be set by an endpoint. */
export function isReservedHeader(name: string): boolean {
  const lower = name.toLowerCase()
  return reservedHeaders.has(lower) || lower.startsWith('webhook-')
}

export interface StandardHeaders {
  id: string
  timestampSeconds: number
  signature: string
  userAgent: string
}

/** Returns the headers of an attempt as an array of alternating names and values, the fastest form for undici. */
export function writeRequestHeaders(
  { id, timestampSeconds, signature, userAgent }: StandardHeaders,
  custom: Readonly<Record<string, string>>,
): string[] {
  const headers = [
    'content-type',
    'application/json',
    'user-agent',
    userAgent,
    'webhook-id',
    id,
    'webhook-timestamp',
    String(timestampSeconds),
    'webhook-signature',
    signature,
  ]
  for (const [name, value] of Object.entries(custom)) if (!isReservedHeader(name)) headers.push(name, value)
  return headers
}

import type { Dispatcher } from 'undici'
import { deliveryFailures } from '../../../contracts/facts/deliveries.ts'
import type { Fact } from '../../../contracts/facts/fact.ts'
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
    this.#timer = setTimeout(() => this.#abort(deliveryFailures.timedOut()), timeoutMilliseconds)
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
    this.#settle(this.#status === undefined ? explainAttemptError(error) : deliveryFailures.incompleteResponse())
  }

  #abort(error: Fact | undefined): void {
    this.#settle(error)
    this.#controller?.abort(new errors.RequestAbortedError())
  }

  /** A success requires a complete response before the timeout. For a failure, the status is enough. */
  #settle(error: Fact | undefined): void {
    if (this.#settled) return
    this.#settled = true
    clearTimeout(this.#timer)
    const durationMilliseconds = this.#elapsed()
    const status = this.#status
    if (status === undefined)
      return this.#resolve({
        outcome: 'failed',
        error: error ?? deliveryFailures.incompleteResponse(),
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

/** Why attempts fail. Customers read it, so it reveals no internals. */
const failures: Partial<Record<string, () => Fact>> = {
  WAYBILL_ADDRESS_NOT_ALLOWED: deliveryFailures.unusableHost,
  ENOTFOUND: deliveryFailures.unusableHost,
  ENODATA: deliveryFailures.unusableHost,
  EAI_AGAIN: deliveryFailures.unusableHost,
  ESERVFAIL: deliveryFailures.unusableHost,
  ECONNREFUSED: deliveryFailures.connectionRefused,
  ETIMEDOUT: deliveryFailures.timedOut,
  UND_ERR_CONNECT_TIMEOUT: deliveryFailures.timedOut,
  EHOSTUNREACH: deliveryFailures.unreachable,
  ENETUNREACH: deliveryFailures.unreachable,
  WAYBILL_PROXY_FAILED: deliveryFailures.proxyFailed,
  CERT_HAS_EXPIRED: deliveryFailures.certificateExpired,
  ERR_TLS_CERT_ALTNAME_INVALID: deliveryFailures.certificateOfAnotherHost,
  DEPTH_ZERO_SELF_SIGNED_CERT: deliveryFailures.certificateNotTrusted,
  SELF_SIGNED_CERT_IN_CHAIN: deliveryFailures.certificateNotTrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: deliveryFailures.certificateNotTrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: deliveryFailures.certificateNotTrusted,
  INVALID_CA: deliveryFailures.certificateNotTrusted,
  INVALID_PURPOSE: deliveryFailures.certificateNotTrusted,
  PATH_LENGTH_EXCEEDED: deliveryFailures.certificateNotTrusted,
  // Node.js has no code for a certificate with a weak key or signature, among others.
  UNSPECIFIED: deliveryFailures.certificateNotTrusted,
  CERT_NOT_YET_VALID: deliveryFailures.certificateNotYetValid,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: deliveryFailures.outdatedTls,
  ERR_SSL_UNSUPPORTED_PROTOCOL: deliveryFailures.outdatedTls,
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: deliveryFailures.noHttp1,
  // The name depends on the version of OpenSSL.
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE': deliveryFailures.handshakeRejected,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: deliveryFailures.handshakeRejected,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: deliveryFailures.handshakeRejected,
  UND_ERR_HEADERS_OVERFLOW: deliveryFailures.headersTooLarge,
  UND_ERR_INVALID_ARG: deliveryFailures.unusableRequest,
  // undici reports these before it has read a status: contradicting lengths, and a status below 100.
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: deliveryFailures.notHttp,
  ERR_ASSERTION: deliveryFailures.notHttp,
}

export function explainAttemptError(error: Error): Fact {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const known = failures[code]
  if (known) return known()
  // A receiver must not switch protocols unasked.
  if (error instanceof errors.HTTPParserError || error.message === 'bad upgrade') return deliveryFailures.notHttp()
  if (/CERT|TLS|SSL|SIGNATURE|CRL|EPROTO/.test(code)) return deliveryFailures.notSecure()
  return deliveryFailures.connectionLost()
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

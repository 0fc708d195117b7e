import { errors, type Dispatcher } from 'undici'

export interface GraphRequest {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: string
}

/** What became of one HTTP request. Reasons are ours: no text of the network or of the other side. */
export type Exchange =
  /** Not a byte of it was written. */
  | { kind: 'unsent'; reason: string }
  /** At least part of it was written; no status line came back. */
  | { kind: 'unanswered'; reason: string }
  /** `body` is absent where it could not be read whole. */
  | { kind: 'answered'; status: number; body?: string }

export interface Limits {
  /** Milliseconds from now to the last byte of the answer. */
  withinMs: number
  maxResponseBytes: number
}

export function exchange(dispatcher: Dispatcher, request: GraphRequest, limits: Limits): Promise<Exchange> {
  return new Promise((resolve) => {
    dispatcher.dispatch(request, new ExchangeHandler(limits, resolve))
  })
}

/**
 * undici calls `onRequestStart` right before it writes to a connection, so whatever fails earlier was
 * never sent, and nothing has to be guessed from the kind of error.
 */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined
  #status: number | undefined
  #chunks: Buffer[] = []
  #received = 0
  #settled = false
  readonly #limits: Limits
  readonly #resolve: (result: Exchange) => void
  readonly #timer: NodeJS.Timeout

  constructor(limits: Limits, resolve: (result: Exchange) => void) {
    this.#limits = limits
    this.#resolve = resolve
    this.#timer = setTimeout(() => this.#abandon('no answer in time'), limits.withinMs)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Throwing here keeps the request off the wire: its time is over, or undici would write it a second time.
    if (this.#settled || this.#controller) throw new errors.RequestAbortedError()
    this.#controller = controller
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#received += chunk.length
    if (this.#received > this.#limits.maxResponseBytes) this.#abandon('the answer is too large')
    else this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    const body = Buffer.concat(this.#chunks, this.#received).toString('utf8')
    if (this.#status !== undefined) this.#settle({ kind: 'answered', status: this.#status, body })
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#settle(this.#broken(this.#controller ? 'the connection broke' : reasonOf(error)))
  }

  #abandon(reason: string): void {
    this.#settle(this.#broken(reason))
    this.#controller?.abort(new errors.RequestAbortedError())
  }

  #broken(reason: string): Exchange {
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

const reasons: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name not found',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  ETIMEDOUT: 'no connection in time',
  EHOSTUNREACH: 'host not reachable',
  ENETUNREACH: 'network not reachable',
  UND_ERR_INVALID_ARG: 'the request could not be built; see whether the access token is intact',
}

function reasonOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (/CERT|TLS|SSL|SIGNATURE/.test(code)) return 'no trusted TLS connection'
  return reasons[code] ?? 'no connection'
}

import { type Dispatcher, errors } from 'undici'

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
  /** Milliseconds from now to the first byte of the request: waiting for a connection takes nothing from its answer. */
  startWithinMs: number
  /** Milliseconds from the first byte of the request to the last byte of the answer. */
  answerWithinMs: number
  maxResponseBytes: number
}

/** `beforeWrite` runs right before the first byte is written. If it throws, nothing is written. */
export function exchange(
  dispatcher: Dispatcher,
  request: GraphRequest,
  limits: Limits,
  beforeWrite?: () => void,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const handler = new ExchangeHandler(limits, beforeWrite, resolve)
    dispatcher.dispatch(request, handler)
    handler.limitWait()
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
  readonly #beforeWrite: (() => void) | undefined
  readonly #resolve: (result: Exchange) => void
  #timer: NodeJS.Timeout | undefined

  constructor(limits: Limits, beforeWrite: (() => void) | undefined, resolve: (result: Exchange) => void) {
    this.#limits = limits
    this.#beforeWrite = beforeWrite
    this.#resolve = resolve
  }

  /** Call it after the dispatch: a request that found a free connection has started by then and needs no timer. */
  limitWait(): void {
    if (this.#settled || this.#controller) return
    this.#timer = setTimeout(() => this.#abandon('no connection in time'), this.#limits.startWithinMs)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Throwing here keeps the request off the wire: its time is over, or undici would write it a second time.
    if (this.#settled || this.#controller) throw new errors.RequestAbortedError()
    this.#beforeWrite?.()
    this.#controller = controller
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#abandon('no answer in time'), this.#limits.answerWithinMs)
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

import { errors, type Dispatcher } from 'undici'
import type { AttemptResult } from '../webhook-sender.ts'
import { describeAttemptError, timedOut } from './attempt-error.ts'
import { parseRetryAfter } from './retry.ts'

export interface AttemptLimits {
  /** From the first byte out to the last byte in. */
  withinMilliseconds: number
  timestamp: Date
}

/** Of a longer answer the rest is not read: the connection is dropped. */
const maxResponseBytes = 16 * 1024
const keptResponseBytes = 1024

/** Makes one request and says what became of it; never rejects. */
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

/** Nothing is decompressed: what an answer would become is of no use here, and can be huge. */
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

  constructor({ withinMilliseconds, timestamp }: AttemptLimits, resolve: (result: AttemptResult) => void) {
    this.#timestamp = timestamp
    this.#resolve = resolve
    this.#timer = setTimeout(() => this.#drop(timedOut()), withinMilliseconds)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Throwing keeps the request off the wire: its time was over before there was a connection.
    if (this.#settled) throw new errors.RequestAbortedError()
    this.#controller = controller
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx announces an answer that is still to come.
    if (status < 200) return
    this.#status = status
    const retryAfter = firstOf(headers['retry-after'])
    if (retryAfter === undefined) return
    const now = new Date(this.#timestamp.getTime() + this.#elapsed())
    this.#retryAfterSeconds = parseRetryAfter(retryAfter, { date: firstOf(headers['date']), now })
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // A copy: the chunk belongs to the parser, which goes on to use its memory.
    if (this.#received < keptResponseBytes)
      this.#start.push(Buffer.from(chunk.subarray(0, keptResponseBytes - this.#received)))
    this.#received += chunk.length
    if (this.#received > maxResponseBytes) this.#drop(undefined)
  }

  onResponseEnd(): void {
    this.#settle(undefined)
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#settle(this.#status === undefined ? describeAttemptError(error) : 'the answer broke off')
  }

  #drop(error: string | undefined): void {
    this.#settle(error)
    this.#controller?.abort(new errors.RequestAbortedError())
  }

  /** An answer that says yes and then does not end in time is no answer; one that says no needs no end. */
  #settle(error: string | undefined): void {
    if (this.#settled) return
    this.#settled = true
    clearTimeout(this.#timer)
    const durationMilliseconds = this.#elapsed()
    const status = this.#status
    if (status === undefined)
      return this.#resolve({ outcome: 'failed', error: error ?? 'the answer broke off', durationMilliseconds })
    const answer = { statusCode: status, responseStart: this.#responseStart(), durationMilliseconds }
    if (status >= 200 && status < 300)
      return this.#resolve(
        error === undefined ? { outcome: 'delivered', ...answer } : { outcome: 'failed', error, ...answer },
      )
    this.#resolve({
      outcome: status === 410 ? 'gone' : 'failed',
      error: `HTTP ${status}`,
      ...(this.#retryAfterSeconds !== undefined && { retryAfterSeconds: this.#retryAfterSeconds }),
      ...answer,
    })
  }

  /** PostgreSQL takes no NUL, and a terminal should not be told what to do. */
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

import type { Kysely } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'
import { isTransient } from '../../platform/db/unavailable.ts'
import type { Logger } from '../../platform/log.ts'
import { insertRequests, type RecordedRequest } from './store.ts'

/** What is only recorded of failures. */
export type Bodies = Pick<RecordedRequest, 'externalId' | 'request' | 'answer'>

/** Why a request was not recorded: the account had too many, too many wait to be written, or the database refused. */
export const dropReasons = ['limit', 'full', 'database'] as const
export type DropReason = (typeof dropReasons)[number]

export interface RequestLogOptions {
  log: Logger
  onDropped: (reason: DropReason, requests: number) => void
  limits?: Partial<RequestLogLimits>
}

export interface RequestLogLimits {
  /** Requests per minute and account that caused no message. The others are limited by the account's rate limit. */
  perMinute: number
  /** Failures per minute and account whose bodies are kept. */
  bodiesPerMinute: number
  /** Requests per minute that failed before their key was checked. Anyone can invent keys. */
  uncheckedPerMinute: number
  /** Requests that wait to be written, and the characters of their bodies. */
  maxWaiting: number
  maxWaitingCharacters: number
  /** How long a request waits for others that are written with it. */
  flushMilliseconds: number
}

const defaultLimits: RequestLogLimits = {
  perMinute: 1_200,
  bodiesPerMinute: 60,
  uncheckedPerMinute: 300,
  maxWaiting: 10_000,
  maxWaitingCharacters: 8_000_000,
  flushMilliseconds: 1_000,
}
/** Takes a few milliseconds of the embedded database, which blocks everything else meanwhile. */
const writtenAtOnce = 500
const minuteMilliseconds = 60_000
/** What is older when the database returns is dropped. */
const maxAgeMilliseconds = 60_000

interface Counts {
  requests: number
  bodies: number
}

/**
 * Writes the requests of this process to the log in batches, after they were answered. It never makes a request wait:
 * what exceeds its limits is dropped and counted.
 */
export class RequestLog {
  readonly #db: Kysely<Database>
  readonly #log: Logger
  readonly #onDropped: RequestLogOptions['onDropped']
  readonly #limits: RequestLogLimits
  #waiting: RecordedRequest[] = []
  /** Its insert failed, or its result is unknown. It is repeated as it was: if it happened, it fails as a whole. */
  #repeated: RecordedRequest[] = []
  #waitingCharacters = 0
  #minuteEndsAt = 0
  #ofMinute = new Map<string, Counts>()
  #uncheckedOfMinute = 0
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  /** The database did not answer; the timer tries again. */
  #isUnavailable = false
  #stopped = false

  constructor(db: Kysely<Database>, { log, onDropped, limits }: RequestLogOptions) {
    this.#db = db
    this.#log = log
    this.#onDropped = onDropped
    this.#limits = { ...defaultLimits, ...limits }
  }

  /**
   * Records a request. `readBodies` is only called if they are kept, because redacting them takes longer than the rest.
   */
  add(request: RecordedRequest, readBodies?: () => Bodies): void {
    const { maxWaiting, maxWaitingCharacters } = this.#limits
    const counts = this.#count(request)
    if (!counts) return this.#onDropped('limit', 1)
    if (this.#waiting.length + this.#repeated.length >= maxWaiting || this.#waitingCharacters >= maxWaitingCharacters)
      return this.#onDropped('full', 1)
    const keepsBodies = readBodies && counts.bodies < this.#limits.bodiesPerMinute
    if (keepsBodies) counts.bodies += 1
    if (keepsBodies) Object.assign(request, readBodies())
    this.#waiting.push(request)
    this.#waitingCharacters += countCharacters(request)
    if (this.#waiting.length >= writtenAtOnce && !this.#isUnavailable) void this.#flush()
    else this.#timer ??= setTimeout(() => void this.#flush(), this.#limits.flushMilliseconds).unref()
  }

  /** Writes what waits. Call it after the last request was answered. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#writing
    await this.#flush()
    clearTimeout(this.#timer)
    this.#drop('database', [...this.#repeated.splice(0), ...this.#waiting.splice(0)])
  }

  /** Undefined if the account, or everybody without one, has had enough of this minute. */
  #count({ accountId, messageIds }: Pick<RecordedRequest, 'accountId' | 'messageIds'>): Counts | undefined {
    const now = performance.now()
    if (now >= this.#minuteEndsAt) {
      this.#minuteEndsAt = now + minuteMilliseconds
      this.#ofMinute.clear()
      this.#uncheckedOfMinute = 0
    }
    if (accountId === undefined) {
      this.#uncheckedOfMinute += 1
      return this.#uncheckedOfMinute > this.#limits.uncheckedPerMinute ? undefined : { requests: 0, bodies: Infinity }
    }
    let counts = this.#ofMinute.get(accountId)
    if (!counts) this.#ofMinute.set(accountId, (counts = { requests: 0, bodies: 0 }))
    if (messageIds !== undefined) return counts
    counts.requests += 1
    return counts.requests > this.#limits.perMinute ? undefined : counts
  }

  #flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    return (this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
      if (this.#waiting.length + this.#repeated.length > 0 && !this.#stopped)
        this.#timer ??= setTimeout(() => void this.#flush(), this.#limits.flushMilliseconds).unref()
    }))
  }

  /** Never rejects. Ends early if the database is unavailable: then it is tried again later. */
  async #write(): Promise<void> {
    while (this.#repeated.length > 0 || this.#waiting.length > 0) {
      const requests = this.#repeated.length > 0 ? this.#repeated : this.#waiting.splice(0, writtenAtOnce)
      this.#repeated = []
      try {
        await insertRequests(this.#db, requests)
        this.#forget(requests)
        this.#isUnavailable = false
      } catch (error) {
        if (isRepetition(error)) this.#forget(requests)
        else if (isTransient(error)) return this.#repeatLater(requests)
        else {
          this.#log.warn({ err: error }, 'could not write to the log of API requests')
          this.#drop('database', requests)
        }
      }
    }
  }

  #repeatLater(requests: readonly RecordedRequest[]): void {
    const oldest = performance.now() - maxAgeMilliseconds
    this.#repeated = requests.filter(({ receivedAt }) => receivedAt > oldest)
    this.#drop(
      'database',
      requests.filter(({ receivedAt }) => receivedAt <= oldest),
    )
    this.#isUnavailable = true
  }

  #drop(reason: DropReason, requests: readonly RecordedRequest[]): void {
    if (requests.length > 0) this.#onDropped(reason, requests.length)
    this.#forget(requests)
  }

  #forget(requests: readonly RecordedRequest[]): void {
    for (const request of requests) this.#waitingCharacters -= countCharacters(request)
  }
}

/** An earlier insert of the same requests happened, although its result was lost. */
function isRepetition(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505'
}

function countCharacters({ path, request, answer }: RecordedRequest): number {
  return path.length + (request?.length ?? 0) + (answer?.length ?? 0)
}

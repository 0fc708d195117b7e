import type { Kysely } from 'kysely'
import { arraysOf, type Columns, type Lists, listsOf, namesOf } from '../../platform/db/columns.ts'
import { isTransient, isUniqueViolation } from '../../platform/db/errors.ts'
import type { Database } from '../../platform/db/schema.ts'
import { statement } from '../../platform/db/statement.ts'
import type { Logger } from '../../platform/log.ts'
import { insertRequests, type RecordedRequest } from './store.ts'

/** Fields that are recorded for failures only. */
export type Bodies = Pick<RecordedRequest, 'externalId' | 'request' | 'answer'>

/** What is recorded of a failure: its bodies, or only the error message. */
type RecordedParts = 'bodies' | 'message'

/** Why a request was not recorded: its account exceeded a limit, the queue was full, or the database failed. */
export const dropReasons = ['limit', 'full', 'database'] as const
export type DropReason = (typeof dropReasons)[number]

export interface RequestLogOptions {
  log: Logger
  onDropped: (reason: DropReason, requests: number) => void
  limits?: Partial<RequestLogLimits>
}

/**
 * `perMinute`: requests per account that sent no message; the others are limited by the account's rate limit.
 * `bodiesPerMinute`: failures per account whose bodies are recorded. Each process applies both limits when it queues a
 * request, which bounds its memory, and all of them share the limits of what they write.
 */
export interface RequestLogLimits extends SharedLimits {
  /** Requests per minute that failed before their key was checked. Anyone can invent keys. */
  uncheckedPerMinute: number
  /** Limits of the queue: requests, and characters of their paths and bodies. */
  maxWaiting: number
  maxWaitingCharacters: number
  /** How long a request waits for others to be written with it. */
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
/** Takes the embedded database a few milliseconds, during which it blocks everything else. */
const maxBatchSize = 500
const minuteMilliseconds = 60_000
/** Requests that are older than this when a write fails are dropped instead of retried. */
const maxAgeMilliseconds = 60_000

interface Counts {
  requests: number
  bodies: number
}

/**
 * Writes the requests of this process to the log in batches, after they were answered. It never delays a request:
 * requests beyond its limits are dropped and counted.
 */
export class RequestLog {
  readonly #db: Kysely<Database>
  readonly #log: Logger
  readonly #onDropped: RequestLogOptions['onDropped']
  readonly #limits: RequestLogLimits
  #waiting: RecordedRequest[] = []
  /**
   * A batch whose insert failed, or whose result is unknown. It is retried without new requests: if the insert was
   * committed, the retry fails as a whole.
   */
  #retrying: RecordedRequest[] = []
  #waitingCharacters = 0
  #minuteEndsAt = 0
  #countsOfMinute = new Map<string, Counts>()
  #uncheckedOfMinute = 0
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  /** The database did not respond; the timer retries. */
  #isUnavailable = false
  #stopped = false

  constructor(db: Kysely<Database>, { log, onDropped, limits }: RequestLogOptions) {
    this.#db = db
    this.#log = log
    this.#onDropped = onDropped
    this.#limits = { ...defaultLimits, ...limits }
  }

  /**
   * Records a request. `readBodies` reads the redacted bodies of a failure, or beyond the limit only the error message,
   * because redacting a body is the slowest part.
   */
  add(request: RecordedRequest, readBodies?: (parts: RecordedParts) => Bodies): void {
    const { maxWaiting, maxWaitingCharacters } = this.#limits
    const counts = this.#count(request)
    if (!counts) return this.#onDropped('limit', 1)
    if (this.#waiting.length + this.#retrying.length >= maxWaiting || this.#waitingCharacters >= maxWaitingCharacters)
      return this.#onDropped('full', 1)
    if (readBodies) {
      const isWithinLimit = counts.bodies < this.#limits.bodiesPerMinute
      counts.bodies += 1
      Object.assign(request, readBodies(isWithinLimit ? 'bodies' : 'message'))
    }
    this.#waiting.push(request)
    this.#waitingCharacters += countCharacters(request)
    if (this.#waiting.length >= maxBatchSize && !this.#isUnavailable) void this.#flush()
    else this.#timer ??= setTimeout(() => void this.#flush(), this.#limits.flushMilliseconds).unref()
  }

  /** Writes the queued requests. Call it after the last request was answered. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#writing
    await this.#flush()
    clearTimeout(this.#timer)
    this.#drop('database', [...this.#retrying.splice(0), ...this.#waiting.splice(0)])
  }

  /** Returns undefined if the limit of this minute is reached, for the account or for all requests without one. */
  #count({ accountId, messageIds }: Pick<RecordedRequest, 'accountId' | 'messageIds'>): Counts | undefined {
    const now = performance.now()
    if (now >= this.#minuteEndsAt) {
      this.#minuteEndsAt = now + minuteMilliseconds
      this.#countsOfMinute.clear()
      this.#uncheckedOfMinute = 0
    }
    if (accountId === undefined) {
      this.#uncheckedOfMinute += 1
      return this.#uncheckedOfMinute > this.#limits.uncheckedPerMinute ? undefined : { requests: 0, bodies: Infinity }
    }
    let counts = this.#countsOfMinute.get(accountId)
    if (!counts) this.#countsOfMinute.set(accountId, (counts = { requests: 0, bodies: 0 }))
    if (messageIds !== undefined) return counts
    counts.requests += 1
    return counts.requests > this.#limits.perMinute ? undefined : counts
  }

  #flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    return (this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
      if (this.#waiting.length + this.#retrying.length > 0 && !this.#stopped)
        this.#timer ??= setTimeout(() => void this.#flush(), this.#limits.flushMilliseconds).unref()
    }))
  }

  /** Never rejects. Stops early if the database is unavailable, and retries later. */
  async #write(): Promise<void> {
    while (this.#retrying.length > 0 || this.#waiting.length > 0) {
      const isRetry = this.#retrying.length > 0
      const taken = isRetry ? this.#retrying : this.#waiting.splice(0, maxBatchSize)
      this.#retrying = []
      const requests = isRetry ? taken : await this.#applySharedLimits(taken)
      if (requests.length === 0) continue
      try {
        await insertRequests(this.#db, requests)
        this.#subtractCharacters(requests)
        this.#isUnavailable = false
      } catch (error) {
        // An earlier insert of these requests was committed, although its result was lost.
        if (isUniqueViolation(error)) this.#subtractCharacters(requests)
        else if (isTransient(error)) return this.#retryLater(requests)
        else {
          this.#log.warn({ err: error }, 'could not write to the log of API requests')
          this.#drop('database', requests)
        }
      }
    }
  }

  /** Returns the requests that are written. If the database does not respond, all of them: they are retried later. */
  async #applySharedLimits(requests: RecordedRequest[]): Promise<RecordedRequest[]> {
    const totals = await countLogged(this.#db, requests).catch((error: unknown) => {
      if (!isTransient(error)) this.#log.warn({ err: error }, 'could not count the logged API requests')
      return []
    })
    const { dropped, shortened } = findBeyondLimits(requests, totals, this.#limits)
    this.#drop('limit', [...dropped])
    for (const request of shortened) {
      this.#waitingCharacters -= request.request?.length ?? 0
      request.request = undefined
      request.externalId = undefined
    }
    return dropped.size === 0 ? requests : requests.filter((request) => !dropped.has(request))
  }

  #retryLater(requests: readonly RecordedRequest[]): void {
    const oldest = performance.now() - maxAgeMilliseconds
    this.#retrying = requests.filter(({ receivedAt }) => receivedAt > oldest)
    this.#drop(
      'database',
      requests.filter(({ receivedAt }) => receivedAt <= oldest),
    )
    this.#isUnavailable = true
  }

  #drop(reason: DropReason, requests: readonly RecordedRequest[]): void {
    if (requests.length > 0) this.#onDropped(reason, requests.length)
    this.#subtractCharacters(requests)
  }

  #subtractCharacters(requests: readonly RecordedRequest[]): void {
    for (const request of requests) this.#waitingCharacters -= countCharacters(request)
  }
}

function countCharacters({ path, request, answer }: RecordedRequest): number {
  return path.length + (request?.length ?? 0) + (answer?.length ?? 0)
}

/** The limits of an account, which all processes share. */
interface SharedLimits {
  perMinute: number
  bodiesPerMinute: number
}

/** Requests of an account, or of a key whose account is not known yet. */
interface CallerCounts extends Counts {
  caller: string
  accountId: string | undefined
  keyHash: string | undefined
}

/** What an account has logged in the current minute. */
interface AccountUse extends Counts {
  caller: string
  accountId: string
}

const columns: Columns<CallerCounts> = {
  caller: { name: 'caller', type: 'word' },
  accountId: { name: 'account_id', type: 'word' },
  keyHash: { name: 'key_hash', type: 'word' },
  requests: { name: 'requests', type: 'integer' },
  bodies: { name: 'bodies', type: 'integer' },
}

/** Another batch may have begun the minute after `now()` of this one, and been counted first. */
const isCurrent = `l.window_started_at between now() - interval '1 minute' and now() + interval '1 minute'`

/** Accounts are locked in order, so that concurrent batches cannot deadlock. */
const count = statement<Lists<CallerCounts>, AccountUse>(
  'count_logged_requests',
  ($) => `with given as (
    select g.caller, coalesce(g.account_id, k.account_id) as account_id, g.requests, g.bodies
    from unnest(${arraysOf($, columns)}) as g (${namesOf(columns)})
    left join api_keys k on g.account_id is null and k.key_hash = decode(g.key_hash, 'hex')
  ), counted as (
    insert into request_log_limits as l (account_id, window_started_at, requests, bodies)
    select account_id, now(), sum(requests)::integer, sum(bodies)::integer
    from given where account_id is not null group by account_id order by account_id
    on conflict (account_id) do update set
      window_started_at = case when ${isCurrent} then l.window_started_at else now() end,
      requests = excluded.requests + case when ${isCurrent} then l.requests else 0 end,
      bodies = excluded.bodies + case when ${isCurrent} then l.bodies else 0 end
    returning account_id, requests, bodies
  )
  select g.caller, c.account_id as "accountId", c.requests, c.bodies from given g join counted c using (account_id)`,
)

/** Adds the requests of a batch to those of all processes, and returns the totals of this minute. */
async function countLogged(db: Kysely<Database>, requests: readonly RecordedRequest[]): Promise<AccountUse[]> {
  const counts = new Map<string, CallerCounts>()
  for (const request of requests.filter(isCounted)) {
    const { accountId, keyHash } = request
    const caller = callerOf(request)
    const known = counts.get(caller) ?? { caller, accountId, keyHash, requests: 0, bodies: 0 }
    known.requests += 1
    if (request.request !== undefined) known.bodies += 1
    counts.set(caller, known)
  }
  return counts.size === 0 ? [] : count(db, listsOf(columns, [...counts.values()]))
}

/**
 * Returns the requests of a batch that are beyond the limits of their accounts, and those that are logged without their
 * bodies.
 */
function findBeyondLimits(
  requests: readonly RecordedRequest[],
  totals: readonly AccountUse[],
  limits: SharedLimits,
): { dropped: Set<RecordedRequest>; shortened: RecordedRequest[] } {
  const accountOf = new Map(totals.map(({ caller, accountId }) => [caller, accountId]))
  const usedBy = new Map(totals.map(({ accountId, requests: used, bodies }) => [accountId, { requests: used, bodies }]))
  const dropped = new Set<RecordedRequest>()
  const shortened: RecordedRequest[] = []
  // From the end: the totals include the whole batch, so the last requests are the ones beyond a limit.
  for (const request of requests.toReversed().filter(isCounted)) {
    const used = usedBy.get(accountOf.get(callerOf(request)) ?? '')
    if (!used) continue
    if (used.requests > limits.perMinute) dropped.add(request)
    else if (request.request !== undefined && used.bodies > limits.bodiesPerMinute) shortened.push(request)
    used.requests -= 1
    if (request.request !== undefined) used.bodies -= 1
  }
  return { dropped, shortened }
}

/** Requests that sent messages are limited by the account's rate limit. */
function isCounted({ messageIds }: RecordedRequest): boolean {
  return messageIds === undefined
}

function callerOf({ accountId, keyHash }: RecordedRequest): string {
  return accountId ?? keyHash ?? ''
}

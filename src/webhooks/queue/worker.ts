import { setTimeout as delay } from 'node:timers/promises'
import type { Deps } from '../../deps.ts'
import { createBatcher } from '../../platform/batch.ts'
import type { WebhookConfig } from '../../platform/config.ts'
import { isDatabaseUnavailable } from '../../platform/db/unavailable.ts'
import type { SecretBox } from '../../platform/secrets.ts'
import type { AttemptResult } from '../delivery/webhook-sender.ts'
import { type OpenedEndpoint, openEndpoint } from '../endpoints/secrets.ts'
import {
  EndpointConcurrency,
  type ClaimPass,
  initialWindows,
  type StartWindows,
  windowsOf,
} from './endpoint-concurrency.ts'
import { claimLimitedDeliveries, hasLimitedEndpoints } from './limited-store.ts'
import { nextWaitSeconds } from './retry-schedule.ts'
import {
  claimDueDeliveries,
  type ClaimedDelivery,
  type DisabledEndpoint,
  type EndedAttempt,
  recordAttempts,
  releaseClaims,
} from './store.ts'

export interface WorkerOptions {
  /** Duration of a claim. It must exceed the deadline of an attempt. */
  leaseSeconds?: number
  /** Interval for polling due deliveries when there are no notifications. */
  pollMilliseconds?: number
  /** Maximum number of claimed deliveries, over all endpoints but slow ones. */
  maxHeld?: number
  /** The same over all slow endpoints. */
  maxSlowHeld?: number
  random?: () => number
  observer?: WorkerObserver
}

/** Receives the worker's events, for metrics. */
export interface WorkerObserver {
  attempted(result: AttemptResult): void
  /** The lease expired before the attempt could be recorded, so the attempt will be repeated. */
  lost(): void
  disabled(endpoint: DisabledEndpoint): void
}

export type WorkerDeps = Pick<Deps, 'db' | 'webhooks' | 'announcements' | 'secrets' | 'log'>

/** Time after the deadline for recording the result of an attempt. */
const leaseMarginSeconds = 10
const maxClaimed = 256
const maxRecorded = 256
const recordingsAtOnce = 1
/**
 * While this many responses are not recorded, no attempt starts: what is not recorded when the process is killed is
 * delivered again. Lower limits make a worker slower.
 */
const maxUnrecorded = 1_024
const countedMilliseconds = 500
/**
 * After a small claim, the worker waits for more deliveries to gather, because a statement for each would cost too
 * much.
 */
const fewClaimed = 32
const gatherMilliseconds = 5
/** Slow and failing endpoints get their next deliveries together, since a claim for each would delay those of others. */
const slowTurnMilliseconds = 50
/** The same for endpoints with limits of their owner, which have a claim of their own. */
const limitedTurnMilliseconds = 10
/** How often to look whether there are such endpoints. */
const limitedCheckMilliseconds = 1_000
const databaseRetryMilliseconds = 500

interface Held {
  delivery: ClaimedDelivery
  /** Whether the endpoint has limits of its owner. */
  isLimited: boolean
  /** Earliest time at which the lease can end, by the monotonic clock of this process, like all times here. */
  leaseEndsAt: number
  /** Offset from the monotonic clock to the database clock. */
  databaseOffset: number
}

interface Claimed {
  claimed: number
  /** Whether no more were available. */
  isWhole: boolean
}

const nothingClaimed: Claimed = { claimed: 0, isWhole: true }

/**
 * Claims due deliveries, attempts them and records the results. No transaction is open during an attempt. All times are
 * database times; this process only measures durations.
 */
export class Worker {
  readonly #deps: WorkerDeps
  readonly #config: WebhookConfig
  readonly #options: Required<WorkerOptions>
  readonly #concurrency: EndpointConcurrency
  readonly #held = new Map<string, Held>()
  readonly #record: (ended: EndedAttempt) => Promise<'recorded' | 'lost'>
  readonly #secrets: SecretBox
  /** The endpoint at which the last claim of each kind stopped. */
  readonly #afterEndpointIds = new Map<ClaimPass['of'], string>()
  /** Whether the last claim left no capacity. */
  #isFull = false
  /** When the deliveries of all endpoints, and those of slow ones, were last claimed. */
  #claimedAllAt = -Infinity
  #claimedSlowAt = -Infinity
  #claimedLimitedAt = -Infinity
  /** When endpoints with limits may get more deliveries. */
  #limitedDueAt = Infinity
  #limitedCheckedAt = -Infinity
  #hasLimited = false
  /** Number of responses that are not recorded yet. */
  #unrecorded = 0
  #stopping = false
  #woken = false
  #wakeSleeper: (() => void) | undefined
  #allEnded: (() => void) | undefined
  #stopListening: (() => void) | undefined
  #running: Promise<void> | undefined
  #databaseIsAway = false

  constructor(deps: WorkerDeps, config: WebhookConfig, options: WorkerOptions = {}) {
    this.#deps = deps
    this.#config = config
    this.#options = {
      leaseSeconds: config.timeoutSeconds + leaseMarginSeconds,
      pollMilliseconds: 1_000,
      maxHeld: 1_024,
      maxSlowHeld: 1_024,
      random: Math.random,
      observer: { attempted: () => {}, lost: () => {}, disabled: () => {} },
      ...options,
    }
    if (this.#options.leaseSeconds <= config.timeoutSeconds)
      throw new Error('The lease of a delivery must be longer than the deadline of an attempt.')
    this.#concurrency = new EndpointConcurrency(this.#options)
    this.#secrets = deps.secrets
    this.#record = createBatcher({
      run: (ended) => this.#recordAll(ended),
      maxItems: maxRecorded,
      maxInFlight: recordingsAtOnce,
      isItemError: (error) => !isDatabaseUnavailable(error),
    })
  }

  /** Number of deliveries that this process has claimed. */
  get held(): number {
    return this.#held.size
  }

  start(): void {
    if (this.#running) return
    this.#stopListening = this.#deps.announcements.listen('deliveries', () => this.wake())
    this.#running = this.#run()
  }

  /** Checks for due deliveries now. */
  wake(): void {
    this.#woken = true
    this.#wakeSleeper?.()
  }

  /** Stops claiming, waits up to `graceMilliseconds` for running attempts and releases the remaining claims. */
  async stop({ graceMilliseconds = this.#config.timeoutSeconds * 1000 } = {}): Promise<void> {
    this.#stopping = true
    this.#stopListening?.()
    this.wake()
    await this.#running
    if (this.#held.size > 0) {
      const allEnded = new Promise<void>((resolve) => (this.#allEnded = resolve))
      const graceEnded = new AbortController()
      await Promise.race([allEnded, delay(graceMilliseconds, undefined, { signal: graceEnded.signal })])
      graceEnded.abort()
    }
    const rest = [...this.#held.values()].map(({ delivery }) => delivery)
    // From now on, results of running attempts are not recorded.
    this.#held.clear()
    if (rest.length === 0) return
    await releaseClaims(this.#deps.db, rest).catch((error: unknown) =>
      this.#deps.log.warn(
        { err: error, deliveries: rest.length },
        'could not release claimed deliveries; they become due when their lease ends',
      ),
    )
  }

  async #run(): Promise<void> {
    let checksAll = true
    while (!this.#stopping) {
      await this.#claimSlow()
      await this.#claimLimited()
      const { claimed, isWhole } = checksAll ? await this.#claim() : nothingClaimed
      checksAll = true
      if (claimed >= fewClaimed || (claimed === 0 && !isWhole)) continue
      if (claimed > 0) await delay(gatherMilliseconds)
      else checksAll = await this.#sleep()
    }
  }

  /** Returns how many deliveries were claimed, and whether no more were available. */
  async #claim(): Promise<Claimed> {
    this.#woken = false
    const { maxHeld } = this.#options
    const now = performance.now()
    this.#claimedAllAt = now
    // Whatever woke this worker may concern them as well.
    if (await this.#checkLimited(now)) this.#limitedDueAt = Math.min(this.#limitedDueAt, now)
    const room = maxHeld - this.#concurrency.countPlainHeld(now)
    const result = await this.#claimPasses(this.#concurrency.plan(maxHeld, maxClaimed, now), room)
    this.#isFull = this.#concurrency.countPlainHeld(performance.now()) >= maxHeld
    return { ...result, isWhole: result.isWhole || this.#isFull }
  }

  async #claimSlow(): Promise<void> {
    const now = performance.now()
    if (now - this.#claimedSlowAt < slowTurnMilliseconds) return
    this.#claimedSlowAt = now
    const pass = this.#concurrency.planSlow(maxClaimed, now)
    if (pass) await this.#claimPasses([pass], pass.limit)
  }

  async #checkLimited(now: number): Promise<boolean> {
    if (now - this.#limitedCheckedAt < limitedCheckMilliseconds) return this.#hasLimited
    this.#limitedCheckedAt = now
    try {
      this.#hasLimited = await hasLimitedEndpoints(this.#deps.db)
    } catch (error) {
      this.#reportDatabaseLost(error)
    }
    return this.#hasLimited
  }

  async #claimLimited(): Promise<void> {
    const sentAt = performance.now()
    if (sentAt < this.#limitedAt()) return
    const { maxHeld, leaseSeconds } = this.#options
    const slow = this.#concurrency.planSlow(maxClaimed, sentAt)
    const passes = [...this.#concurrency.plan(maxHeld, maxClaimed, sentAt), ...(slow ? [slow] : [])]
    this.#claimedLimitedAt = sentAt
    this.#limitedDueAt = Infinity
    try {
      const { deliveries, againSeconds } = await claimLimitedDeliveries(
        this.#deps.db,
        { leaseSeconds, limit: maxClaimed },
        (endpoint) => this.#concurrency.capacityOf(endpoint, passes, performance.now()),
      )
      for (const delivery of deliveries) this.#begin(delivery, { windows: initialWindows, isLimited: true, sentAt })
      if (againSeconds !== undefined) this.#limitedDueAt = performance.now() + againSeconds * 1000
    } catch (error) {
      this.#reportDatabaseLost(error)
    }
  }

  #limitedAt(): number {
    return Math.max(this.#limitedDueAt, this.#claimedLimitedAt + limitedTurnMilliseconds)
  }

  /** `room`: the maximum number of deliveries, over all passes. */
  async #claimPasses(passes: readonly ClaimPass[], room: number): Promise<Claimed> {
    let claimed = 0
    let isWhole = true
    try {
      for (const pass of passes) {
        const wasPartial = this.#after(pass) !== ''
        const count = await this.#claimPass({ ...pass, limit: Math.min(pass.limit, room - claimed) })
        claimed += count
        if (count === 0 && wasPartial) isWhole = false
      }
      this.#reportDatabaseBack()
    } catch (error) {
      this.#reportDatabaseLost(error)
      this.#afterEndpointIds.clear()
    }
    return { claimed, isWhole }
  }

  #after({ of }: ClaimPass): string {
    return this.#afterEndpointIds.get(of) ?? ''
  }

  async #claimPass(pass: ClaimPass): Promise<number> {
    const { limit } = pass
    const sentAt = performance.now()
    const capacities = this.#concurrency.capacities(pass, sentAt)
    const windows = windowsOf(pass)
    const ofLanesOnly = pass.of === 'proven' || pass.of === 'slow'
    if (limit <= 0 || (ofLanesOnly && capacities.every((capacity) => capacity.deliveries === 0))) {
      this.#afterEndpointIds.delete(pass.of)
      return 0
    }
    const afterEndpointId = this.#after(pass)
    const { leaseSeconds } = this.#options
    const claim = { leaseSeconds, limit, afterEndpointId, rooms: capacities, ...windows }
    const deliveries = await claimDueDeliveries(this.#deps.db, claim)
    for (const delivery of deliveries) this.#begin(delivery, { windows, isLimited: false, sentAt })
    const sawAllEndpoints = afterEndpointId === '' && deliveries.length < limit
    if (sawAllEndpoints) this.#concurrency.recordClaim(capacities, deliveries)
    // A full claim stopped at this endpoint. The next claim continues after it, so that each endpoint has its turn.
    const stoppedAt = deliveries.length < limit ? undefined : deliveries.at(-1)?.endpoint_id
    this.#afterEndpointIds.set(pass.of, stoppedAt ?? '')
    return deliveries.length
  }

  #begin(
    delivery: ClaimedDelivery,
    { windows, isLimited, sentAt }: { windows: StartWindows; isLimited: boolean; sentAt: number },
  ): void {
    const now = performance.now()
    const fails = delivery.endpoint_fails
    const start = { fails, isLimited, window: fails ? windows.whileFailing : windows.otherwise }
    const held = {
      delivery,
      isLimited,
      leaseEndsAt: sentAt + this.#options.leaseSeconds * 1000,
      databaseOffset: delivery.claimed_at - now,
    }
    this.#held.set(delivery.id, held)
    this.#concurrency.begin(delivery.endpoint_id, start, now, () => {
      this.#deliver(held)
        .catch((error: unknown) =>
          this.#deps.log.error({ err: error, deliveryId: delivery.id }, 'could not record an attempt'),
        )
        .finally(() => this.#release(held))
    })
  }

  async #deliver(held: Held): Promise<void> {
    const { delivery } = held
    const now = performance.now()
    // The delivery waited too long, or this process was suspended: another worker could claim it before the attempt
    // ends.
    const isLate = now + this.#config.timeoutSeconds * 1000 > held.leaseEndsAt
    if (isLate || this.#held.get(delivery.id) !== held) return this.#leave(held, { outcome: 'failed' })
    const startedAt = new Date(now + held.databaseOffset)
    const result = await this.#attempt(delivery, startedAt)
    // Only quick responses can come in such numbers; a few hundred of slow endpoints must not delay the others.
    const isCounted = result.outcome === 'delivered' && result.durationMilliseconds < countedMilliseconds
    if (isCounted && ++this.#unrecorded >= maxUnrecorded) this.#concurrency.pause()
    const { outcome, durationMilliseconds: milliseconds } = result
    this.#leave(held, outcome === 'delivered' ? { outcome, milliseconds } : { outcome: 'failed' })
    this.#options.observer.attempted(result)
    const waitSeconds = this.#waitAfter(delivery, result)
    try {
      await this.#recordWhileHeld(held, { delivery, result, startedAt, waitSeconds })
    } finally {
      if (isCounted) this.#resumeAfterRecord()
    }
  }

  #resumeAfterRecord(): void {
    this.#unrecorded -= 1
    if (this.#unrecorded <= maxUnrecorded / 2) this.#concurrency.resume(maxUnrecorded)
  }

  /** Ends the delivery's slot at its endpoint, so that another can start. */
  #leave(
    { delivery, isLimited }: Held,
    ended: { outcome: 'failed' } | { outcome: 'delivered'; milliseconds: number },
  ): void {
    if (this.#concurrency.end(delivery.endpoint_id, ended, performance.now()) && !isLimited) this.wake()
  }

  async #attempt(delivery: ClaimedDelivery, timestamp: Date): Promise<AttemptResult> {
    const opened = this.#open(delivery, timestamp)
    // Retried like any failed attempt, so that an operator has time to restore the key.
    if (!opened)
      return {
        outcome: 'failed',
        error: 'the signing secret of the endpoint cannot be decrypted',
        durationMilliseconds: 0,
      }
    const { url, event_id: eventId, payload } = delivery
    return this.#deps.webhooks.attempt({ url, eventId, payload, timestamp, ...opened })
  }

  #open(delivery: ClaimedDelivery, now: Date): OpenedEndpoint | undefined {
    try {
      return openEndpoint(this.#secrets, { ...delivery, id: delivery.endpoint_id }, now)
    } catch (error) {
      const { endpoint_id: endpointId, endpoint_fails: isKnown } = delivery
      if (!isKnown)
        this.#deps.log.error({ err: error, endpointId }, 'could not decrypt the signing secret of an endpoint')
      return undefined
    }
  }

  #waitAfter({ attempts }: ClaimedDelivery, result: AttemptResult): number | undefined {
    if (result.outcome === 'delivered') return undefined
    return nextWaitSeconds(
      this.#config.retrySeconds,
      { attempts: attempts + 1, retryAfterSeconds: result.retryAfterSeconds },
      this.#options.random,
    )
  }

  /** Retries while the database is unavailable, until the lease ends. Then any worker repeats the attempt. */
  async #recordWhileHeld(held: Held, ended: EndedAttempt): Promise<void> {
    while (this.#held.get(held.delivery.id) === held) {
      try {
        if ((await this.#record(ended)) === 'lost') this.#options.observer.lost()
        else if (held.isLimited) this.#wakeForLimited()
        return
      } catch (error) {
        if (!isDatabaseUnavailable(error)) throw error
        this.#reportDatabaseLost(error)
        if (performance.now() > held.leaseEndsAt) return this.#options.observer.lost()
        await delay(databaseRetryMilliseconds)
      }
    }
    // This worker has claimed the delivery again or released it.
    if (!this.#stopping) this.#options.observer.lost()
  }

  async #recordAll(ended: readonly EndedAttempt[]): Promise<('recorded' | 'lost')[]> {
    const { lost, disabled } = await recordAttempts(this.#deps.db, ended)
    for (const endpoint of disabled) {
      this.#deps.log.warn({ ...endpoint }, 'disabled a webhook endpoint')
      this.#options.observer.disabled(endpoint)
    }
    return ended.map(({ delivery }) => (lost.has(delivery.id) ? 'lost' : 'recorded'))
  }

  #release(held: Held): void {
    if (this.#held.get(held.delivery.id) === held) this.#held.delete(held.delivery.id)
    if (this.#held.size === 0) this.#allEnded?.()
    if (this.#isFull) this.wake()
  }

  /** Claims for endpoints with limits, one of which has a free slot. */
  #wakeForLimited(): void {
    this.#limitedDueAt = performance.now()
    this.#wakeSleeper?.()
  }

  /**
   * Sleeps until there may be something to claim. Returns false if that is so only for slow endpoints or those with
   * limits.
   */
  async #sleep(): Promise<boolean> {
    const now = performance.now()
    this.#concurrency.dropIdle(now)
    if (this.#woken || this.#stopping) return true
    const pollAt = this.#claimedAllAt + this.#options.pollMilliseconds
    const slowAt = this.#concurrency.hasMoreOfSlow(now) ? this.#claimedSlowAt + slowTurnMilliseconds : Infinity
    const allAt = this.#concurrency.hasMoreOfFailing() ? this.#claimedAllAt + slowTurnMilliseconds : pollAt
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, Math.max(0, Math.min(pollAt, allAt, slowAt, this.#limitedAt()) - now))
    this.#wakeSleeper = resolve
    await promise
    this.#wakeSleeper = undefined
    clearTimeout(timer)
    return this.#woken || performance.now() >= Math.min(pollAt, allAt)
  }

  #reportDatabaseLost(error: unknown): void {
    if (this.#databaseIsAway) return
    this.#databaseIsAway = true
    this.#deps.log.warn({ err: error }, 'could not read deliveries from the database; trying again')
  }

  #reportDatabaseBack(): void {
    if (!this.#databaseIsAway) return
    this.#databaseIsAway = false
    this.#deps.log.info('the database is available again')
  }
}

import type { Kysely } from 'kysely'
import { clockEstimateOf } from '../../platform/db/clock.ts'
import type { Database } from '../../platform/db/schema.ts'
import type { ClaimTerms } from './attempts.ts'
import { type ClaimPass, type EndpointConcurrency, initialWindows, windowsOf } from './endpoint-concurrency.ts'
import { claimLimitedDeliveries, hasLimitedEndpoints } from './limited-store.ts'
import { claimDueDeliveries, type ClaimedDelivery } from './store.ts'

export interface ClaimOptions {
  /** Duration of a claim. */
  leaseSeconds: number
  /** Maximum number of claimed deliveries across all endpoints except slow ones. */
  maxHeld: number
  /** The monotonic clock of this process, in milliseconds. */
  monotonic: () => number
}

export interface ClaimEvents {
  claimed(delivery: ClaimedDelivery, terms: ClaimTerms): void
  databaseLost(error: unknown): void
  databaseBack(): void
}

const maxClaimed = 256
/**
 * Minimum interval between claims for slow and failing endpoints. A claim for each freed slot would delay the
 * deliveries of other endpoints.
 */
const slowIntervalMilliseconds = 50
/** Minimum interval between claims for endpoints with configured limits, which are claimed separately. */
const limitedIntervalMilliseconds = 10
/** How often to check whether there are such endpoints. */
const limitedCheckMilliseconds = 1_000

export interface Claimed {
  claimed: number
  /** Whether nothing more can be claimed now. */
  isComplete: boolean
}

export const nothingClaimed: Claimed = { claimed: 0, isComplete: true }

/**
 * Claims due deliveries. Slow endpoints, endpoints with limits and all others are claimed separately, each group at its
 * own interval. All times are of the monotonic clock of this process.
 */
export class Claims {
  readonly #db: Kysely<Database>
  readonly #options: ClaimOptions
  readonly #concurrency: EndpointConcurrency
  readonly #events: ClaimEvents
  /** The endpoint at which the last claim of each kind stopped. */
  readonly #cursors = new Map<ClaimPass['of'], string>()
  #isFull = false
  #claimedAllAt = -Infinity
  #claimedSlowAt = -Infinity
  #claimedLimitedAt = -Infinity
  /** When endpoints with limits may be claimed again. */
  #limitedDueAt = Infinity
  #limitedCheckedAt = -Infinity
  #hasLimited = false

  constructor(db: Kysely<Database>, options: ClaimOptions, concurrency: EndpointConcurrency, events: ClaimEvents) {
    this.#db = db
    this.#options = options
    this.#concurrency = concurrency
    this.#events = events
  }

  /** Whether the last claim used up the capacity. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** Claims for all endpoints except slow ones and those with limits. */
  async claimAll(): Promise<Claimed> {
    const { maxHeld } = this.#options
    const now = this.#options.monotonic()
    this.#claimedAllAt = now
    // The state of each endpoint is sent with each claim.
    this.#concurrency.dropIdle(now)
    // The event that woke this worker may concern endpoints with limits as well.
    if (await this.#checkLimited(now)) this.#limitedDueAt = Math.min(this.#limitedDueAt, now)
    const capacity = maxHeld - this.#concurrency.countHeldExceptSlow(now)
    const result = await this.#claimPasses(this.#concurrency.plan(maxHeld, maxClaimed, now), capacity)
    this.#isFull = this.#concurrency.countHeldExceptSlow(this.#options.monotonic()) >= maxHeld
    return { ...result, isComplete: result.isComplete || this.#isFull }
  }

  /** Claims for slow endpoints, if their interval has passed. */
  async claimSlow(): Promise<void> {
    const now = this.#options.monotonic()
    if (now - this.#claimedSlowAt < slowIntervalMilliseconds) return
    this.#claimedSlowAt = now
    const pass = this.#concurrency.planSlow(maxClaimed, now)
    if (pass) await this.#claimPasses([pass], pass.limit)
  }

  /** Claims for endpoints with limits, if they are due. */
  async claimLimited(): Promise<void> {
    const sentAt = this.#options.monotonic()
    if (sentAt < this.#limitedAt()) return
    const { maxHeld, leaseSeconds } = this.#options
    const slow = this.#concurrency.planSlow(maxClaimed, sentAt)
    const passes = [...this.#concurrency.plan(maxHeld, maxClaimed, sentAt), ...(slow ? [slow] : [])]
    this.#claimedLimitedAt = sentAt
    this.#limitedDueAt = Infinity
    try {
      const { deliveries, nextClaimSeconds } = await claimLimitedDeliveries(
        this.#db,
        { leaseSeconds, limit: maxClaimed },
        (endpoint) => this.#concurrency.capacityOf(endpoint, passes, this.#options.monotonic()),
      )
      for (const delivery of deliveries)
        this.#events.claimed(delivery, { windows: initialWindows, isLimited: true, sentAt })
      if (nextClaimSeconds !== undefined) this.#limitedDueAt = this.#options.monotonic() + nextClaimSeconds * 1000
    } catch (error) {
      this.#events.databaseLost(error)
    }
  }

  /** Makes endpoints with limits due, because one of them has a free slot. */
  limitedSlotFreed(): void {
    this.#limitedDueAt = this.#options.monotonic()
  }

  /** When to claim next: `allAt` for all endpoints, `othersAt` for slow endpoints and those with limits. */
  dueAt(pollMilliseconds: number, now: number): { allAt: number; othersAt: number } {
    const allMilliseconds = this.#concurrency.hasMoreOfFailing() ? slowIntervalMilliseconds : Infinity
    const slowAt = this.#concurrency.hasMoreOfSlow(now) ? this.#claimedSlowAt + slowIntervalMilliseconds : Infinity
    return {
      allAt: this.#claimedAllAt + Math.min(pollMilliseconds, allMilliseconds),
      othersAt: Math.min(slowAt, this.#limitedAt()),
    }
  }

  async #checkLimited(now: number): Promise<boolean> {
    if (now - this.#limitedCheckedAt < limitedCheckMilliseconds) return this.#hasLimited
    this.#limitedCheckedAt = now
    try {
      this.#hasLimited = await hasLimitedEndpoints(this.#db)
    } catch (error) {
      this.#events.databaseLost(error)
    }
    return this.#hasLimited
  }

  #limitedAt(): number {
    return Math.max(this.#limitedDueAt, this.#claimedLimitedAt + limitedIntervalMilliseconds)
  }

  /** Claims at most `capacity` deliveries over all passes. */
  async #claimPasses(passes: readonly ClaimPass[], capacity: number): Promise<Claimed> {
    let claimed = 0
    let isComplete = true
    try {
      for (const pass of passes) {
        const continues = this.#cursorOf(pass) !== ''
        const count = await this.#claimPass({ ...pass, limit: Math.min(pass.limit, capacity - claimed) })
        claimed += count
        // Nothing was due after the cursor. The next claim starts over at the first endpoint.
        if (count === 0 && continues) isComplete = false
      }
      this.#events.databaseBack()
    } catch (error) {
      this.#events.databaseLost(error)
      this.#cursors.clear()
    }
    return { claimed, isComplete }
  }

  #cursorOf({ of }: ClaimPass): string {
    return this.#cursors.get(of) ?? ''
  }

  async #claimPass(pass: ClaimPass): Promise<number> {
    const { limit } = pass
    const sentAt = this.#options.monotonic()
    const capacities = this.#concurrency.capacities(pass, sentAt)
    this.#concurrency.recordAttempted(pass, capacities, sentAt)
    const windows = windowsOf(pass)
    // Only endpoints that this process has used recently are proven or slow.
    const coversKnownOnly = pass.of === 'proven' || pass.of === 'slow'
    if (limit <= 0 || (coversKnownOnly && capacities.every((capacity) => capacity.deliveries === 0))) {
      this.#cursors.delete(pass.of)
      return 0
    }
    const afterEndpointId = this.#cursorOf(pass)
    const { leaseSeconds } = this.#options
    const claim = { leaseSeconds, limit, afterEndpointId, capacities, ...windows }
    const deliveries = await claimDueDeliveries(this.#db, claim)
    if (deliveries[0]) clockEstimateOf(this.#db).addSample(deliveries[0].claimedAt, sentAt)
    for (const delivery of deliveries) this.#events.claimed(delivery, { windows, isLimited: false, sentAt })
    const coveredAllEndpoints = afterEndpointId === '' && deliveries.length < limit
    if (coveredAllEndpoints) this.#concurrency.recordClaim(capacities, deliveries)
    else this.#concurrency.recordCut(deliveries)
    // If the claim reached its limit, the next one continues after this endpoint, so that every endpoint is served.
    const stoppedAt = deliveries.length < limit ? undefined : deliveries.at(-1)?.endpointId
    this.#cursors.set(pass.of, stoppedAt ?? '')
    return deliveries.length
  }
}

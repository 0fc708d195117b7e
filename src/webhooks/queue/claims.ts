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
  /** Maximum number of claimed deliveries, over all endpoints but slow ones. */
  maxHeld: number
}

export interface ClaimEvents {
  claimed(delivery: ClaimedDelivery, terms: ClaimTerms): void
  databaseLost(error: unknown): void
  databaseBack(): void
}

const maxClaimed = 256
/** Slow and failing endpoints get their next deliveries together, since a claim for each would delay those of others. */
const slowTurnMilliseconds = 50
/** The same for endpoints with limits of their owner, which have a claim of their own. */
const limitedTurnMilliseconds = 10
/** How often to look whether there are such endpoints. */
const limitedCheckMilliseconds = 1_000

export interface Claimed {
  claimed: number
  /** Whether no more were available. */
  isWhole: boolean
}

export const nothingClaimed: Claimed = { claimed: 0, isWhole: true }

/**
 * Claims due deliveries: those of all endpoints, those of slow ones, and those of endpoints with limits, each at its own
 * pace. All times are of the monotonic clock of this process.
 */
export class Claims {
  readonly #db: Kysely<Database>
  readonly #options: ClaimOptions
  readonly #concurrency: EndpointConcurrency
  readonly #events: ClaimEvents
  /** The endpoint at which the last claim of each kind stopped. */
  readonly #afterEndpointIds = new Map<ClaimPass['of'], string>()
  #isFull = false
  /** When the deliveries of all endpoints, and those of slow ones, were last claimed. */
  #claimedAllAt = -Infinity
  #claimedSlowAt = -Infinity
  #claimedLimitedAt = -Infinity
  /** When endpoints with limits may get more deliveries. */
  #limitedDueAt = Infinity
  #limitedCheckedAt = -Infinity
  #hasLimited = false

  constructor(db: Kysely<Database>, options: ClaimOptions, concurrency: EndpointConcurrency, events: ClaimEvents) {
    this.#db = db
    this.#options = options
    this.#concurrency = concurrency
    this.#events = events
  }

  /** Whether the last claim left no capacity. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** Returns how many deliveries were claimed, and whether no more were available. */
  async claimAll(): Promise<Claimed> {
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

  /** Claims for slow endpoints, if it is their turn. */
  async claimSlow(): Promise<void> {
    const now = performance.now()
    if (now - this.#claimedSlowAt < slowTurnMilliseconds) return
    this.#claimedSlowAt = now
    const pass = this.#concurrency.planSlow(maxClaimed, now)
    if (pass) await this.#claimPasses([pass], pass.limit)
  }

  /** Claims for endpoints with limits, if it is their turn. */
  async claimLimited(): Promise<void> {
    const sentAt = performance.now()
    if (sentAt < this.#limitedAt()) return
    const { maxHeld, leaseSeconds } = this.#options
    const slow = this.#concurrency.planSlow(maxClaimed, sentAt)
    const passes = [...this.#concurrency.plan(maxHeld, maxClaimed, sentAt), ...(slow ? [slow] : [])]
    this.#claimedLimitedAt = sentAt
    this.#limitedDueAt = Infinity
    try {
      const { deliveries, againSeconds } = await claimLimitedDeliveries(
        this.#db,
        { leaseSeconds, limit: maxClaimed },
        (endpoint) => this.#concurrency.capacityOf(endpoint, passes, performance.now()),
      )
      for (const delivery of deliveries)
        this.#events.claimed(delivery, { windows: initialWindows, isLimited: true, sentAt })
      if (againSeconds !== undefined) this.#limitedDueAt = performance.now() + againSeconds * 1000
    } catch (error) {
      this.#events.databaseLost(error)
    }
  }

  /** Makes endpoints with limits due, one of which has a free slot. */
  limitedFreed(): void {
    this.#limitedDueAt = performance.now()
  }

  /** When to claim next: for all endpoints, at the latest after `pollMilliseconds`, and for those with a pace of their own. */
  dueAt(pollMilliseconds: number, now: number): { allAt: number; othersAt: number } {
    const allMilliseconds = this.#concurrency.hasMoreOfFailing() ? slowTurnMilliseconds : Infinity
    const slowAt = this.#concurrency.hasMoreOfSlow(now) ? this.#claimedSlowAt + slowTurnMilliseconds : Infinity
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
      this.#events.databaseBack()
    } catch (error) {
      this.#events.databaseLost(error)
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
    const deliveries = await claimDueDeliveries(this.#db, claim)
    if (deliveries[0]) clockEstimateOf(this.#db).learn(deliveries[0].claimed_at, sentAt)
    for (const delivery of deliveries) this.#events.claimed(delivery, { windows, isLimited: false, sentAt })
    const sawAllEndpoints = afterEndpointId === '' && deliveries.length < limit
    if (sawAllEndpoints) this.#concurrency.recordClaim(capacities, deliveries)
    // A full claim stopped at this endpoint. The next claim continues after it, so that each endpoint has its turn.
    const stoppedAt = deliveries.length < limit ? undefined : deliveries.at(-1)?.endpoint_id
    this.#afterEndpointIds.set(pass.of, stoppedAt ?? '')
    return deliveries.length
  }
}

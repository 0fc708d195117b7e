import {
  adapt,
  type AdaptiveWindow,
  claimable,
  fairShare,
  initialWindow,
  isSlow,
  maxRunning,
  minWindow,
  openWindow,
} from './adaptive-window.ts'
import type { EndpointCapacity } from './store.ts'

/** How long a success proves that an endpoint is healthy, and how long the state of an idle endpoint is kept. */
const healthMilliseconds = 10_000

/**
 * `proven`: a recent attempt succeeded. `slow`: a recent attempt succeeded, but attempts take long. `failing`: the last
 * attempt failed. `unknown`: none of these, so the endpoint may be dead.
 */
export type EndpointHealth = 'proven' | 'slow' | 'unknown' | 'failing'

/** Which endpoints one claim covers, and its maximum number of deliveries. `all` does not include slow ones. */
export interface ClaimPass {
  of: EndpointHealth | 'all'
  limit: number
  /** Window of endpoints whose health is unknown. */
  unknownWindow: number
}

/**
 * Plans the claims. Half of the capacity is reserved for proven endpoints, and failing endpoints get at most a quarter,
 * because attempts that time out occupy their slots for long. Far from these limits, one claim covers all endpoints.
 * Near them, each health class has its own claim, so that none exceeds its limit. Unknown and failing endpoints come
 * first because they are limited; proven endpoints get the rest.
 */
export function planClaimPasses(
  held: Record<Exclude<EndpointHealth, 'slow'>, number>,
  maxHeld: number,
  maxClaimed: number,
): ClaimPass[] {
  const unproven = held.unknown + held.failing
  const limit = Math.min(maxClaimed, maxHeld - unproven - held.proven)
  if (limit <= 0) return []
  const unknownWindow = unproven < maxHeld / 4 ? initialWindow : minWindow
  const unprovenLeft = Math.max(0, Math.ceil(maxHeld / 2) - unproven)
  const failingLeft = Math.min(unprovenLeft, Math.max(0, Math.ceil(maxHeld / 4) - held.failing))
  if (failingLeft >= maxHeld / 8) return [{ of: 'all', limit: Math.min(limit, failingLeft), unknownWindow }]
  const passes: ClaimPass[] = [
    { of: 'unknown', limit: Math.min(limit, unprovenLeft), unknownWindow },
    { of: 'failing', limit: Math.min(limit, failingLeft), unknownWindow },
    { of: 'proven', limit, unknownWindow },
  ]
  return passes.filter((pass) => pass.limit > 0)
}

/** What this process knows about an endpoint that it uses. */
interface EndpointState {
  window: AdaptiveWindow
  held: number
  running: number
  waiting: (() => void)[]
  /** Whether more deliveries were due than could be claimed, at the last claim. */
  hasMore: boolean
  usedAt: number
  deliveredAt: number
  /** Whether the last attempt failed. */
  isFailing: boolean
  /** Whether it has configured limits and is therefore claimed separately. */
  isLimited: boolean
}

/** The state of an endpoint when it is first claimed. */
export type InitialEndpointState = Pick<EndpointState, 'isFailing' | 'isLimited'> & { window: number }

/**
 * Limits how many deliveries of each endpoint this process claims. The window of an endpoint grows with its successes,
 * so that its next deliveries are ready when a request ends. An endpoint whose attempts all time out holds only two
 * deliveries. Concurrent requests are limited as well. Slow endpoints share a separate set of slots fairly, so that
 * they take none from others.
 */
export class EndpointConcurrency {
  readonly #endpoints = new Map<string, EndpointState>()
  readonly #maxSlowHeld: number
  /** Whether capacity for unproven endpoints is scarce, so that a freed slot is worth a claim. */
  #isScarce = false
  /** How many more attempts may start; infinite unless starts are paused. */
  #startsLeft = Infinity

  constructor({ maxSlowHeld }: { maxSlowHeld: number }) {
    this.#maxSlowHeld = maxSlowHeld
  }

  /** Number of claimed deliveries of all endpoints except slow ones. */
  countHeldExceptSlow(now: number): number {
    const { proven, unknown, failing } = this.#countHeld(now)
    return proven + unknown + failing
  }

  /** Returns the claims to make now, one after another. */
  plan(maxHeld: number, maxClaimed: number, now: number): ClaimPass[] {
    const passes = planClaimPasses(this.#countHeld(now), maxHeld, maxClaimed)
    this.#isScarce = passes[0]?.of !== 'all'
    return passes
  }

  /** Returns the claim for slow endpoints; undefined if there are none, or no free slots. */
  planSlow(maxClaimed: number, now: number): ClaimPass | undefined {
    if (!this.#someEndpoint((endpoint) => healthOf(endpoint, now) === 'slow')) return undefined
    const limit = Math.min(maxClaimed, this.#maxSlowHeld - this.#countHeld(now).slow)
    return limit > 0 ? { of: 'slow', limit, unknownWindow: 0 } : undefined
  }

  /** Returns whether a slow endpoint can take more due deliveries. */
  hasMoreOfSlow(now: number): boolean {
    return this.#someEndpoint((endpoint) => canTakeMore(endpoint) && healthOf(endpoint, now) === 'slow')
  }

  /** Returns whether an endpoint whose last attempt failed can take more due deliveries. */
  hasMoreOfFailing(): boolean {
    return this.#someEndpoint((endpoint) => endpoint.isFailing && canTakeMore(endpoint))
  }

  #someEndpoint(matches: (endpoint: EndpointState) => boolean): boolean {
    for (const endpoint of this.#endpoints.values()) if (matches(endpoint)) return true
    return false
  }

  #countHeld(now: number): Record<EndpointHealth, number> {
    const held = { proven: 0, slow: 0, unknown: 0, failing: 0 }
    for (const endpoint of this.#endpoints.values()) held[healthOf(endpoint, now)] += endpoint.held
    return held
  }

  /** Returns the capacities of all endpoints in use; it is 0 for those that this pass does not cover. */
  capacities(pass: ClaimPass, now: number): EndpointCapacity[] {
    const share = pass.of === 'slow' ? this.#shareOfSlow(now) : Infinity
    return [...this.#endpoints].map(([endpointId, endpoint]) => {
      const health = healthOf(endpoint, now)
      const window = Math.min(claimable(endpoint.window), health === 'unknown' ? pass.unknownWindow : share)
      return { endpointId, deliveries: covers(pass, health) ? Math.max(0, window - endpoint.held) : 0 }
    })
  }

  /** Returns how many more deliveries of an endpoint can be claimed in any of these passes. */
  capacityOf(
    { endpointId, isFailing }: { endpointId: string; isFailing: boolean },
    passes: readonly ClaimPass[],
    now: number,
  ) {
    const endpoint = this.#endpoints.get(endpointId)
    const health = endpoint ? healthOf(endpoint, now) : isFailing ? 'failing' : 'unknown'
    const pass = passes.find((each) => covers(each, health))
    if (!pass) return 0
    if (!endpoint) return Math.min(pass.limit, isFailing ? minWindow : pass.unknownWindow)
    const own = this.capacities(pass, now).find((capacity) => capacity.endpointId === endpointId)
    return Math.min(pass.limit, own?.deliveries ?? 0)
  }

  #shareOfSlow(now: number): number {
    const slow = [...this.#endpoints.values()].filter((endpoint) => healthOf(endpoint, now) === 'slow')
    return fairShare(
      slow.map((endpoint) => (endpoint.hasMore ? claimable(endpoint.window) : endpoint.held)),
      this.#maxSlowHeld,
    )
  }

  /** Calls `start` when the endpoint has a free slot. Each start must be followed by an `end`. */
  begin(endpointId: string, { isFailing, window, isLimited }: InitialEndpointState, now: number, start: () => void) {
    let endpoint = this.#endpoints.get(endpointId)
    if (!endpoint) {
      endpoint = {
        window: openWindow(window),
        held: 0,
        running: 0,
        waiting: [],
        hasMore: true,
        usedAt: now,
        deliveredAt: -Infinity,
        isFailing,
        isLimited,
      }
      this.#endpoints.set(endpointId, endpoint)
    }
    endpoint.isLimited = isLimited
    endpoint.held += 1
    endpoint.waiting.push(start)
    this.#startNext(endpoint)
  }

  /** Starts no attempts until `resume` is called. */
  pause(): void {
    this.#startsLeft = 0
  }

  /** Starts up to `attempts` waiting attempts now, and the remaining ones as others end. */
  resume(attempts: number): void {
    if (this.#startsLeft === Infinity) return
    this.#startsLeft = attempts
    for (const endpoint of this.#endpoints.values()) {
      if (this.#startsLeft === 0) break
      this.#startNext(endpoint)
    }
    this.#startsLeft = Infinity
  }

  #startNext(endpoint: EndpointState): void {
    const limit = maxRunning(endpoint.window)
    while (endpoint.running < limit && this.#startsLeft > 0) {
      const start = endpoint.waiting.shift()
      if (!start) return
      this.#startsLeft -= 1
      endpoint.running += 1
      start()
    }
  }

  /**
   * Returns when to claim more deliveries, if there may be some. Slow and failing endpoints get theirs at regular intervals.
   */
  end(
    endpointId: string,
    ended: { outcome: 'failed' } | { outcome: 'delivered'; milliseconds: number },
    now: number,
  ): 'now' | 'at interval' | undefined {
    const endpoint = this.#endpoints.get(endpointId)
    if (!endpoint) return undefined
    const freesScarceSlot = this.#isScarce && isUnproven(healthOf(endpoint, now))
    endpoint.held -= 1
    endpoint.running -= 1
    endpoint.usedAt = now
    endpoint.isFailing = ended.outcome === 'failed'
    if (!endpoint.isFailing) endpoint.deliveredAt = now
    endpoint.window = adapt(
      endpoint.window,
      ended.outcome === 'failed' ? ended : { ...ended, hasMore: endpoint.hasMore },
    )
    this.#startNext(endpoint)
    if (freesScarceSlot) return 'now'
    if (!canTakeMore(endpoint)) return undefined
    return endpoint.isFailing || healthOf(endpoint, now) === 'slow' ? 'at interval' : 'now'
  }

  /**
   * Records that a claim is made: endpoints that it covers but that have no free slot may have more due deliveries, which
   * it does not see. Without this, what became due in the meantime would wait for the next poll.
   */
  recordAttempted(pass: ClaimPass, capacities: readonly EndpointCapacity[], now: number): void {
    for (const { endpointId, deliveries: capacity } of capacities) {
      const endpoint = this.#endpoints.get(endpointId)
      if (endpoint && capacity === 0 && covers(pass, healthOf(endpoint, now))) endpoint.hasMore = true
    }
  }

  /** Records that a claim reached its limit: the endpoints of its deliveries may have more. */
  recordCut(deliveries: readonly { endpointId: string }[]): void {
    for (const { endpointId } of deliveries) {
      const endpoint = this.#endpoints.get(endpointId)
      if (endpoint) endpoint.hasMore = true
    }
  }

  /**
   * Records the result of a claim that covered all endpoints: those whose capacity was not used up have no more due
   * deliveries.
   */
  recordClaim(capacities: readonly EndpointCapacity[], deliveries: readonly { endpointId: string }[]): void {
    const counts = new Map<string, number>()
    for (const { endpointId: id } of deliveries) counts.set(id, (counts.get(id) ?? 0) + 1)
    for (const { endpointId, deliveries: capacity } of capacities) {
      const endpoint = this.#endpoints.get(endpointId)
      if (endpoint && !endpoint.isLimited && capacity > 0) endpoint.hasMore = (counts.get(endpointId) ?? 0) >= capacity
      counts.delete(endpointId)
    }
    for (const [endpointId, count] of counts) {
      const endpoint = this.#endpoints.get(endpointId)
      if (endpoint) endpoint.hasMore = count >= claimable(endpoint.window)
    }
  }

  /** Drops idle endpoints, because their health is outdated. */
  dropIdle(now: number): void {
    for (const [endpointId, endpoint] of this.#endpoints)
      if (endpoint.held === 0 && now - endpoint.usedAt > healthMilliseconds) this.#endpoints.delete(endpointId)
  }
}

/** Windows of endpoints that are not in use: `failingWindow` if the last attempt failed, otherwise `defaultWindow`. */
export interface StartWindows {
  defaultWindow: number
  failingWindow: number
}

export const initialWindows: StartWindows = { defaultWindow: initialWindow, failingWindow: minWindow }

/** Returns the windows of endpoints that are not in use, for a pass. */
export function windowsOf({ of, unknownWindow }: ClaimPass): StartWindows {
  return {
    defaultWindow: of === 'all' || of === 'unknown' ? unknownWindow : 0,
    failingWindow: of === 'all' || of === 'failing' ? minWindow : 0,
  }
}

function healthOf(endpoint: EndpointState, now: number): EndpointHealth {
  if (now - endpoint.deliveredAt <= healthMilliseconds) return isSlow(endpoint.window) ? 'slow' : 'proven'
  return endpoint.isFailing ? 'failing' : 'unknown'
}

function covers({ of }: ClaimPass, health: EndpointHealth): boolean {
  return of === health || (of === 'all' && health !== 'slow')
}

function canTakeMore({ hasMore, isLimited, held, window }: EndpointState): boolean {
  return hasMore && !isLimited && held < claimable(window)
}

function isUnproven(health: EndpointHealth): boolean {
  return health === 'unknown' || health === 'failing'
}

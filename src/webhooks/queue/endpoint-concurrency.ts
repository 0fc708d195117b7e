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

/** How long a success counts as proof of health, and how long an idle lane is kept. */
const healthMilliseconds = 10_000

/**
 * `proven`: a recent attempt succeeded. `slow`: it did, but took long. `failing`: the last attempt failed. `unknown`: none
 * of these, so the endpoint may be dead.
 */
export type EndpointHealth = 'proven' | 'slow' | 'unknown' | 'failing'

/** The endpoints of one claim, and the maximum number of deliveries. `all` does not include slow ones. */
export interface ClaimPass {
  of: EndpointHealth | 'all'
  limit: number
  /** Window of endpoints with unknown health. */
  unknownWindow: number
}

/**
 * Plans the claims. Half of the capacity is reserved for proven endpoints, and failing endpoints get at most a quarter:
 * an endpoint whose attempts time out holds its slots for long, and many of them would leave none. Far from these
 * limits, one claim serves all endpoints; near them, each health class has its own claim, so that none exceeds its
 * limit. Unknown and failing endpoints come first because they are limited; proven endpoints get the rest.
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

interface Lane {
  window: AdaptiveWindow
  held: number
  running: number
  waiting: (() => void)[]
  /** Whether more deliveries were due than could be claimed, at the last claim. */
  hasMore: boolean
  usedAt: number
  deliveredAt: number
  /** Whether the last attempt failed. */
  fails: boolean
  /** Whether it has limits of its owner and is claimed apart from the others. */
  isLimited: boolean
}

/** What a claim tells of an endpoint. */
export type LaneStart = Pick<Lane, 'fails' | 'isLimited'> & { window: number }

/**
 * Limits the claimed deliveries of each endpoint in this process. The window of an endpoint grows with its successes, so
 * that its next deliveries are ready when a request ends, and an endpoint whose attempts all time out holds two
 * deliveries. Concurrent requests are limited as well. Slow endpoints have slots of their own, which they share fairly,
 * so that they take none from others.
 */
export class EndpointConcurrency {
  readonly #lanes = new Map<string, Lane>()
  readonly #maxSlowHeld: number
  /** Whether capacity for unproven endpoints is short, so that each freed slot matters. */
  #isShort = false
  /** How many attempts may start before `resume` is called; infinite if none has to wait for that. */
  #startable = Infinity

  constructor({ maxSlowHeld }: { maxSlowHeld: number }) {
    this.#maxSlowHeld = maxSlowHeld
  }

  /** Number of claimed deliveries of all endpoints but slow ones. */
  countPlainHeld(now: number): number {
    const { proven, unknown, failing } = this.#countHeld(now)
    return proven + unknown + failing
  }

  /** Returns the claims to make now, one after another. */
  plan(maxHeld: number, maxClaimed: number, now: number): ClaimPass[] {
    const passes = planClaimPasses(this.#countHeld(now), maxHeld, maxClaimed)
    this.#isShort = passes[0]?.of !== 'all'
    return passes
  }

  /** Returns the claim for slow endpoints; undefined if there is none, or no slot for it. */
  planSlow(maxClaimed: number, now: number): ClaimPass | undefined {
    if (!this.#hasLane((lane) => healthOf(lane, now) === 'slow')) return undefined
    const limit = Math.min(maxClaimed, this.#maxSlowHeld - this.#countHeld(now).slow)
    return limit > 0 ? { of: 'slow', limit, unknownWindow: 0 } : undefined
  }

  /** Returns whether a slow endpoint has more due deliveries. */
  hasMoreOfSlow(now: number): boolean {
    return this.#hasLane((lane) => canTakeMore(lane) && healthOf(lane, now) === 'slow')
  }

  /** Returns whether an endpoint whose last attempt failed can take more due deliveries. */
  hasMoreOfFailing(): boolean {
    return this.#hasLane((lane) => lane.fails && canTakeMore(lane))
  }

  #hasLane(isSought: (lane: Lane) => boolean): boolean {
    for (const lane of this.#lanes.values()) if (isSought(lane)) return true
    return false
  }

  #countHeld(now: number): Record<EndpointHealth, number> {
    const held = { proven: 0, slow: 0, unknown: 0, failing: 0 }
    for (const lane of this.#lanes.values()) held[healthOf(lane, now)] += lane.held
    return held
  }

  /** Returns the capacities of endpoints that have a lane; those outside of this pass have none. */
  capacities({ of, unknownWindow }: ClaimPass, now: number): EndpointCapacity[] {
    const share = of === 'slow' ? this.#shareOfSlow(now) : Infinity
    return [...this.#lanes].map(([endpointId, lane]) => {
      const health = healthOf(lane, now)
      const window = Math.min(claimable(lane.window), health === 'unknown' ? unknownWindow : share)
      const isIncluded = of === health || (of === 'all' && health !== 'slow')
      return { endpointId, deliveries: isIncluded ? Math.max(0, window - lane.held) : 0 }
    })
  }

  /** Returns how many more deliveries of an endpoint can be claimed in any of these passes. */
  capacityOf({ endpointId, fails }: { endpointId: string; fails: boolean }, passes: readonly ClaimPass[], now: number) {
    const lane = this.#lanes.get(endpointId)
    const health = lane ? healthOf(lane, now) : fails ? 'failing' : 'unknown'
    const pass = passes.find(({ of }) => of === health || (of === 'all' && health !== 'slow'))
    if (!pass) return 0
    if (!lane) return Math.min(pass.limit, fails ? minWindow : pass.unknownWindow)
    const own = this.capacities(pass, now).find((capacity) => capacity.endpointId === endpointId)
    return Math.min(pass.limit, own?.deliveries ?? 0)
  }

  #shareOfSlow(now: number): number {
    const slow = [...this.#lanes.values()].filter((lane) => healthOf(lane, now) === 'slow')
    return fairShare(
      slow.map((lane) => (lane.hasMore ? claimable(lane.window) : lane.held)),
      this.#maxSlowHeld,
    )
  }

  /** Calls `start` when the endpoint has a free slot. Each start must be followed by an `end`. */
  begin(endpointId: string, { fails, window, isLimited }: LaneStart, now: number, start: () => void) {
    let lane = this.#lanes.get(endpointId)
    if (!lane) {
      lane = {
        window: openWindow(window),
        held: 0,
        running: 0,
        waiting: [],
        hasMore: true,
        usedAt: now,
        deliveredAt: -Infinity,
        fails,
        isLimited,
      }
      this.#lanes.set(endpointId, lane)
    }
    lane.isLimited = isLimited
    lane.held += 1
    lane.waiting.push(start)
    this.#startNext(lane)
  }

  /** Starts no attempts until `resume` is called. */
  pause(): void {
    this.#startable = 0
  }

  /** Starts up to `attempts` that wait; the next ones as others end. */
  resume(attempts: number): void {
    if (this.#startable === Infinity) return
    this.#startable = attempts
    for (const lane of this.#lanes.values()) {
      if (this.#startable === 0) break
      this.#startNext(lane)
    }
    this.#startable = Infinity
  }

  #startNext(lane: Lane): void {
    const limit = maxRunning(lane.window)
    while (lane.running < limit && this.#startable > 0) {
      const start = lane.waiting.shift()
      if (!start) return
      this.#startable -= 1
      lane.running += 1
      start()
    }
  }

  /** Returns whether to claim more deliveries now. Slow and failing endpoints get theirs at regular intervals. */
  end(endpointId: string, ended: { outcome: 'failed' } | { outcome: 'delivered'; milliseconds: number }, now: number) {
    const lane = this.#lanes.get(endpointId)
    if (!lane) return false
    const freesPlace = this.#isShort && isUnproven(healthOf(lane, now))
    lane.held -= 1
    lane.running -= 1
    lane.usedAt = now
    lane.fails = ended.outcome === 'failed'
    if (!lane.fails) lane.deliveredAt = now
    lane.window = adapt(lane.window, ended.outcome === 'failed' ? ended : { ...ended, hasMore: lane.hasMore })
    this.#startNext(lane)
    if (freesPlace) return true
    return !lane.fails && healthOf(lane, now) !== 'slow' && canTakeMore(lane)
  }

  /**
   * Records the result of a claim over all endpoints: endpoints whose capacity was not filled have no more due
   * deliveries.
   */
  recordClaim(capacities: readonly EndpointCapacity[], deliveries: readonly { endpoint_id: string }[]): void {
    const counts = new Map<string, number>()
    for (const { endpoint_id: id } of deliveries) counts.set(id, (counts.get(id) ?? 0) + 1)
    for (const { endpointId, deliveries: capacity } of capacities) {
      const lane = this.#lanes.get(endpointId)
      if (lane && !lane.isLimited && capacity > 0) lane.hasMore = (counts.get(endpointId) ?? 0) >= capacity
      counts.delete(endpointId)
    }
    for (const [endpointId, count] of counts) {
      const lane = this.#lanes.get(endpointId)
      if (lane) lane.hasMore = count >= claimable(lane.window)
    }
  }

  /** Drops idle lanes, whose health is outdated. */
  dropIdle(now: number): void {
    for (const [endpointId, lane] of this.#lanes)
      if (lane.held === 0 && now - lane.usedAt > healthMilliseconds) this.#lanes.delete(endpointId)
  }
}

/** Windows of endpoints without a lane. */
export interface StartWindows {
  otherwise: number
  whileFailing: number
}

export const initialWindows: StartWindows = { otherwise: initialWindow, whileFailing: minWindow }

/** Returns the windows of endpoints without a lane in a pass. */
export function windowsOf({ of, unknownWindow }: ClaimPass): StartWindows {
  return {
    otherwise: of === 'all' || of === 'unknown' ? unknownWindow : 0,
    whileFailing: of === 'all' || of === 'failing' ? minWindow : 0,
  }
}

function healthOf(lane: Lane, now: number): EndpointHealth {
  if (now - lane.deliveredAt <= healthMilliseconds) return isSlow(lane.window) ? 'slow' : 'proven'
  return lane.fails ? 'failing' : 'unknown'
}

function canTakeMore({ hasMore, isLimited, held, window }: Lane): boolean {
  return hasMore && !isLimited && held < claimable(window)
}

function isUnproven(health: EndpointHealth): boolean {
  return health === 'unknown' || health === 'failing'
}

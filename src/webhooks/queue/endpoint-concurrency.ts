import type { EndpointCapacity } from './store.ts'

/** Initial window of an endpoint; each quick response adds one. */
const initialWindow = 4
/** Enough to notice that an endpoint has recovered, few enough that its timeouts delay no other endpoint. */
const minWindow = 2
const steadyWindow = 16
const maxWindow = 256
const maxRunning = 64
/** How long a success counts as proof of health, and how long an idle lane is kept. */
const healthMilliseconds = 10_000

/**
 * `proven`: a recent attempt succeeded. `failing`: the last attempt failed. `unknown`: neither, so the endpoint may be
 * dead.
 */
export type EndpointHealth = 'proven' | 'unknown' | 'failing'

/** The endpoints of one claim, and the maximum number of deliveries. */
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
  held: Record<EndpointHealth, number>,
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
  /** Maximum number of claimed deliveries. */
  window: number
  held: number
  running: number
  waiting: (() => void)[]
  /** Whether more deliveries were due than could be claimed, at the last claim. */
  hasMore: boolean
  usedAt: number
  deliveredAt: number
  /** Whether the last attempt failed. */
  fails: boolean
}

/** How an attempt ended. */
export type AttemptSpeed = 'quick' | 'slow' | 'failed'

/**
 * Limits the claimed deliveries of each endpoint in this process. The window grows while an endpoint responds quickly,
 * so that its next deliveries are ready when a request ends. It shrinks otherwise, so that an endpoint whose attempts
 * all time out holds two deliveries. Concurrent requests are limited as well.
 */
export class EndpointConcurrency {
  readonly #lanes = new Map<string, Lane>()
  /** Whether capacity for unproven endpoints is short, so that each freed slot matters. */
  #isShort = false

  /** Returns the claims to make now, one after another. */
  plan(maxHeld: number, maxClaimed: number, now: number): ClaimPass[] {
    const held = { proven: 0, unknown: 0, failing: 0 }
    for (const lane of this.#lanes.values()) held[healthOf(lane, now)] += lane.held
    const passes = planClaimPasses(held, maxHeld, maxClaimed)
    this.#isShort = passes[0]?.of !== 'all'
    return passes
  }

  /** Returns the capacities of endpoints that have a lane; those outside of this pass have none. */
  capacities({ of, unknownWindow }: ClaimPass, now: number): EndpointCapacity[] {
    return [...this.#lanes].map(([endpointId, lane]) => {
      const health = healthOf(lane, now)
      const window = health === 'unknown' ? Math.min(lane.window, unknownWindow) : lane.window
      const isIncluded = of === 'all' || of === health
      return { endpointId, deliveries: isIncluded ? Math.max(0, window - lane.held) : 0 }
    })
  }

  /** Calls `start` when the endpoint has a free slot. Each start must be followed by an `end`. */
  begin(endpointId: string, { fails, window }: { fails: boolean; window: number }, now: number, start: () => void) {
    let lane = this.#lanes.get(endpointId)
    if (!lane) {
      lane = { window, held: 0, running: 0, waiting: [], hasMore: true, usedAt: now, deliveredAt: -Infinity, fails }
      this.#lanes.set(endpointId, lane)
    }
    lane.held += 1
    lane.waiting.push(start)
    startNext(lane)
  }

  /** Returns whether to claim more deliveries. */
  end(endpointId: string, speed: AttemptSpeed, now: number): boolean {
    const lane = this.#lanes.get(endpointId)
    if (!lane) return false
    const freesPlace = this.#isShort && healthOf(lane, now) !== 'proven'
    lane.held -= 1
    lane.running -= 1
    lane.usedAt = now
    lane.fails = speed === 'failed'
    if (!lane.fails) lane.deliveredAt = now
    lane.window = nextWindow(lane.window, speed)
    startNext(lane)
    return freesPlace || (lane.hasMore && lane.held < lane.window)
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
      if (lane && capacity > 0) lane.hasMore = (counts.get(endpointId) ?? 0) >= capacity
      counts.delete(endpointId)
    }
    for (const [endpointId, count] of counts) {
      const lane = this.#lanes.get(endpointId)
      if (lane) lane.hasMore = count >= lane.window
    }
  }

  /** Drops idle lanes, whose health is outdated. */
  dropIdle(now: number): void {
    for (const [endpointId, lane] of this.#lanes)
      if (lane.held === 0 && now - lane.usedAt > healthMilliseconds) this.#lanes.delete(endpointId)
  }
}

/** Returns the windows of endpoints without a lane. */
export function windowsOf({ of, unknownWindow }: ClaimPass): { otherwise: number; whileFailing: number } {
  return {
    otherwise: of === 'all' || of === 'unknown' ? unknownWindow : 0,
    whileFailing: of === 'all' || of === 'failing' ? minWindow : 0,
  }
}

function healthOf(lane: Lane, now: number): EndpointHealth {
  if (now - lane.deliveredAt <= healthMilliseconds) return 'proven'
  return lane.fails ? 'failing' : 'unknown'
}

function startNext(lane: Lane): void {
  while (lane.running < maxRunning) {
    const start = lane.waiting.shift()
    if (!start) return
    lane.running += 1
    start()
  }
}

function nextWindow(window: number, speed: AttemptSpeed): number {
  switch (speed) {
    case 'quick':
      return Math.min(window + 1, maxWindow)
    case 'slow':
      return window > steadyWindow ? window - 1 : window
    case 'failed':
      return Math.max(Math.floor(window / 2), minWindow)
  }
}

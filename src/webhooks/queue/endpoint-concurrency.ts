import type { EndpointCapacity } from './store.ts'

/** What an endpoint gets at once before anything is known of it; each quick answer adds one. */
const firstWindow = 4
/** Enough to notice that an endpoint is back, few enough that its deadlines hold up nobody. */
const narrowestWindow = 2
const steadyWindow = 16
const widestWindow = 256
const maxUnderWay = 64
/** For so long a success speaks for an endpoint, and is an idle lane kept. */
const rememberedMilliseconds = 10_000

/**
 * `proven`: it took a delivery a moment ago. `failing`: the last attempt failed. `unknown`: neither, and
 * it may well be dead.
 */
export type EndpointHealth = 'proven' | 'unknown' | 'failing'

/** Which endpoints a claim takes deliveries of, and how many. */
export interface ClaimPass {
  of: EndpointHealth | 'all'
  limit: number
  /** What an endpoint of unknown standing may hold. */
  unknownWindow: number
}

/**
 * Half of the places are for proven endpoints alone, and failing ones get at most a quarter: an endpoint
 * that lets its attempts time out keeps its places for long, and many such would leave none. Far from
 * these bounds one claim serves all; near them each standing has its own, so that none can overdraw.
 * Those that wait for a verdict come first: they are bounded, and the proven have the rest.
 */
export function planClaimPasses(
  held: Record<EndpointHealth, number>,
  maxHeld: number,
  maxClaimed: number,
): ClaimPass[] {
  const unproven = held.unknown + held.failing
  const limit = Math.min(maxClaimed, maxHeld - unproven - held.proven)
  if (limit <= 0) return []
  const unknownWindow = unproven < maxHeld / 4 ? firstWindow : narrowestWindow
  const unprovenLeft = Math.max(0, Math.ceil(maxHeld / 2) - unproven)
  const failingLeft = Math.min(unprovenLeft, Math.max(0, Math.ceil(maxHeld / 4) - held.failing))
  if (failingLeft >= maxHeld / 8) return [{ of: 'all', limit: Math.min(limit, failingLeft), unknownWindow }]
  const turns: ClaimPass[] = [
    { of: 'unknown', limit: Math.min(limit, unprovenLeft), unknownWindow },
    { of: 'failing', limit: Math.min(limit, failingLeft), unknownWindow },
    { of: 'proven', limit, unknownWindow },
  ]
  return turns.filter((turn) => turn.limit > 0)
}

interface Lane {
  /** How many deliveries may be held at once. */
  window: number
  held: number
  underWay: number
  waiting: (() => void)[]
  /** Whether more was due, when it was last looked at, than could be taken. */
  hasMore: boolean
  usedAt: number
  deliveredAt: number
  /** Whether the last attempt failed. */
  fails: boolean
}

/** How a delivery that was held ended. */
export type AttemptSpeed = 'quick' | 'slow' | 'failed'

/**
 * How many deliveries of each endpoint this process holds. One that answers quickly gets more, so that
 * its next ones are at hand when a request ends; one that does not gets fewer, so that an endpoint
 * which lets every attempt time out holds two and not all of them. Requests at once are bounded.
 */
export class EndpointConcurrency {
  readonly #lanes = new Map<string, Lane>()
  /** Whether places are short for endpoints that are not proven: each that gets free counts. */
  #isShort = false

  /** What to claim now, one after the other. */
  plan(maxHeld: number, maxClaimed: number, now: number): ClaimPass[] {
    const held = { proven: 0, unknown: 0, failing: 0 }
    for (const lane of this.#lanes.values()) held[healthOf(lane, now)] += lane.held
    const turns = planClaimPasses(held, maxHeld, maxClaimed)
    this.#isShort = turns[0]?.of !== 'all'
    return turns
  }

  /** Of the endpoints that have a lane: those whose turn it is not have no room. */
  rooms({ of, unknownWindow }: ClaimPass, now: number): EndpointCapacity[] {
    return [...this.#lanes].map(([endpointId, lane]) => {
      const standing = healthOf(lane, now)
      const window = standing === 'unknown' ? Math.min(lane.window, unknownWindow) : lane.window
      const isTheirTurn = of === 'all' || of === standing
      return { endpointId, deliveries: isTheirTurn ? Math.max(0, window - lane.held) : 0 }
    })
  }

  /** Calls `start` when it is this delivery's turn; each start is followed by an `end`. */
  begin(endpointId: string, { fails, window }: { fails: boolean; window: number }, now: number, start: () => void) {
    let lane = this.#lanes.get(endpointId)
    if (!lane) {
      lane = { window, held: 0, underWay: 0, waiting: [], hasMore: true, usedAt: now, deliveredAt: -Infinity, fails }
      this.#lanes.set(endpointId, lane)
    }
    lane.held += 1
    lane.waiting.push(start)
    startNext(lane)
  }

  /** Returns whether to look for more deliveries. */
  end(endpointId: string, pace: AttemptSpeed, now: number): boolean {
    const lane = this.#lanes.get(endpointId)
    if (!lane) return false
    const freesPlace = this.#isShort && healthOf(lane, now) !== 'proven'
    lane.held -= 1
    lane.underWay -= 1
    lane.usedAt = now
    lane.fails = pace === 'failed'
    if (!lane.fails) lane.deliveredAt = now
    lane.window = nextWindow(lane.window, pace)
    startNext(lane)
    return freesPlace || (lane.hasMore && lane.held < lane.window)
  }

  /** After a claim that looked at all endpoints: those whose room was not filled have no more. */
  noteClaimed(rooms: readonly EndpointCapacity[], deliveries: readonly { endpoint_id: string }[]): void {
    const counts = new Map<string, number>()
    for (const { endpoint_id: id } of deliveries) counts.set(id, (counts.get(id) ?? 0) + 1)
    for (const { endpointId, deliveries: room } of rooms) {
      const lane = this.#lanes.get(endpointId)
      if (lane && room > 0) lane.hasMore = (counts.get(endpointId) ?? 0) >= room
      counts.delete(endpointId)
    }
    for (const [endpointId, count] of counts) {
      const lane = this.#lanes.get(endpointId)
      if (lane) lane.hasMore = count >= lane.window
    }
  }

  /** What is idle for long says nothing any more. */
  forgetIdle(now: number): void {
    for (const [endpointId, lane] of this.#lanes)
      if (lane.held === 0 && now - lane.usedAt > rememberedMilliseconds) this.#lanes.delete(endpointId)
  }
}

/** What an endpoint without a lane gets in a turn. */
export function windowsOf({ of, unknownWindow }: ClaimPass): { otherwise: number; whileFailing: number } {
  return {
    otherwise: of === 'all' || of === 'unknown' ? unknownWindow : 0,
    whileFailing: of === 'all' || of === 'failing' ? narrowestWindow : 0,
  }
}

function healthOf(lane: Lane, now: number): EndpointHealth {
  if (now - lane.deliveredAt <= rememberedMilliseconds) return 'proven'
  return lane.fails ? 'failing' : 'unknown'
}

function startNext(lane: Lane): void {
  while (lane.underWay < maxUnderWay) {
    const start = lane.waiting.shift()
    if (!start) return
    lane.underWay += 1
    start()
  }
}

function nextWindow(window: number, pace: AttemptSpeed): number {
  switch (pace) {
    case 'quick':
      return Math.min(window + 1, widestWindow)
    case 'slow':
      return window > steadyWindow ? window - 1 : window
    case 'failed':
      return Math.max(Math.floor(window / 2), narrowestWindow)
  }
}

import type { Room } from './queue-store.ts'

/** What an endpoint gets at once before anything is known of it. */
export const firstWindow = 16
/** Enough to notice that an endpoint is back, few enough that its deadlines hold up nobody. */
export const narrowestWindow = 2
const widestWindow = 256
const maxUnderWay = 64
const keptIdleMilliseconds = 10_000

interface Lane {
  /** How many deliveries may be held at once. */
  window: number
  held: number
  underWay: number
  waiting: (() => void)[]
  /** Whether more was due, when it was last looked at, than could be taken. */
  hasMore: boolean
  usedAt: number
}

/** How a delivery that was held ended. */
export type Pace = 'quick' | 'slow' | 'failed'

/**
 * How many deliveries of each endpoint this process holds. One that answers quickly gets more, so that
 * its next ones are at hand when a request ends; one that does not gets fewer, so that an endpoint
 * which lets every attempt time out holds two and not all of them. Requests at once are bounded.
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>()

  /** Of endpoints about which something is known; the others get the window of a new lane. */
  rooms(): Room[] {
    return [...this.#lanes].map(([endpointId, { window, held }]) => ({
      endpointId,
      deliveries: Math.max(0, window - held),
    }))
  }

  /** Calls `start` when it is this delivery's turn; each start is followed by an `end`. */
  begin(endpointId: string, { fails }: { fails: boolean }, now: number, start: () => void): void {
    let lane = this.#lanes.get(endpointId)
    if (!lane) {
      const window = fails ? narrowestWindow : firstWindow
      lane = { window, held: 0, underWay: 0, waiting: [], hasMore: true, usedAt: now }
      this.#lanes.set(endpointId, lane)
    }
    lane.held += 1
    lane.waiting.push(start)
    startNext(lane)
  }

  /** Returns whether to look for more of this endpoint's deliveries. */
  end(endpointId: string, pace: Pace, now: number): boolean {
    const lane = this.#lanes.get(endpointId)
    if (!lane) return false
    lane.held -= 1
    lane.underWay -= 1
    lane.usedAt = now
    lane.window = nextWindow(lane.window, pace)
    startNext(lane)
    return lane.hasMore && lane.held < lane.window
  }

  /** After a claim that looked at all endpoints: those whose room was not filled have no more. */
  noteClaimed(rooms: readonly Room[], deliveries: readonly { endpoint_id: string }[]): void {
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
      if (lane.held === 0 && now - lane.usedAt > keptIdleMilliseconds) this.#lanes.delete(endpointId)
  }
}

function startNext(lane: Lane): void {
  while (lane.underWay < maxUnderWay) {
    const start = lane.waiting.shift()
    if (!start) return
    lane.underWay += 1
    start()
  }
}

function nextWindow(window: number, pace: Pace): number {
  switch (pace) {
    case 'quick':
      return Math.min(window + 1, widestWindow)
    case 'slow':
      return window > firstWindow ? window - 1 : window
    case 'failed':
      return Math.max(Math.floor(window / 2), narrowestWindow)
  }
}

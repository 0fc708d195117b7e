import type { Room } from './queue-store.ts'

/** What an endpoint gets at once before anything is known of it. */
export const firstWindow = 16
export const widestWindow = 64
/** Enough to notice that an endpoint is back, few enough that its deadlines hold up nobody. */
export const narrowestWindow = 2
const keptIdleMilliseconds = 10_000

interface Lane {
  inFlight: number
  /** How many may be in flight. */
  window: number
  /** Whether more was due, when it was last looked at, than could be taken. */
  hasMore: boolean
  usedAt: number
}

/**
 * How many deliveries each endpoint gets at once from this process. One that answers gets more, one
 * that does not gets fewer, so that an endpoint which lets every attempt time out holds two requests
 * and not all of them.
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>()
  /** Of endpoints about which something is known; the others get the window of a new lane. */
  rooms(): Room[] {
    return [...this.#lanes].map(([endpointId, { window, inFlight }]) => ({
      endpointId,
      deliveries: Math.max(0, window - inFlight),
    }))
  }

  begin(endpointId: string, { fails }: { fails: boolean }, now: number): void {
    const lane = this.#lanes.get(endpointId) ?? {
      inFlight: 0,
      window: fails ? narrowestWindow : firstWindow,
      hasMore: true,
      usedAt: now,
    }
    this.#lanes.set(endpointId, lane)
    lane.inFlight += 1
  }

  /** Returns whether to look for more of this endpoint's deliveries. */
  end(endpointId: string, succeeded: boolean, now: number): boolean {
    const lane = this.#lanes.get(endpointId)
    if (!lane) return false
    lane.inFlight -= 1
    lane.usedAt = now
    lane.window = succeeded
      ? Math.min(lane.window + 1, widestWindow)
      : Math.max(Math.floor(lane.window / 2), narrowestWindow)
    return lane.hasMore && lane.inFlight < lane.window
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
      if (lane.inFlight === 0 && now - lane.usedAt > keptIdleMilliseconds) this.#lanes.delete(endpointId)
  }
}

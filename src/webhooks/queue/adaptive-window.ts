/** Initial window of an endpoint, and the one at which its response time is taken for its own. */
export const initialWindow = 4
/** Enough to notice that an endpoint has recovered, few enough that its timeouts delay no other endpoint. */
export const minWindow = 2
const maxWindow = 256
/** Concurrent requests to an endpoint that responds quickly. */
const minRunning = 64
/** Above `minRunning`, an endpoint gets as many concurrent requests as this rate needs at its response time. */
const sufficientPerSecond = 128
/** An endpoint that takes longer holds its slots for long. At this duration, `minRunning` requests suffice. */
const slowMilliseconds = (minRunning / sufficientPerSecond) * 1_000
/** Quicker responses never count as crowded. */
const crowdedMilliseconds = 2_000
/** Weight of the latest response in the average. */
const averageWeight = 1 / 8

/** How many deliveries of an endpoint may be claimed at once, and what decides about it. */
export interface AdaptiveWindow {
  size: number
  /** Moving average of the durations of successful attempts; undefined before the first. */
  recentMilliseconds: number | undefined
  /** The same at the initial window, where the duration does not depend on the number of concurrent requests. */
  usualMilliseconds: number | undefined
}

export type EndedRequest =
  | { outcome: 'failed' }
  | {
      outcome: 'delivered'
      milliseconds: number
      /** Whether more deliveries were due than the window allowed. */
      hasMore: boolean
    }

export function openWindow(size: number): AdaptiveWindow {
  return { size, recentMilliseconds: undefined, usualMilliseconds: undefined }
}

/**
 * Additive increase, multiplicative decrease: each success adds one, each failure halves the window. The response time
 * itself does not count: 200 concurrent requests to an endpoint that takes two seconds are no more work for it than one
 * to an endpoint that takes ten milliseconds. Only if responses take twice as long as with few concurrent requests, the
 * endpoint has too many of them, and the window shrinks until they do not, or until it is known that the endpoint itself
 * has become slower.
 */
export function adapt(window: AdaptiveWindow, ended: EndedRequest): AdaptiveWindow {
  if (ended.outcome === 'failed') return { ...window, size: Math.max(Math.floor(window.size / 2), minWindow) }
  const before = window.recentMilliseconds ?? ended.milliseconds
  const recentMilliseconds = before + (ended.milliseconds - before) * averageWeight
  const usualMilliseconds =
    window.size <= initialWindow
      ? recentMilliseconds
      : Math.min(window.usualMilliseconds ?? recentMilliseconds, recentMilliseconds)
  const adapted = { size: window.size, recentMilliseconds, usualMilliseconds }
  if (recentMilliseconds > Math.max(crowdedMilliseconds, 2 * usualMilliseconds))
    return { ...adapted, size: Math.max(window.size - 1, Math.min(window.size, initialWindow)) }
  // An unused window says nothing about what a slow endpoint can take.
  if (isSlow(adapted) && !ended.hasMore) return adapted
  return { ...adapted, size: Math.min(window.size + 1, maxWindow) }
}

/** Whether the endpoint responds, but takes so long that many of its kind would use up the slots of the others. */
export function isSlow({ recentMilliseconds = 0 }: AdaptiveWindow): boolean {
  return recentMilliseconds > slowMilliseconds
}

/** Maximum number of concurrent requests. */
export function maxRunning({ recentMilliseconds = 0 }: AdaptiveWindow): number {
  return Math.min(Math.max(Math.ceil((recentMilliseconds / 1_000) * sufficientPerSecond), minRunning), maxWindow)
}

/** Maximum number of claimed deliveries. A slow endpoint gets none in advance, since that would take slots of others. */
export function claimable(window: AdaptiveWindow): number {
  return isSlow(window) ? Math.min(window.size, maxRunning(window)) : window.size
}

/**
 * Divides slots between endpoints so that nobody gets more than another that wants more (max-min fairness). Returns the
 * largest share, which is infinite if there are enough slots for all.
 */
export function fairShare(wanted: readonly number[], slots: number): number {
  let left = slots
  const ascending = wanted.toSorted((a, b) => a - b)
  for (const [index, want] of ascending.entries()) {
    const equal = Math.floor(left / (ascending.length - index))
    if (want > equal) return Math.max(equal, 1)
    left -= want
  }
  return Infinity
}

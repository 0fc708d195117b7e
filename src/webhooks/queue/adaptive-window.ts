/** Initial window of an endpoint. Up to this size, its response time is assumed not to depend on our load. */
export const initialWindow = 4
/**
 * Large enough to detect that an endpoint has recovered, and small enough that its timeouts delay no other endpoint.
 */
export const minWindow = 2
const maxWindow = 256
/** Maximum concurrent requests to an endpoint that responds quickly. */
const minRunning = 64
/** An endpoint may exceed `minRunning` if it needs more concurrent requests to reach this rate at its response time. */
const sufficientPerSecond = 128
/** Slower endpoints hold their slots for a long time. At this response time, `minRunning` requests reach the rate. */
const slowMilliseconds = (minRunning / sufficientPerSecond) * 1_000
/** Faster responses never count as overload. */
const overloadMilliseconds = 2_000
/** Weight of the latest response in the average. */
const averageWeight = 1 / 8

/** The number of deliveries of an endpoint that may be claimed at once, and the response times that adjust it. */
export interface AdaptiveWindow {
  size: number
  /** Moving average of the durations of successful attempts; undefined before the first. */
  recentMilliseconds: number | undefined
  /** The lowest average since the window exceeded its initial size; up to that size, the current average. */
  baselineMilliseconds: number | undefined
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
  return { size, recentMilliseconds: undefined, baselineMilliseconds: undefined }
}

/**
 * Additive increase, multiplicative decrease: each success adds one, and each failure halves the window. A long
 * response time alone does not shrink it: 200 concurrent requests to an endpoint that takes two seconds are no more
 * work than one to an endpoint that takes ten milliseconds. The window shrinks if responses take twice as long as under
 * low load, which means that the endpoint is overloaded. It stops at the initial window, where a new baseline is
 * measured in case the endpoint itself has become slower.
 */
export function adapt(window: AdaptiveWindow, ended: EndedRequest): AdaptiveWindow {
  if (ended.outcome === 'failed') return { ...window, size: Math.max(Math.floor(window.size / 2), minWindow) }
  const previous = window.recentMilliseconds ?? ended.milliseconds
  const recentMilliseconds = previous + (ended.milliseconds - previous) * averageWeight
  const baselineMilliseconds =
    window.size <= initialWindow
      ? recentMilliseconds
      : Math.min(window.baselineMilliseconds ?? recentMilliseconds, recentMilliseconds)
  const adapted = { size: window.size, recentMilliseconds, baselineMilliseconds }
  if (recentMilliseconds > Math.max(overloadMilliseconds, 2 * baselineMilliseconds))
    return { ...adapted, size: Math.max(window.size - 1, Math.min(window.size, initialWindow)) }
  // If the window was not fully used, the success does not show that a slow endpoint can handle more.
  if (isSlow(adapted) && !ended.hasMore) return adapted
  return { ...adapted, size: Math.min(window.size + 1, maxWindow) }
}

/** Whether the endpoint responds so slowly that many such endpoints would use up the slots of others. */
export function isSlow({ recentMilliseconds = 0 }: AdaptiveWindow): boolean {
  return recentMilliseconds > slowMilliseconds
}

/** Maximum number of concurrent requests. */
export function maxRunning({ recentMilliseconds = 0 }: AdaptiveWindow): number {
  return Math.min(Math.max(Math.ceil((recentMilliseconds / 1_000) * sufficientPerSecond), minRunning), maxWindow)
}

/**
 * Maximum number of claimed deliveries. Slow endpoints get none in advance, because these would occupy slots of others.
 */
export function claimable(window: AdaptiveWindow): number {
  return isSlow(window) ? Math.min(window.size, maxRunning(window)) : window.size
}

/**
 * Divides slots among endpoints by max-min fairness. Returns the largest share, which is infinite if there are enough
 * slots for all.
 */
export function fairShare(demands: readonly number[], slots: number): number {
  let remaining = slots
  const ascending = demands.toSorted((a, b) => a - b)
  for (const [index, demand] of ascending.entries()) {
    const equalShare = Math.floor(remaining / (ascending.length - index))
    if (demand > equalShare) return Math.max(equalShare, 1)
    remaining -= demand
  }
  return Infinity
}

/** Credit beyond one attempt, so that a slightly late claim does not lower the rate. */
const burstSeconds = 0.05
/** Minimum time before the next claim for an endpoint that has reached its rate limit. */
const pacedRetrySeconds = 0.02
/** How soon to check again whether an endpoint at its concurrency limit has a free slot. */
export const fullRetrySeconds = 0.05

/** Database times are rounded to microseconds, so a whole number of attempts can come out slightly too small. */
export const roundingTolerance = 1e-4

/** An endpoint with configured limits, and its usage across all workers. */
export interface LimitedEndpoint {
  /** Maximum number of attempts per second; null if there is none. */
  maxPerSecond: number | null
  /** Maximum number of concurrent attempts; null if there is none. */
  maxConcurrent: number | null
  /** Seconds from now to the pacing time, up to which attempts are accounted for; negative if it is in the past. */
  pacedSeconds: number
  running: number
}

/**
 * Returns how many attempts may start now. The rate limit uses the generic cell rate algorithm: each attempt advances
 * the pacing time by one interval, and may only start if this does not move it into the future.
 */
export function countAllowed({ maxPerSecond, maxConcurrent, pacedSeconds, running }: LimitedEndpoint): number {
  const byRate =
    maxPerSecond === null ? Infinity : wholeAttempts(creditSeconds(maxPerSecond, pacedSeconds), maxPerSecond)
  const byConcurrency = maxConcurrent === null ? Infinity : Math.max(0, maxConcurrent - running)
  return Math.min(byRate, byConcurrency)
}

/** Returns the new `pacedSeconds` after the given number of attempts has started. */
export function paceAfter({ maxPerSecond, pacedSeconds }: LimitedEndpoint, started: number): number {
  if (maxPerSecond === null) return 0
  return started / maxPerSecond - creditSeconds(maxPerSecond, pacedSeconds)
}

/** Returns the seconds until an endpoint that is at its limit may start another attempt. */
export function secondsUntilAllowed({ maxPerSecond, pacedSeconds }: LimitedEndpoint): number {
  if (maxPerSecond === null) return fullRetrySeconds
  return Math.max(1 / maxPerSecond + pacedSeconds, pacedRetrySeconds)
}

/** After a pause, an endpoint has credit for one attempt plus a short burst. */
function creditSeconds(maxPerSecond: number, pacedSeconds: number): number {
  return Math.min(-pacedSeconds, 1 / maxPerSecond + burstSeconds)
}

function wholeAttempts(seconds: number, perSecond: number): number {
  return Math.max(0, Math.floor(seconds * perSecond + roundingTolerance))
}

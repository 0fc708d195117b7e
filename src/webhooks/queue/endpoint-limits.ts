/** Credit beyond one attempt, so that a claim that comes a little late does not lower the rate. */
const burstSeconds = 0.05
/** Shortest pause between claims of an endpoint whose rate allows none. */
const pacedRetrySeconds = 0.02
/** How soon to look again whether a running delivery of a full endpoint has ended. */
const fullRetrySeconds = 0.05

/** An endpoint with limits that its owner set, and what counts against them, over all workers. */
export interface LimitedEndpoint {
  /** Maximum number of attempts per second; null if there is none. */
  maxPerSecond: number | null
  /** Maximum number of concurrent attempts; null if there is none. */
  maxConcurrent: number | null
  /** Seconds for which earlier attempts are accounted for; negative if they no longer are. */
  pacedSeconds: number
  running: number
}

/**
 * Returns how many attempts may start now. The rate is a generic cell rate algorithm: each attempt moves the pacing time
 * by the interval that the rate leaves, and none starts while that time is ahead.
 */
export function countAllowed({ maxPerSecond, maxConcurrent, pacedSeconds, running }: LimitedEndpoint): number {
  const byRate =
    maxPerSecond === null ? Infinity : wholeAttempts(creditSeconds(maxPerSecond, pacedSeconds), maxPerSecond)
  const byConcurrency = maxConcurrent === null ? Infinity : Math.max(0, maxConcurrent - running)
  return Math.min(byRate, byConcurrency)
}

/** Returns the seconds for which attempts are accounted for once these have started. */
export function paceAfter({ maxPerSecond, pacedSeconds }: LimitedEndpoint, started: number): number {
  if (maxPerSecond === null) return 0
  return started / maxPerSecond - creditSeconds(maxPerSecond, pacedSeconds)
}

/** Returns after how many seconds an endpoint that may start nothing now may start an attempt. */
export function secondsUntilAllowed({ maxPerSecond, pacedSeconds }: LimitedEndpoint): number {
  if (maxPerSecond === null) return fullRetrySeconds
  return Math.max(1 / maxPerSecond + pacedSeconds, pacedRetrySeconds)
}

/** After a pause, an endpoint has credit for one attempt and for those of a short time. */
function creditSeconds(maxPerSecond: number, pacedSeconds: number): number {
  return Math.min(-pacedSeconds, 1 / maxPerSecond + burstSeconds)
}

function wholeAttempts(seconds: number, perSecond: number): number {
  // Times have microseconds, so a whole number can come out a little too small.
  return Math.max(0, Math.floor(seconds * perSecond + 1e-4))
}

/** Spreads out deliveries that failed together. Jitter only lengthens a delay, so that no attempt runs early. */
const jitter = 0.1
/** An endpoint may request a longer delay than the schedule, up to this limit. */
const longestRetryAfterSeconds = 24 * 60 * 60

export interface AttemptsSoFar {
  /** Number of finished attempts, including the latest one. */
  attempts: number
  retryAfterSeconds: number | undefined
}

/** Returns the delay before the next attempt, or undefined if there are none left. */
export function nextWaitSeconds(
  schedule: readonly number[],
  { attempts, retryAfterSeconds = 0 }: AttemptsSoFar,
  random: () => number,
): number | undefined {
  const scheduled = schedule[attempts - 1]
  if (scheduled === undefined) return undefined
  return Math.max(scheduled * (1 + jitter * random()), Math.min(retryAfterSeconds, longestRetryAfterSeconds))
}

/** Spreads what failed together; only ever lengthens, so that no attempt comes before its time. */
const jitter = 0.1
/** An endpoint may ask for more patience than the schedule has, but not for ever. */
const longestRetryAfterSeconds = 24 * 60 * 60

export interface AttemptsSoFar {
  /** How many attempts have ended, this one included. */
  attempts: number
  retryAfterSeconds: number | undefined
}

/** How long to wait before the next attempt; undefined when there is none left. */
export function nextWaitSeconds(
  schedule: readonly number[],
  { attempts, retryAfterSeconds = 0 }: AttemptsSoFar,
  random: () => number,
): number | undefined {
  const scheduled = schedule[attempts - 1]
  if (scheduled === undefined) return undefined
  return Math.max(scheduled * (1 + jitter * random()), Math.min(retryAfterSeconds, longestRetryAfterSeconds))
}

/**
 * `Retry-After` in seconds or as a date (RFC 9110, 10.2.3). A date is told by the receiver's clock, so
 * it is compared with the answer's own `Date` where there is one.
 */
export function parseRetryAfter(
  value: string,
  { date, now }: { date: string | undefined; now: Date },
): number | undefined {
  const text = value.trim()
  if (/^\d+$/.test(text)) return Number(text)
  const until = text.endsWith('GMT') ? Date.parse(text) : Number.NaN
  if (Number.isNaN(until)) return undefined
  const from = Date.parse(date ?? '')
  return Math.max(0, (until - (Number.isNaN(from) ? now.getTime() : from)) / 1000)
}

/**
 * Parses `Retry-After` in seconds or as a date (RFC 9110, 10.2.3). A date is relative to the sender's clock, so it is
 * compared with the `Date` header of the response if there is one.
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

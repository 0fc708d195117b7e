const steps = [
  { unit: 'minute', seconds: 60 },
  { unit: 'hour', seconds: 3600 },
] as const
/** From here on the date says more: in a log, seven lines of `2 days ago` tell nothing apart. */
const longSeconds = 86_400

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const short = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long' })

/** `just now`, `5 minutes ago`, `in 2 hours`, or date and time when it is a day or more. */
export function describeRelatively(at: string, now: number): string {
  const seconds = (Date.parse(at) - now) / 1000
  const distance = Math.abs(seconds)
  if (distance >= longSeconds) return short.format(new Date(at))
  const step = steps.findLast((step) => distance >= step.seconds)
  if (!step) return seconds > 5 ? 'in a moment' : 'just now'
  return relative.format(Math.trunc(seconds / step.seconds), step.unit)
}

export function describeExactly(at: string): string {
  return exact.format(new Date(at))
}

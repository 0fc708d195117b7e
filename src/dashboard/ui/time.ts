const steps = [
  { unit: 'minute', seconds: 60 },
  { unit: 'hour', seconds: 3600 },
] as const
/** Older times are shown as dates: several lines of `2 days ago` would look the same. */
const longSeconds = 86_400

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const short = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long' })

/** `just now`, `5 minutes ago` or `in 2 hours`; date and time from one day on. */
export function describeRelatively(at: string, now: number): string {
  const seconds = (Date.parse(at) - now) / 1000
  const distance = Math.abs(seconds)
  if (distance >= longSeconds) return short.format(new Date(at))
  const step = steps.findLast((step) => distance >= step.seconds)
  if (!step) return seconds > 5 ? 'in a moment' : 'just now'
  return relative.format(Math.trunc(seconds / step.seconds), step.unit)
}

const clock = { hour: 'numeric', minute: '2-digit', second: '2-digit' } as const
// Without a locale: the reader's own.
const thisYear = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', ...clock })
const otherYear = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric', ...clock })

/** Date and time to the second, in the reader's locale and time zone: `Nov 22, 9:30:00 AM`. */
export function describeTime(at: string, now: Date = new Date()): string {
  const time = new Date(at)
  return (time.getFullYear() === now.getFullYear() ? thisYear : otherYear).format(time)
}

export function describeExactly(at: string): string {
  return exact.format(new Date(at))
}

const units = [
  { short: 'd', milliseconds: 86_400_000 },
  { short: 'h', milliseconds: 3_600_000 },
  { short: 'min', milliseconds: 60_000 },
  { short: 's', milliseconds: 1000 },
] as const

/** `214 ms`, `1.8 s`, `42 s`, `2 min 5 s`, `3 d 4 h`: the two largest units. */
export function describeDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 10_000) return `${(milliseconds / 1000).toFixed(1)} s`
  const largest = units.findIndex((unit) => milliseconds >= unit.milliseconds)
  let rest = milliseconds
  const parts: string[] = []
  for (const unit of units.slice(largest, largest + 2)) {
    const count = Math.floor(rest / unit.milliseconds)
    rest -= count * unit.milliseconds
    if (count > 0) parts.push(`${count} ${unit.short}`)
  }
  return parts.join(' ')
}

/** Formats an ISO time for `<input type="datetime-local">`: local time zone, to the minute. */
export function toLocalInput(at: string): string {
  const time = new Date(at)
  if (Number.isNaN(time.getTime())) return ''
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** The reverse of `toLocalInput`; undefined while the field is incomplete. */
export function fromLocalInput(text: string): string | undefined {
  const time = new Date(text)
  return text === '' || Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}

/** `a minute` if the server does not send the wait. */
export function describeWait(seconds: number): string {
  if (!(seconds > 0)) return 'a minute'
  if (seconds <= 90) return `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`
  return `${Math.ceil(seconds / 60)} minutes`
}

import { plural, t } from '@lingui/core/macro'
import { dayMilliseconds } from '../../../contracts/time.ts'
import { dateFormat, numberFormat, relativeTimeFormat } from '../language/format.ts'

const steps = [
  { unit: 'minute', seconds: 60 },
  { unit: 'hour', seconds: 3600 },
] as const
/** Older times are shown as dates, because several rows of `2 days ago` would look the same. */
const longSeconds = 86_400

/** Whether a relative time would be shown as a date. */
export function isLongFrom(now: number, at: string): boolean {
  return Math.abs(Date.parse(at) - now) >= longSeconds * 1000
}

/** `just now`, `5 minutes ago` or `in 2 hours`; date and time from one day on. */
export function describeRelatively(at: string, now: number): string {
  const seconds = (Date.parse(at) - now) / 1000
  const distance = Math.abs(seconds)
  if (isLongFrom(now, at)) return dateFormat({ dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at))
  const step = steps.findLast((step) => distance >= step.seconds)
  if (!step) return seconds > 5 ? t`in a moment` : t`just now`
  // What was set to a day ahead a moment ago is in 24 hours, not in 23.
  const count = seconds > 0 ? Math.round(seconds / step.seconds) : Math.trunc(seconds / step.seconds)
  return relativeTimeFormat({ numeric: 'auto' }).format(count, step.unit)
}

const clock = { hour: 'numeric', minute: '2-digit', second: '2-digit' } as const
const thisYear = { month: 'short', day: 'numeric', ...clock } as const
const otherYear = { year: 'numeric', ...thisYear } as const

/** Date and time to the second, in the reader's locale and time zone: `Nov 22, 9:30:00 AM`. */
export function describeTime(at: string, now: Date = new Date()): string {
  const time = new Date(at)
  return dateFormat(time.getFullYear() === now.getFullYear() ? thisYear : otherYear).format(time)
}

/** `Nov 22, 9:30 AM` */
export function describeMinute(at: string): string {
  return dateFormat({ month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' }).format(new Date(at))
}

/** `Nov 22, 2026, 9:30:00 AM Europe/Madrid`: with the time zone name that the settings use, instead of `CET` or `GMT+1`. */
export function describeExactly(at: string): string {
  const format = dateFormat({ dateStyle: 'medium', timeStyle: 'medium' })
  return `${format.format(new Date(at))} ${format.resolvedOptions().timeZone}`
}

/** `Nov 20, 2026`. Formatted in UTC, because the local time zone could shift the day. */
export function describeDay(date: string): string {
  return dateFormat({ dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(date))
}

/** `2026-11-22 09:30:00`, in the reader's time zone: what spreadsheets read as a time. */
export function toSheetTime(at: string): string {
  const time = new Date(at)
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19).replace('T', ' ')
}

/** The time zone of `toSheetTime`, such as `Europe/Madrid`. */
export function localZone(): string {
  return dateFormat().resolvedOptions().timeZone
}

const units = [
  { short: 'd', milliseconds: dayMilliseconds },
  { short: 'h', milliseconds: 3_600_000 },
  { short: 'min', milliseconds: 60_000 },
  { short: 's', milliseconds: 1000 },
] as const

/** `214 ms`, `1.8 s`, `42 s`, `2 min 5 s`, `3 d 4 h`: the two largest units. */
export function describeDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 10_000)
    return `${numberFormat({ minimumFractionDigits: 1, maximumFractionDigits: 1 }).format(milliseconds / 1000)} s`
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

/** `a minute` if the server does not send how long to wait. */
export function describeWait(seconds: number): string {
  if (!(seconds > 0)) return t`a minute`
  if (seconds <= 90) return plural(seconds, { one: '# second', other: '# seconds' })
  return plural(Math.ceil(seconds / 60), { one: '# minute', other: '# minutes' })
}

/** `1 day`, `30 days` */
export function describeDays(days: number): string {
  return plural(days, { one: '# day', other: '# days' })
}

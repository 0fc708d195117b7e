import { dayMilliseconds } from '../../../contracts/time.ts'
const formats = new Map<string, Intl.DateTimeFormat>()

/** Cached, because a format takes far longer to create than to use. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  })
  formats.set(timeZone, format)
  return format
}

/** Returns the local date and time in a time zone. */
export function readClock(instant: Date, timeZone: string): { date: string; time: string } {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, value]),
  )
  return { date: `${parts['year']}-${parts['month']}-${parts['day']}`, time: `${parts['hour']}:${parts['minute']}` }
}

/** Offset from UTC in milliseconds. */
function offsetAt(instant: number, timeZone: string): number {
  const { date, time } = readClock(new Date(instant), timeZone)
  const minute = Math.floor(instant / 60_000) * 60_000
  return Date.parse(`${date}T${time}:00Z`) - minute
}

export function shiftDay(date: string, days: number): string {
  return new Date(Date.parse(date) + days * dayMilliseconds).toISOString().slice(0, 10)
}

/** Returns the start of a day, which is not midnight if clocks go forward at midnight. */
export function startOfDay(date: string, timeZone: string): Date {
  const midnight = Date.parse(date)
  const candidates = [midnight - dayMilliseconds, midnight + dayMilliseconds]
    .map((instant) => midnight - offsetAt(instant, timeZone))
    .toSorted((a, b) => a - b)
  const first = candidates.find((candidate) => readClock(new Date(candidate), timeZone).date === date)
  return new Date(first ?? candidates[0] ?? midnight)
}

/** Returns the same time of day, `days` later. */
export function instantOf(instant: Date, days: number, timeZone: string): Date {
  const { date } = readClock(instant, timeZone)
  const elapsed = instant.getTime() - startOfDay(date, timeZone).getTime()
  return new Date(startOfDay(shiftDay(date, days), timeZone).getTime() + elapsed)
}

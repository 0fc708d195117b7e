import type { DayRange } from '../../../contracts/dashboard/overview.ts'
import { dayMilliseconds } from '../../../contracts/time.ts'

/** A day or an hour of the overview. */
export interface Slot {
  /** `2026-11-20`, in the account's time zone. */
  date: string
  /** `14:00`; absent for days. */
  time?: string
  start: Date
}

/** Messages recorded from `from` to before `until`. */
export interface Period {
  unit: 'day' | 'hour'
  from: Date
  until: Date
  /** The first and the last day. */
  fromDay: string
  untilDay: string
  /** Oldest first. */
  slots: Slot[]
}

const hour = 3_600_000

/** The last `count` hours, including the current one. */
export function lastHours(now: Date, count: number, timeZone: string): Period {
  const starts = Array.from({ length: count }, (_, index) => startOfHour(now, timeZone) - (count - 1 - index) * hour)
  const slots = starts.map((start) => {
    const { date, time } = readClock(new Date(start), timeZone)
    return { date, time, start: new Date(start) }
  })
  return { unit: 'hour', ...endsOf(slots), from: new Date(starts[0] ?? now), until: now, slots }
}

function startOfHour(time: Date, timeZone: string): number {
  // Some time zones differ from UTC by half an hour.
  const [, minutes = '0'] = readClock(time, timeZone).time.split(':')
  return Math.floor(time.getTime() / 60_000) * 60_000 - Number(minutes) * 60_000
}

/** Whole days, but not beyond `now`. */
export function toPeriod({ from, until }: DayRange, now: Date, timeZone: string): Period {
  const days = Math.round((Date.parse(until) - Date.parse(from)) / dayMilliseconds) + 1
  const dates = Array.from({ length: days }, (_, index) => shiftDay(from, index))
  const slots = dates.map((date): Slot => ({ date, start: startOfDay(date, timeZone) }))
  const end = startOfDay(shiftDay(until, 1), timeZone)
  return {
    unit: 'day',
    from: slots[0]?.start ?? end,
    until: end < now ? end : now,
    fromDay: from,
    untilDay: until,
    slots,
  }
}

function endsOf(slots: readonly Slot[]): Pick<Period, 'fromDay' | 'untilDay'> {
  return { fromDay: slots[0]?.date ?? '', untilDay: slots.at(-1)?.date ?? '' }
}

/** The last `count` days, including today. */
export function lastDays(now: Date, count: number, timeZone: string): DayRange {
  const { date } = readClock(now, timeZone)
  return { from: shiftDay(date, 1 - count), until: date }
}

/** From the first of the month to today. */
export function thisMonth(now: Date, timeZone: string): DayRange {
  const { date } = readClock(now, timeZone)
  return { from: `${date.slice(0, 8)}01`, until: date }
}

/** The whole month before this one. */
export function previousMonth(now: Date, timeZone: string): DayRange {
  const until = shiftDay(thisMonth(now, timeZone).from, -1)
  return { from: `${until.slice(0, 8)}01`, until }
}

/** The whole week before this one, from Monday to Sunday. */
export function previousWeek(now: Date, timeZone: string): DayRange {
  const { date } = readClock(now, timeZone)
  const sinceMonday = (new Date(date).getUTCDay() + 6) % 7
  return { from: shiftDay(date, -sinceMonday - 7), until: shiftDay(date, -sinceMonday - 1) }
}

/**
 * The previous period of the same length. If the period is not over, the previous one is cut off at the same point, so
 * that both are comparable.
 */
export function periodBefore(period: Period, timeZone: string): Period {
  const { unit, from, until, fromDay, untilDay, slots } = period
  if (unit === 'hour') {
    const length = slots.length * hour
    const earlier = slots.map(({ start }) => {
      const time = new Date(start.getTime() - length)
      return { ...readClock(time, timeZone), start: time }
    })
    const end = new Date(until.getTime() - length)
    return { unit, ...endsOf(earlier), from: new Date(from.getTime() - length), until: end, slots: earlier }
  }
  const range = { from: shiftDay(fromDay, -slots.length), until: shiftDay(untilDay, -slots.length) }
  return toPeriod(range, instantOf(until, -slots.length, timeZone), timeZone)
}

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
function instantOf(instant: Date, days: number, timeZone: string): Date {
  const { date } = readClock(instant, timeZone)
  const elapsed = instant.getTime() - startOfDay(date, timeZone).getTime()
  return new Date(startOfDay(shiftDay(date, days), timeZone).getTime() + elapsed)
}

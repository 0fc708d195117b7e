import type { QuietHours } from '../../../../contracts/dashboard/alert.ts'

const dayMinutes = 24 * 60
const minute = 60_000

/** Returns the end of the current quiet hours; undefined if `now` is outside of them. */
export function findQuietEnd({ timeZone, from, until }: QuietHours, now: Date): Date | undefined {
  const nowMinutes = minutesAt(now, timeZone)
  const [start, end] = [toMinutes(from), toMinutes(until)]
  if (modulo(nowMinutes - start) >= modulo(end - start)) return undefined
  const wholeMinute = Math.floor(now.getTime() / minute) * minute
  const guess = new Date(wholeMinute + modulo(end - nowMinutes) * minute)
  // The UTC offset can change in between, by at most a few hours.
  const drift = modulo(end - minutesAt(guess, timeZone) + dayMinutes / 2) - dayMinutes / 2
  const corrected = new Date(guess.getTime() + drift * minute)
  return corrected > now ? corrected : guess
}

/** Returns the minutes since midnight in a time zone. */
function minutesAt(time: Date, timeZone: string): number {
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  return toMinutes(clock.format(time))
}

function toMinutes(clock: string): number {
  const [hours, minutes] = clock.split(':').map(Number)
  return (hours ?? 0) * 60 + (minutes ?? 0)
}

function modulo(minutes: number): number {
  return ((minutes % dayMinutes) + dayMinutes) % dayMinutes
}

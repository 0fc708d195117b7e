const full = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' })
const short = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' })

/** `Nov 20, 2026`, of a date in UTC: the reader's own zone must not make another day of it. */
export function describeDay(date: string): string {
  return full.format(new Date(date))
}

/** `Nov 20` */
export function abbreviateDay(date: string): string {
  return short.format(new Date(date))
}

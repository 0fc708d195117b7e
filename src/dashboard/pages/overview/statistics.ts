import type { Funnel, Overview } from '../../../../contracts/dashboard/overview.ts'

export type DayCounts = Overview['days'][number]

/** The stages of the funnel, then the failures, which leave it. */
export const stages = [
  'attempted',
  'accepted',
  'delivered',
  'read',
  'refused',
  'undelivered',
] as const satisfies Stage[]
export type Stage = keyof Funnel

export const stageNames = {
  attempted: 'Attempted',
  accepted: 'Accepted',
  delivered: 'Delivered',
  read: 'Read',
  refused: 'Refused',
  undelivered: 'Undelivered',
} satisfies Record<Stage, string>

/** Accepted messages that neither arrived nor failed. */
export function countInTransit({ accepted, delivered, undelivered }: Funnel): number {
  return accepted - delivered - undelivered
}

export function countFailed({ refused, undelivered }: Pick<Funnel, 'refused' | 'undelivered'>): number {
  return refused + undelivered
}

/** Parts of a bar from the bottom. The top of a part is at the number of its stage; together they are as high as `attempted`. */
export const segments = ['read', 'delivered', 'inTransit', 'undelivered', 'refused'] as const
export type Segment = (typeof segments)[number]

export const segmentNames = {
  read: 'Read',
  delivered: 'Delivered, not read',
  inTransit: 'Accepted, not delivered yet',
  undelivered: 'Undelivered',
  refused: 'Refused',
} satisfies Record<Segment, string>

export function toSegments(funnel: Funnel): Record<Segment, number> {
  const { delivered, read, refused, undelivered } = funnel
  return { read, delivered: delivered - read, inTransit: countInTransit(funnel), undelivered, refused }
}

const count = new Intl.NumberFormat('en')
const percentage = new Intl.NumberFormat('en', { style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 })
const smallest = 0.001

export function describeCount(value: number): string {
  return count.format(value)
}

const average = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** `124`, or `2.4` of small numbers. */
export function describeAverage(total: number, slots: number): string {
  if (slots === 0) return '–'
  const exact = total / slots
  return average.format(exact < 10 ? exact : Math.round(exact))
}

/** `98.2%`, or `–` if the whole is 0. Only exact values are shown as 0.0% or 100.0%. */
export function describeShare(part: number, whole: number): string {
  if (whole === 0) return '–'
  if (part <= 0) return percentage.format(0)
  if (part >= whole) return percentage.format(1)
  return percentage.format(Math.min(Math.max(part / whole, smallest), 1 - smallest))
}

const full = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' })
const short = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' })

/** `Nov 20, 2026`. Formatted in UTC, because the local time zone could shift the day. */
export function describeDay(date: string): string {
  return full.format(new Date(date))
}

/** `Nov 20` */
export function abbreviateDay(date: string): string {
  return short.format(new Date(date))
}

/** `2026-11-20`, or `2026-11-20 14:00` of an hour. */
export function slotKey({ date, time }: Pick<DayCounts, 'date' | 'time'>): string {
  return time === undefined ? date : `${date} ${time}`
}

/** `Nov 20, 2026`, or `Nov 20, 14:00` of an hour. */
export function describeSlot({ date, time }: Pick<DayCounts, 'date' | 'time'>): string {
  return time === undefined ? describeDay(date) : `${abbreviateDay(date)}, ${time}`
}

/** The time range of the message log that shows the messages of the period. */
export function toLogRange({ from, until, isOver }: Pick<Overview, 'from' | 'until' | 'isOver'>) {
  return { range: 'custom' as const, from, until: isOver ? until : '' }
}

const maxSteps = 4
/** Keeps a single message from filling the whole height. */
const leastTop = 4

/** Ticks of the count axis, in steps of 1, 2 or 5 times a power of ten. */
export function listTicks(days: readonly Pick<DayCounts, 'attempted'>[]): number[] {
  const highest = Math.max(leastTop, ...days.map(({ attempted }) => attempted))
  const step = roundUp(highest / maxSteps)
  return Array.from({ length: Math.ceil(highest / step) + 1 }, (_, index) => index * step)
}

function roundUp(value: number): number {
  if (value <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return power * ([1, 2, 5].find((factor) => factor * power >= value) ?? 10)
}

interface DeliveryStep {
  /** `Under 1 s`, `1 to 2 s`, `1 day or more`. */
  label: string
  count: number
}

/** Must be the upper bound of one of the server's buckets. */
export const quickSeconds = 10

const units = [
  { seconds: 86_400, one: 'day', many: 'days' },
  { seconds: 3_600, one: 'h', many: 'h' },
  { seconds: 60, one: 'min', many: 'min' },
  { seconds: 1, one: 's', many: 's' },
]

/** Delivery times by bucket. Empty buckets at the end are left out. */
export function toSteps(counts: Overview['timeToDelivered']): { steps: DeliveryStep[]; total: number; quick: number } {
  const labelled = counts.map(({ untilSeconds, count }, index) => ({
    label: describeStep(counts[index - 1]?.untilSeconds ?? 0, untilSeconds),
    count,
    isQuick: untilSeconds !== undefined && untilSeconds <= quickSeconds,
  }))
  const last = labelled.findLastIndex(({ count, isQuick }) => isQuick || count > 0)
  return {
    steps: labelled.slice(0, last + 1),
    total: sum(labelled),
    quick: sum(labelled.filter(({ isQuick }) => isQuick)),
  }
}

function describeStep(from: number, until: number | undefined): string {
  if (until === undefined) return `${describe(from)} or more`
  if (from === 0) return `Under ${describe(until)}`
  const [start, end] = [describe(from), describe(until)]
  const [value, unit] = start.split(' ')
  return end.endsWith(` ${unit}`) ? `${value} to ${end}` : `${start} to ${end}`
}

function describe(seconds: number): string {
  const unit = units.find((unit) => seconds >= unit.seconds) ?? { seconds: 1, one: 's', many: 's' }
  const value = seconds / unit.seconds
  return `${value} ${value === 1 ? unit.one : unit.many}`
}

function sum(counts: readonly { count: number }[]): number {
  return counts.reduce((total, { count }) => total + count, 0)
}

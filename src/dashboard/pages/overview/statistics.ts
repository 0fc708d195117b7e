import type { Overview } from '../../../../contracts/dashboard/overview.ts'

export type DayCounts = Overview['days'][number]

export type Totals = Omit<DayCounts, 'date' | 'failedLater'>

export function addUp(days: readonly DayCounts[]): Totals {
  const totals = { sent: 0, delivered: 0, read: 0, failed: 0 }
  for (const { sent, delivered, read, failed } of days) {
    totals.sent += sent
    totals.delivered += delivered
    totals.read += read
    totals.failed += failed
  }
  return totals
}

export type State = keyof Totals

export const states = ['sent', 'delivered', 'read', 'failed'] as const satisfies State[]

export const stateNames = {
  sent: 'Sent',
  delivered: 'Delivered',
  read: 'Read',
  failed: 'Failed',
} satisfies Record<State, string>

const count = new Intl.NumberFormat('en')
const percentage = new Intl.NumberFormat('en', { style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 })
const smallest = 0.001

export function describeCount(value: number): string {
  return count.format(value)
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

interface Scale {
  /** In whole messages. */
  ticks: number[]
  domain: [number, number]
}

const maxSteps = 4
/** Keeps a single message from filling the whole height. */
const leastTop = 4
/** Keeps small numbers of failures visible. */
const leastShareBelow = 0.06

/** The count axis: sent upwards, failed downwards, in steps of 1, 2 or 5 times a power of ten. */
export function scaleOf(days: readonly Pick<DayCounts, 'sent' | 'failed'>[]): Scale {
  const sent = Math.max(leastTop, ...days.map(({ sent }) => sent))
  const failed = Math.max(0, ...days.map(({ failed }) => failed))
  const step = roundUp(Math.max(sent, failed) / maxSteps)
  const top = Math.ceil(sent / step) * step
  const bottom = failed === 0 ? 0 : Math.max(failed, leastShareBelow * top)
  const [below, above] = [Math.floor(bottom / step), top / step]
  return {
    ticks: Array.from({ length: below + above + 1 }, (_, index) => (index - below) * step),
    domain: [0 - bottom, top],
  }
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

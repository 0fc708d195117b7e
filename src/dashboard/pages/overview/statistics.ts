import { type MessageDescriptor } from '@lingui/core'
import { msg, plural, t } from '@lingui/core/macro'
import { dateFormat, numberFormat } from '../../language/format.ts'
import type { Funnel, Overview } from '../../../../contracts/dashboard/overview.ts'
import { describeDay } from '../../ui/time.ts'
import { noFilters, writeFilters } from '../messages/message-filters.ts'

export type DayCounts = Overview['days'][number]

/** The stages of the funnel, then the failures. */
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
  attempted: msg({ message: 'Attempted', context: 'number of messages' }),
  accepted: msg({ message: 'Accepted', context: 'number of messages' }),
  delivered: msg({ message: 'Delivered', context: 'number of messages' }),
  read: msg({ message: 'Read', context: 'number of messages' }),
  refused: msg({ message: 'Rejected', context: 'number of messages' }),
  undelivered: msg({ message: 'Undelivered', context: 'number of messages' }),
} satisfies Record<Stage, MessageDescriptor>

/** Accepted messages that neither arrived nor failed. */
export function countInTransit({ accepted, delivered, undelivered }: Funnel): number {
  return accepted - delivered - undelivered
}

export function countFailed({ refused, undelivered }: Pick<Funnel, 'refused' | 'undelivered'>): number {
  return refused + undelivered
}

/** The sort order of the breakdown. */
export type BreakdownOrder = 'attempted' | 'failed'

const maxRows = 10

export function measureShare(share: Funnel, order: BreakdownOrder): number {
  return order === 'failed' ? countFailed(share) : share.attempted
}

/** The rows of the breakdown, largest first, and the sum of all other messages. */
export function toRows<Row extends Funnel>(
  totals: Funnel,
  shares: readonly Row[],
  order: BreakdownOrder,
): { rows: Row[]; others: Funnel } {
  const rows = shares.toSorted((a, b) => measureShare(b, order) - measureShare(a, order)).slice(0, maxRows)
  const others = { ...totals }
  for (const row of rows) for (const stage of stages) others[stage] -= row[stage]
  return { rows, others }
}

/** Segments of a bar from the bottom. Each ends at the number of its stage; together they add up to `attempted`. */
export const segments = ['read', 'delivered', 'inTransit', 'undelivered', 'refused'] as const
export type Segment = (typeof segments)[number]

export const segmentNames = {
  read: msg({ message: 'Read', context: 'number of messages' }),
  delivered: msg`Delivered, not read`,
  inTransit: msg`Accepted, not delivered yet`,
  undelivered: msg({ message: 'Undelivered', context: 'number of messages' }),
  refused: msg({ message: 'Rejected', context: 'number of messages' }),
} satisfies Record<Segment, MessageDescriptor>

export function toSegments(funnel: Funnel): Record<Segment, number> {
  const { delivered, read, refused, undelivered } = funnel
  return { read, delivered: delivered - read, inTransit: countInTransit(funnel), undelivered, refused }
}

const onePlace = { style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 } as const
const smallest = 0.001

/** `124`, or with a decimal place if small: `2.4`, `< 0.1`. */
export function describeAverage(total: number, slots: number): string {
  if (slots === 0) return '–'
  const exact = total / slots
  if (exact > 0 && exact < 0.1) return `< ${numberFormat().format(0.1)}`
  return numberFormat({ maximumFractionDigits: 1 }).format(exact < 10 ? exact : Math.round(exact))
}

/** Rounds a share to steps of 0.1%, as displayed. Only exact values become 0 or 1. */
export function roundShare(part: number, whole: number): number {
  if (part <= 0) return 0
  if (part >= whole) return 1
  const rounded = Math.round((part / whole) * 1000) / 1000
  return Math.min(Math.max(rounded, smallest), 1 - smallest)
}

/** `98.2%`, or `–` if the total is 0. */
export function describeShare(part: number, whole: number): string {
  return whole === 0 ? '–' : numberFormat(onePlace).format(roundShare(part, whole))
}

/** `Nov 20` */
export function abbreviateDay(date: string): string {
  return dateFormat({ month: 'short', day: 'numeric', timeZone: 'UTC' }).format(new Date(date))
}

/** `Nov 20, 2026`, or `Nov 20, 14:00` for an hour. */
export function describeSlot({ date, time }: Pick<DayCounts, 'date' | 'time'>): string {
  return time === undefined ? describeDay(date) : `${abbreviateDay(date)}, ${time}`
}

/** The time range of the message log that shows the messages of the period. */
export function toLogRange({ from, until, isOver }: Pick<Overview, 'from' | 'until' | 'isOver'>) {
  return { range: 'custom' as const, from, until: isOver ? until : '' }
}

/** The page of the account that lists the messages of the period with an unknown outcome. */
export function listUnknown(overview: Pick<Overview, 'from' | 'until' | 'isOver'>): string {
  const filters = { ...noFilters, status: 'pending' as const, outcome: 'unknown' as const, ...toLogRange(overview) }
  return `messages?${writeFilters(filters)}`
}

const maxSteps = 4
/** Minimum end of the axis, so that a single message does not fill the whole height. */
const minTop = 4

/** Ticks of the count axis, in steps of 1, 2 or 5 times a power of ten. */
export function listTicks(days: readonly Pick<DayCounts, 'attempted'>[]): number[] {
  const highest = Math.max(minTop, ...days.map(({ attempted }) => attempted))
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

/** Must be the upper bound of a bucket of the server. */
export const quickSeconds = 10

const units = [
  { seconds: 86_400, write: (count: number) => plural(count, { one: '# day', other: '# days' }) },
  { seconds: 3_600, write: (count: number) => `${count} h` },
  { seconds: 60, write: (count: number) => `${count} min` },
  { seconds: 1, write: (count: number) => `${count} s` },
]

/** Delivery times by bucket, without empty buckets at the end. */
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
  if (until === undefined) return t`${describe(from)} or more`
  if (from === 0) return t`Under ${describe(until)}`
  const [start, end] = [describe(from), describe(until)]
  const [value = '', unit] = start.split(' ')
  return t`${end.endsWith(` ${unit}`) ? value : start} to ${end}`
}

function describe(seconds: number): string {
  const unit = units.find((unit) => seconds >= unit.seconds)
  return unit ? unit.write(seconds / unit.seconds) : `${seconds} s`
}

function sum(counts: readonly { count: number }[]): number {
  return counts.reduce((total, { count }) => total + count, 0)
}

import type { Overview } from '../../../../contracts/dashboard/overview.ts'

export interface DeliveryStep {
  /** `Under 1 s`, `1 to 2 s`, `1 day or more`. */
  label: string
  count: number
}

/** What a reader calls at once. One of the server's steps ends here. */
export const quickSeconds = 10

const units = [
  { seconds: 86_400, one: 'day', many: 'days' },
  { seconds: 3_600, one: 'h', many: 'h' },
  { seconds: 60, one: 'min', many: 'min' },
  { seconds: 1, one: 's', many: 's' },
]

/** How long deliveries took. Long times that none took are left out. */
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

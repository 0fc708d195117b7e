import { t } from '@lingui/core/macro'
import { formatNumber, numberFormat } from '../../language/format.ts'
import type { Funnel } from '../../../../contracts/dashboard/overview.ts'
import { describeShare, roundShare, type Stage } from './statistics.ts'

/** The change of a figure compared with the previous period. */
export type Change = {
  /** Such as `12.3%` or `2.1 points`; the whole text if there is no direction. */
  text: string
  /** Whether the change is an improvement. */
  tone: 'good' | 'bad' | 'neutral'
} & (
  | { direction?: undefined }
  | {
      direction: 'up' | 'down'
      /** The previous value, such as `480` or `86.2%`. */
      before: string
    }
)

/** Larger percentages only occur with few messages and are not meaningful. */
const maxPercent = 999

const isGood = {
  attempted: undefined,
  accepted: 'up',
  delivered: 'up',
  read: 'up',
  refused: 'down',
  undelivered: 'down',
} satisfies Record<Stage, 'up' | 'down' | undefined>

/** Compares attempted messages in percent, and the share of other stages in percentage points. */
export function compare(stage: Stage, totals: Funnel, previous: Funnel): Change {
  if (previous.attempted === 0) return { text: t`None before`, tone: 'neutral' }
  if (totals.attempted === 0 && stage !== 'attempted') return { text: t`No messages`, tone: 'neutral' }
  return stage === 'attempted' ? compareCounts(totals, previous) : compareShares(stage, totals, previous)
}

function compareCounts({ attempted }: Funnel, previous: Funnel): Change {
  const percent = (attempted / previous.attempted - 1) * 100
  const before = formatNumber(previous.attempted)
  if (percent > maxPercent)
    return { text: t`over ${formatPercent(maxPercent)}`, before, direction: 'up', tone: 'neutral' }
  return describe({ difference: percent, before, good: undefined }, formatPercent)
}

/** The total to which the share of a stage refers. */
function wholeOf(stage: Stage, funnel: Funnel): number {
  return stage === 'read' ? funnel.delivered : funnel.attempted
}

function compareShares(stage: Stage, totals: Funnel, previous: Funnel): Change {
  const [whole, wholeBefore] = [wholeOf(stage, totals), wholeOf(stage, previous)]
  if (whole === 0 || wholeBefore === 0) return { text: t`Nothing to compare`, tone: 'neutral' }
  const share = totals[stage] / whole - previous[stage] / wholeBefore
  const pooled = (totals[stage] + previous[stage]) / (whole + wholeBefore)
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / whole + 1 / wholeBefore))
  const good = Math.abs(share) > significanceThreshold * deviation ? isGood[stage] : undefined
  // Uses the rounded shares, because they are the ones displayed.
  const difference = (roundShare(totals[stage], whole) - roundShare(previous[stage], wholeBefore)) * 100
  return describe({ difference, before: describeShare(previous[stage], wholeBefore), good }, formatPoints)
}

/** Two-sided 90% confidence: smaller differences are probably random, so they are neither good nor bad. */
const significanceThreshold = 1.645

interface Difference {
  difference: number
  before: string
  /** The direction that is an improvement; undefined if the difference is not significant. */
  good: 'up' | 'down' | undefined
}

function describe({ difference, before, good }: Difference, write: (value: number) => string): Change {
  const rounded = Math.round(Math.abs(difference) * 10) / 10
  if (rounded === 0) return { text: t`No change`, tone: 'neutral' }
  const direction = difference > 0 ? 'up' : 'down'
  const tone = good === undefined ? 'neutral' : good === direction ? 'good' : 'bad'
  return { text: write(rounded), before, direction, tone }
}

/** Such as `12.3%`, or without a decimal place if large: `240%`. */
function formatPercent(percent: number): string {
  return numberFormat({ style: 'percent', ...digitsOf(percent) }).format(percent / 100)
}

/** Percentage points, such as `2.1 points`. */
function formatPoints(points: number): string {
  return t`${numberFormat(digitsOf(points)).format(points)} points`
}

function digitsOf(value: number) {
  const digits = value >= 100 ? 0 : 1
  return { minimumFractionDigits: digits, maximumFractionDigits: digits }
}

import { t } from '@lingui/core/macro'
import { formatNumber, numberFormat } from '../../language/format.ts'
import type { Funnel } from '../../../../contracts/dashboard/overview.ts'
import { describeShare, roundShare, type Stage } from './statistics.ts'

/** How a figure differs from the one of the period before. */
export type Change = {
  /** `12.3%`, `2.1 points`; without a direction, the whole text. */
  text: string
  /** Whether it is good news. */
  tone: 'good' | 'bad' | 'neutral'
} & (
  | { direction?: undefined }
  | {
      direction: 'up' | 'down'
      /** The value before, such as `480` or `86.2%`. */
      before: string
    }
)

/** Growth from a handful of messages has no meaningful percentage. */
const maxPercent = 999

const isGood = {
  attempted: undefined,
  accepted: 'up',
  delivered: 'up',
  read: 'up',
  refused: 'down',
  undelivered: 'down',
} satisfies Record<Stage, 'up' | 'down' | undefined>

/** Of attempted: in percent. Of other stages: of their share, in percentage points. */
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

/** What the share of a stage is a share of. */
function wholeOf(stage: Stage, funnel: Funnel): number {
  return stage === 'read' ? funnel.delivered : funnel.attempted
}

function compareShares(stage: Stage, totals: Funnel, previous: Funnel): Change {
  const [whole, wholeBefore] = [wholeOf(stage, totals), wholeOf(stage, previous)]
  if (whole === 0 || wholeBefore === 0) return { text: t`Nothing to compare`, tone: 'neutral' }
  const share = totals[stage] / whole - previous[stage] / wholeBefore
  const pooled = (totals[stage] + previous[stage]) / (whole + wholeBefore)
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / whole + 1 / wholeBefore))
  const good = Math.abs(share) > likely * deviation ? isGood[stage] : undefined
  // Of the rounded shares, which are the ones that are shown.
  const difference = (roundShare(totals[stage], whole) - roundShare(previous[stage], wholeBefore)) * 100
  return describe({ difference, before: describeShare(previous[stage], wholeBefore), good }, formatPoints)
}

/** Nine of ten random differences between two equal shares are smaller: these are neither good nor bad news. */
const likely = 1.645

interface Difference {
  difference: number
  before: string
  /** The direction that is good news, if the difference is likely no accident. */
  good: 'up' | 'down' | undefined
}

function describe({ difference, before, good }: Difference, write: (value: number) => string): Change {
  const rounded = Math.round(Math.abs(difference) * 10) / 10
  if (rounded === 0) return { text: t`No change`, tone: 'neutral' }
  const direction = difference > 0 ? 'up' : 'down'
  const tone = good === undefined ? 'neutral' : good === direction ? 'good' : 'bad'
  return { text: write(rounded), before, direction, tone }
}

/** `12.3%`, or `240%` of large ones. */
function formatPercent(percent: number): string {
  return numberFormat({ style: 'percent', ...digitsOf(percent) }).format(percent / 100)
}

/** `2.1 points`: percentage points. */
function formatPoints(points: number): string {
  return t`${numberFormat(digitsOf(points)).format(points)} points`
}

function digitsOf(value: number) {
  const digits = value >= 100 ? 0 : 1
  return { minimumFractionDigits: digits, maximumFractionDigits: digits }
}

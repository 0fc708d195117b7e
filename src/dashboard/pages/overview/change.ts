import type { Funnel } from '../../../../contracts/dashboard/overview.ts'
import type { Stage } from './statistics.ts'

export interface Change {
  /** `12.3%`, `2.1 points`; without a direction, the whole text. */
  text: string
  direction?: 'up' | 'down'
  /** Whether it is good news. */
  tone: 'good' | 'bad' | 'neutral'
}

const oneDecimal = new Intl.NumberFormat('en', { maximumFractionDigits: 1, minimumFractionDigits: 1 })
const noDecimals = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
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
export function compare(stage: Stage, totals: Funnel, previous: Funnel | undefined): Change {
  if (!previous) return { text: 'No earlier period', tone: 'neutral' }
  if (previous.attempted === 0) return { text: 'None before', tone: 'neutral' }
  if (totals.attempted === 0 && stage !== 'attempted') return { text: 'No messages', tone: 'neutral' }
  return stage === 'attempted' ? compareCounts(totals, previous) : compareShares(stage, totals, previous)
}

function compareCounts({ attempted }: Funnel, previous: Funnel): Change {
  const percent = (attempted / previous.attempted - 1) * 100
  if (percent > maxPercent) return { text: `over ${noDecimals.format(maxPercent)}%`, direction: 'up', tone: 'neutral' }
  return describe(percent, '%', undefined)
}

/** What the share of a stage is a share of. */
function wholeOf(stage: Stage, funnel: Funnel): number {
  return stage === 'read' ? funnel.delivered : funnel.attempted
}

function compareShares(stage: Stage, totals: Funnel, previous: Funnel): Change {
  const [whole, wholeBefore] = [wholeOf(stage, totals), wholeOf(stage, previous)]
  if (whole === 0 || wholeBefore === 0) return { text: 'Nothing to compare', tone: 'neutral' }
  const difference = totals[stage] / whole - previous[stage] / wholeBefore
  const pooled = (totals[stage] + previous[stage]) / (whole + wholeBefore)
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / whole + 1 / wholeBefore))
  return describe(difference * 100, ' points', Math.abs(difference) > likely * deviation ? isGood[stage] : undefined)
}

/** Nine of ten random differences between two equal shares are smaller: these are neither good nor bad news. */
const likely = 1.645

function describe(difference: number, unit: string, good: 'up' | 'down' | undefined): Change {
  const rounded = Math.round(Math.abs(difference) * 10) / 10
  if (rounded === 0) return { text: 'No change', tone: 'neutral' }
  const direction = difference > 0 ? 'up' : 'down'
  const tone = good === undefined ? 'neutral' : good === direction ? 'good' : 'bad'
  const text = `${rounded >= 100 ? noDecimals.format(rounded) : oneDecimal.format(rounded)}${unit}`
  return { text, direction, tone }
}

import { t } from '@lingui/core/macro'
import { Box, Paper, Text } from '@mantine/core'
import { IconArrowDownRight, IconArrowUpRight } from '@tabler/icons-react'
import { formatNumber } from '../../language/format.ts'
import type { Funnel, Overview } from '../../../../contracts/dashboard/overview.ts'
import { translate } from '../../language/i18n.ts'
import { useAccount } from '../../session/session.ts'
import { Explained } from '../../ui/explained.tsx'
import { type MessageFilters, noFilters, writeFilters } from '../messages/message-filters.ts'
import { type Change, compare } from './change.ts'
import styles from './overview.module.css'
import figureStyles from '../../ui/figures.module.css'
import { describeRange } from './period.ts'
import {
  countInTransit,
  type DayCounts,
  describeAverage,
  describeShare,
  listUnknown,
  type Segment,
  type Stage,
  stageNames,
  stages,
  toLogRange,
} from './statistics.ts'
import { TextLink } from '../../ui/button.tsx'

function explainStage(stage: Stage, totals: Funnel): string {
  switch (stage) {
    case 'attempted':
      return t`Messages that were to be sent. Those still pending are not counted yet.`
    case 'accepted':
      return t`Accepted by WhatsApp. ${formatNumber(countInTransit(totals))} not delivered yet.`
    case 'delivered':
      return t`Reached the recipient, read or not.`
    case 'read':
      return t`Some recipients turn off read receipts, so more may have been read.`
    case 'refused':
      return t`WhatsApp did not accept the message, so nothing was sent.`
    case 'undelivered':
      return t`WhatsApp accepted the message, but could not deliver it.`
  }
}

/** The number of a stage relative to the previous stage. */
function describeStage(stage: Stage, totals: Funnel, days: readonly DayCounts[]): string {
  if (stage === 'attempted') {
    const average = describeAverage(totals.attempted, days.length)
    return days[0]?.time === undefined ? t`${average} per day` : t`${average} per hour`
  }
  if (stage === 'read') return t`${describeShare(totals.read, totals.delivered)} of delivered`
  return t`${describeShare(totals[stage], totals.attempted)} of attempted`
}

/** The filter of the message log for the failed messages of a stage. */
const failures: Partial<Record<Stage, MessageFilters['failure']>> = { refused: 'rejected', undelivered: 'undelivered' }

interface FiguresProps {
  overview: Overview
}

/** The funnel of the period: attempted, accepted, delivered and read, then the failures. */
export function Figures({ overview }: FiguresProps) {
  return (
    <Box component="dl" className={figureStyles['figures']}>
      {stages.map((stage) => (
        <Figure key={stage} stage={stage} overview={overview} />
      ))}
    </Box>
  )
}

function Figure({ stage, overview }: FiguresProps & { stage: Stage }) {
  const { days, totals, previous } = overview
  return (
    <Paper radius={0} className={figureStyles['figure']}>
      <Text component="dt" size="sm" c="dimmed" fw={500}>
        <Explained meaning={explainStage(stage, totals)}>{translate(stageNames[stage])}</Explained>
      </Text>
      <Text component="dd" m={0} mt={2} className={figureStyles['value']}>
        <Count stage={stage} overview={overview} />
      </Text>
      <Text component="dd" m={0} className={styles['share']}>
        {describeStage(stage, totals, days)}
      </Text>
      {stage === 'attempted' && <UnknownCount overview={overview} />}
      {previous && <ChangeText change={compare(stage, totals, previous.totals)} stage={stage} previous={previous} />}
      <Sparkline values={days.map((day) => day[stage])} segment={lineOf[stage]} />
    </Paper>
  )
}

/** The number of a stage. For failures, it links to the messages. */
function Count({ stage, overview }: { stage: Stage; overview: Overview }) {
  const { accountId } = useAccount()
  const count = overview.totals[stage]
  const failure = failures[stage]
  if (failure === undefined || count === 0) return formatNumber(count)
  const filters = { ...noFilters, status: 'failed' as const, failure, ...toLogRange(overview) }
  return (
    <TextLink
      to={`/${accountId}/messages?${writeFilters(filters)}`}
      inherit
      c="inherit"
      aria-label={`${formatNumber(count)} ${translate(stageNames[stage])}`}
    >
      {formatNumber(count)}
    </TextLink>
  )
}

/** Messages that are in no figure, with a link to them. */
function UnknownCount({ overview }: { overview: Overview }) {
  const { accountId } = useAccount()
  const count = overview.outcomeUnknown
  if (count === 0) return null
  return (
    <Text component="dd" m={0} className={styles['change']} data-tone="bad">
      <TextLink to={`/${accountId}/${listUnknown(overview)}`} inherit c="inherit">
        {t`${formatNumber(count)} more, outcome unknown`}
      </TextLink>
    </Text>
  )
}

interface ChangeTextProps {
  change: Change
  stage: Stage
  previous: NonNullable<Overview['previous']>
}

function ChangeText({ change, stage, previous }: ChangeTextProps) {
  const { direction, tone } = change
  const Icon = direction === 'up' ? IconArrowUpRight : IconArrowDownRight
  const title = `${describeRange(previous)}: ${formatNumber(previous.totals[stage])}`
  return (
    <Text component="dd" m={0} className={styles['change']} data-tone={tone} title={title}>
      {direction && <Icon size={14} stroke={2} aria-hidden />}
      {describeChange(change)}
    </Text>
  )
}

function describeChange(change: Change): string {
  if (change.direction === undefined) return change.text
  const { text, before, direction } = change
  return direction === 'up' ? t`Up ${text} from ${before}` : t`Down ${text} from ${before}`
}

/** The colour of a stage; `attempted` and `accepted` share one. */
const lineOf = {
  attempted: 'inTransit',
  accepted: 'inTransit',
  delivered: 'delivered',
  read: 'read',
  refused: 'refused',
  undelivered: 'undelivered',
} satisfies Record<Stage, Segment>

/** The colour of a segment in legends. */
export function Swatch({ segment }: { segment: Segment }) {
  return <span className={styles['swatch']} data-segment={segment} aria-hidden />
}

/** A share as a bar. The numbers are next to it. */
export function Bar({ segment, share }: { segment: Segment; share: number }) {
  return (
    <div className={styles['bar']} aria-hidden>
      <div data-segment={segment} style={{ width: `${share * 100}%`, minWidth: share > 0 ? 3 : 0 }} />
    </div>
  )
}

const [width, height] = [100, 24]

/** A trend line without a scale. The chart below has one. */
function Sparkline({ values, segment }: { values: readonly number[]; segment: Segment }) {
  const top = Math.max(1, ...values)
  const step = values.length > 1 ? width / (values.length - 1) : width
  const points = values.map(
    (value, index) => `${round(index * step)},${round(height - (value / top) * (height - 2) - 1)}`,
  )
  return (
    <svg
      className={styles['sparkline']}
      data-line={segment}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden
    >
      <polygon points={`0,${height} ${points.join(' ')} ${width},${height}`} />
      <polyline points={points.join(' ')} />
    </svg>
  )
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

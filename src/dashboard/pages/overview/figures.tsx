import { Box, Paper, Text, Tooltip, UnstyledButton } from '@mantine/core'
import { IconArrowDownRight, IconArrowUpRight } from '@tabler/icons-react'
import type { Funnel, Overview } from '../../../../contracts/dashboard/overview.ts'
import { type Change, compare } from './change.ts'
import styles from './overview.module.css'
import { describeRange } from './period.ts'
import { Sparkline } from './sparkline.tsx'
import {
  countInTransit,
  type DayCounts,
  describeAverage,
  describeCount,
  describeShare,
  type Segment,
  type Stage,
  stageNames,
  stages,
} from './statistics.ts'

/** What a stage means. */
function explainStage(stage: Stage, totals: Funnel): string {
  switch (stage) {
    case 'attempted':
      return 'Sends with an outcome. Pending messages are not counted yet.'
    case 'accepted':
      return `Accepted by WhatsApp. ${describeCount(countInTransit(totals))} not delivered yet.`
    case 'delivered':
      return 'Reached the recipient, read or not.'
    case 'read':
      return 'Some recipients turn off read receipts, so more may have been read.'
    case 'refused':
      return 'Failed without being accepted by WhatsApp.'
    case 'undelivered':
      return 'Accepted by WhatsApp, then failed.'
  }
}

/** The number of a stage relative to the stage before it. */
function describeStage(stage: Stage, totals: Funnel, days: readonly DayCounts[]): string {
  if (stage === 'attempted')
    return `${describeAverage(totals.attempted, days.length)} per ${days[0]?.time === undefined ? 'day' : 'hour'}`
  if (stage === 'read') return `${describeShare(totals.read, totals.delivered)} of delivered`
  return `${describeShare(totals[stage], totals.attempted)} of attempted`
}

interface FiguresProps extends Pick<Overview, 'totals' | 'previous'> {
  days: readonly DayCounts[]
}

/** The funnel of the period: attempted, accepted, delivered and read, then the failures. */
export function Figures({ totals, previous, days }: FiguresProps) {
  return (
    <Box component="dl" className={styles['figures']}>
      {stages.map((stage) => (
        <Figure key={stage} stage={stage} totals={totals} previous={previous} days={days} />
      ))}
    </Box>
  )
}

function Figure({ stage, totals, previous, days }: FiguresProps & { stage: Stage }) {
  const change = compare(stage, totals, previous?.totals)
  return (
    <Paper withBorder className={styles['figure']}>
      <Text component="dt" size="sm" c="dimmed" fw={500}>
        <Tooltip
          label={explainStage(stage, totals)}
          multiline
          w={220}
          events={{ hover: true, focus: true, touch: true }}
        >
          <UnstyledButton fz="inherit" fw="inherit" c="inherit" className={styles['explained']}>
            {stageNames[stage]}
          </UnstyledButton>
        </Tooltip>
      </Text>
      <Text component="dd" m={0} mt={2} className={styles['value']}>
        {describeCount(totals[stage])}
      </Text>
      <Text component="dd" m={0} className={styles['share']}>
        {describeStage(stage, totals, days)}
      </Text>
      <ChangeText change={change} stage={stage} previous={previous} />
      <Sparkline values={days.map((day) => day[stage])} segment={lineOf[stage]} />
    </Paper>
  )
}

const directionNames = { up: 'Up', down: 'Down' }

function ChangeText({ change, stage, previous }: { change: Change; stage: Stage } & Pick<Overview, 'previous'>) {
  const { text, direction, tone } = change
  const Icon = direction === 'up' ? IconArrowUpRight : IconArrowDownRight
  const before = previous && `${describeRange(previous)}: ${describeCount(previous.totals[stage])}`
  return (
    <Text component="dd" m={0} className={styles['change']} data-tone={tone} title={before}>
      {direction && <Icon size={14} stroke={2} aria-hidden />}
      {direction ? `${directionNames[direction]} ${text}` : text}
    </Text>
  )
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

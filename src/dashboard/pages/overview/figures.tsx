import { Box, Paper, Text } from '@mantine/core'
import type { Funnel } from '../../../../contracts/dashboard/overview.ts'
import styles from './overview.module.css'
import {
  countInTransit,
  describeCount,
  describeShare,
  type Segment,
  type Stage,
  stageNames,
  stages,
} from './statistics.ts'

/** What a stage means, and its number relative to the stage before it. */
function describeStage(stage: Stage, totals: Funnel): { share?: string; meaning: string } {
  const ofAttempted = `${describeShare(totals[stage], totals.attempted)} of attempted`
  switch (stage) {
    case 'attempted':
      return { meaning: 'Sends with an outcome. Pending messages are not counted yet.' }
    case 'accepted':
      return { share: ofAttempted, meaning: `By WhatsApp. ${describeCount(countInTransit(totals))} not delivered yet.` }
    case 'delivered':
      return { share: ofAttempted, meaning: 'Reached the recipient.' }
    case 'read':
      return {
        share: `${describeShare(totals.read, totals.delivered)} of delivered`,
        meaning: 'Some recipients turn off read receipts.',
      }
    case 'refused':
      return { share: ofAttempted, meaning: 'Failed without being accepted by WhatsApp.' }
    case 'undelivered':
      return { share: ofAttempted, meaning: 'Accepted, then failed.' }
  }
}

/** The funnel of the period: attempted, accepted, delivered and read, then the failures. */
export function Figures({ totals }: { totals: Funnel }) {
  return (
    <Box component="dl" className={styles['figures']}>
      {stages.map((stage) => (
        <Figure key={stage} stage={stage} totals={totals} />
      ))}
    </Box>
  )
}

function Figure({ stage, totals }: { stage: Stage; totals: Funnel }) {
  const { share, meaning } = describeStage(stage, totals)
  return (
    <Paper withBorder px="sm" py="md">
      <Text component="dt" size="sm" c="dimmed" fw={500}>
        {stageNames[stage]}
      </Text>
      <Text component="dd" m={0} mt={2} className={styles['value']}>
        {describeCount(totals[stage])}
      </Text>
      <Text component="dd" m={0} fz={11.5} fw={500} mih="1.2rem" className={styles['share']}>
        {share}
      </Text>
      <Bar segment={barOf[stage]} share={totals.attempted === 0 ? 0 : totals[stage] / totals.attempted} />
      <Text component="dd" m={0} mt={4} size="xs" c="dimmed">
        {meaning}
      </Text>
    </Paper>
  )
}

/** The colour of a stage; `attempted` and `accepted` share one. */
const barOf = {
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

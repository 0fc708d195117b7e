import { Box, Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './overview.module.css'
import { describeCount, describeShare, type State, stateNames, states, type Totals } from './statistics.ts'

const meanings = {
  sent: 'Accepted by WhatsApp.',
  delivered: 'Reached the recipient.',
  read: 'Read by the recipient.',
  failed: 'Did not reach the recipient.',
} satisfies Record<State, string>

/** The key figures of the period. */
export function Figures({ totals }: { totals: Totals }) {
  return (
    <Box component="dl" className={styles['figures']}>
      {states.map((state) => (
        <Figure
          key={state}
          name={stateNames[state]}
          swatch={<Swatch state={state} />}
          value={describeCount(totals[state])}
          meaning={meanings[state]}
        />
      ))}
      <Figure
        name="Delivery rate"
        value={describeShare(totals.delivered, totals.sent)}
        meaning="Share of sent messages."
      />
      <Figure
        name="Read rate"
        value={describeShare(totals.read, totals.delivered)}
        meaning="Share of delivered messages. Some recipients turn off read receipts."
      />
    </Box>
  )
}

interface FigureProps {
  name: string
  value: string
  meaning: string
  swatch?: ReactNode
}

function Figure({ name, value, meaning, swatch }: FigureProps) {
  return (
    <Paper withBorder p="md">
      <Text component="dt" size="sm" c="dimmed" fw={500} className={styles['named']}>
        {swatch}
        {name}
      </Text>
      <Text component="dd" m={0} mt={2} className={styles['value']}>
        {value}
      </Text>
      <Text component="dd" m={0} mt={2} size="xs" c="dimmed">
        {meaning}
      </Text>
    </Paper>
  )
}

/** The colour of a state in legends. */
export function Swatch({ state }: { state: State }) {
  return <span className={styles['swatch']} data-state={state} aria-hidden />
}

/** A share as a bar. The numbers are next to it. */
export function Bar({ state, share }: { state: State; share: number }) {
  return (
    <div className={styles['bar']} aria-hidden>
      <div data-state={state} style={{ width: `${share * 100}%`, minWidth: share > 0 ? 3 : 0 }} />
    </div>
  )
}

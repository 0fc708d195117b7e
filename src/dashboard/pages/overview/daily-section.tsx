import { Button, Group, ScrollArea, Skeleton, Table, Text, VisuallyHidden } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { Section } from '../../ui/page.tsx'
import { Swatch } from './figures.tsx'
import styles from './overview.module.css'
import { addUp, type DayCounts, describeCount, describeDay, stateNames, states } from './statistics.ts'

/** Loaded separately, because the chart library is large. */
const DailyChart = lazy(async () => ({ default: (await import('./daily-chart.tsx')).DailyChart }))

/** A chart and the same data as a table, which screen readers always get. */
export function DailySection({ days }: { days: DayCounts[] }) {
  const [asTable, setAsTable] = useState(false)
  const { sent, failed } = addUp(days)
  const isEmpty = sent === 0 && failed === 0
  return (
    <Section
      title="Messages by day"
      description="Messages are counted on the day they were sent, in UTC."
      actions={
        !isEmpty && (
          <Button size="xs" variant="default" onClick={() => setAsTable(!asTable)}>
            {asTable ? 'Show as chart' : 'Show as table'}
          </Button>
        )
      }
    >
      {isEmpty && <Text size="sm">No messages sent in the last {days.length} days.</Text>}
      {!isEmpty && asTable && (
        <ScrollArea.Autosize
          mah={340}
          type="auto"
          viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': 'Messages by day' }}
        >
          <DailyTable days={days} />
        </ScrollArea.Autosize>
      )}
      {!isEmpty && !asTable && (
        <>
          <Legend />
          <div role="img" aria-label={describeChart(days)} className={styles['chart']}>
            <Suspense fallback={<Skeleton height="100%" />}>
              <DailyChart days={days} />
            </Suspense>
          </div>
          <VisuallyHidden component="div">
            <DailyTable days={days} />
          </VisuallyHidden>
        </>
      )}
    </Section>
  )
}

function Legend() {
  return (
    <Group gap="sm" mb="sm" aria-hidden>
      {states.map((state) => (
        <Text key={state} size="xs" className={styles['named']}>
          <Swatch state={state} />
          {stateNames[state]}
          {state === 'failed' && ' (below)'}
        </Text>
      ))}
    </Group>
  )
}

function describeChart(days: readonly DayCounts[]): string {
  const totals = addUp(days)
  const counts = states.map((state) => `${describeCount(totals[state])} ${stateNames[state].toLowerCase()}`)
  return `Messages by day, over ${days.length} days: ${counts.join(', ')}. A table by day follows.`
}

/** Latest day first. */
function DailyTable({ days }: { days: DayCounts[] }) {
  return (
    <Table aria-label="Messages by day, in UTC" fz="sm" stickyHeader className={styles['numbers']}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Day</Table.Th>
          {states.map((state) => (
            <Table.Th key={state} scope="col" ta="right">
              {stateNames[state]}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {days.toReversed().map((day) => (
          <Table.Tr key={day.date}>
            <Table.Th scope="row" fw={400}>
              <time dateTime={day.date}>{describeDay(day.date)}</time>
            </Table.Th>
            {states.map((state) => (
              <Table.Td key={state} ta="right">
                {describeCount(day[state])}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

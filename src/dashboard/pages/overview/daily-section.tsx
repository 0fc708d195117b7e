import { Button, Group, ScrollArea, Skeleton, Table, Text, VisuallyHidden } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import type { Funnel } from '../../../../contracts/dashboard/overview.ts'
import { Section } from '../../ui/page.tsx'
import { Swatch } from './figures.tsx'
import styles from './overview.module.css'
import { type DayCounts, describeCount, describeDay, segmentNames, segments, stageNames, stages } from './statistics.ts'

/** Loaded separately, because the chart library is large. */
const DailyChart = lazy(async () => ({ default: (await import('./daily-chart.tsx')).DailyChart }))

/** A chart and the same data as a table, which screen readers always get. */
export function DailySection({ days, totals }: { days: DayCounts[]; totals: Funnel }) {
  const [asTable, setAsTable] = useState(false)
  const isEmpty = totals.attempted === 0
  return (
    <Section
      title="Messages by day"
      description="Messages are counted on the day they were recorded, in UTC. The height of a bar is the number attempted."
      actions={
        !isEmpty && (
          <Button size="xs" variant="default" onClick={() => setAsTable(!asTable)}>
            {asTable ? 'Show as chart' : 'Show as table'}
          </Button>
        )
      }
    >
      {isEmpty && <Text size="sm">No messages in the last {days.length} days.</Text>}
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
          <div role="img" aria-label={describeChart(days, totals)} className={styles['chart']}>
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
      {segments.map((segment) => (
        <Text key={segment} size="xs" className={styles['named']}>
          <Swatch segment={segment} />
          {segmentNames[segment]}
        </Text>
      ))}
    </Group>
  )
}

function describeChart(days: readonly DayCounts[], totals: Funnel): string {
  const counts = stages.map((stage) => `${describeCount(totals[stage])} ${stageNames[stage].toLowerCase()}`)
  return `Messages by day, over ${days.length} days: ${counts.join(', ')}. A table by day follows.`
}

/** Latest day first. */
function DailyTable({ days }: { days: DayCounts[] }) {
  return (
    <Table aria-label="Messages by day, in UTC" fz="sm" stickyHeader className={styles['numbers']}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Day</Table.Th>
          {stages.map((stage) => (
            <Table.Th key={stage} scope="col" ta="right">
              {stageNames[stage]}
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
            {stages.map((stage) => (
              <Table.Td key={stage} ta="right">
                {describeCount(day[stage])}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

import { Button, Group, ScrollArea, Skeleton, Table, Text, VisuallyHidden } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import type { Overview } from '../../../../contracts/dashboard/overview.ts'
import { Section } from '../../ui/page.tsx'
import { Swatch } from './figures.tsx'
import styles from './overview.module.css'
import { fitDays } from './period.ts'
import {
  type DayCounts,
  describeCount,
  describeDay,
  describeSlot,
  segmentNames,
  segments,
  slotKey,
  stageNames,
  stages,
} from './statistics.ts'
import { TimeZoneControl } from './time-zone-control.tsx'

/** Loaded separately, because the chart library is large. */
const DailyChart = lazy(async () => ({ default: (await import('./daily-chart.tsx')).DailyChart }))

const unitNames = { day: 'day', hour: 'hour' } satisfies Record<Overview['unit'], string>

/** A chart and the same data as a table, which screen readers always get. */
export function DailySection({ overview }: { overview: Overview }) {
  const [asTable, setAsTable] = useState(false)
  const { totals, unit, timeZone, utcBefore } = overview
  const days = fitDays(overview)
  const title = `Messages by ${unitNames[unit]}`
  const isEmpty = totals.attempted === 0
  const table = <DailyTable days={days} label={`${title}, in ${timeZone}`} />
  return (
    <Section
      title={title}
      description={
        <>
          By the time they were recorded, in {timeZone}. <TimeZoneControl timeZone={timeZone} />
        </>
      }
      actions={
        !isEmpty && (
          <Button size="xs" variant="default" onClick={() => setAsTable(!asTable)}>
            {asTable ? 'Show as chart' : 'Show as table'}
          </Button>
        )
      }
    >
      {isEmpty && <Text size="sm">No messages in this period.</Text>}
      {!isEmpty && asTable && (
        <ScrollArea.Autosize mah={340} type="auto" viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': title }}>
          {table}
        </ScrollArea.Autosize>
      )}
      {!isEmpty && !asTable && (
        <>
          <Legend />
          <div role="img" aria-label={describeChart(title, overview)} className={styles['chart']}>
            <Suspense fallback={<Skeleton height="100%" />}>
              <DailyChart days={days} timeZone={timeZone} />
            </Suspense>
          </div>
          <VisuallyHidden component="div">{table}</VisuallyHidden>
        </>
      )}
      {utcBefore !== undefined && (
        <Text size="xs" c="dimmed" mt="xs">
          Days before {describeDay(utcBefore)} are in UTC.
        </Text>
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

function describeChart(title: string, { days, totals, unit }: Overview): string {
  const counts = stages.map((stage) => `${describeCount(totals[stage])} ${stageNames[stage].toLowerCase()}`)
  return `${title}, over ${days.length} ${unitNames[unit]}s: ${counts.join(', ')}. A table follows.`
}

/** The latest first. */
function DailyTable({ days, label }: { days: DayCounts[]; label: string }) {
  return (
    <Table aria-label={label} fz="sm" stickyHeader className={styles['numbers']}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{days[0]?.time === undefined ? 'Day' : 'Hour'}</Table.Th>
          {stages.map((stage) => (
            <Table.Th key={stage} scope="col" ta="right">
              {stageNames[stage]}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {days.toReversed().map((day) => (
          <Table.Tr key={slotKey(day)}>
            <Table.Th scope="row" fw={400}>
              {describeSlot(day)}
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

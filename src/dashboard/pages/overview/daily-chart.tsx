import { BarChart, type BarChartSeries } from '@mantine/charts'
import '@mantine/charts/styles.css'
import { Paper, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { formatNumber, numberFormat } from '../../language/format.ts'
import { translate } from '../../language/i18n.ts'
import styles from './overview.module.css'
import {
  abbreviateDay,
  type DayCounts,
  describeSlot,
  listTicks,
  segmentNames,
  segments,
  stageNames,
  stages,
  toSegments,
} from './statistics.ts'

function listSeries(): BarChartSeries[] {
  return segments.map((segment) => ({
    name: segment,
    label: translate(segmentNames[segment]),
    color: `var(--overview-${segment})`,
  }))
}

/** Not animated, because it is redrawn every few seconds. */
export function DailyChart({ days }: { days: DayCounts[] }) {
  const isNarrow = useMediaQuery('(width < 36em)')
  const ticks = listTicks(days)
  return (
    <BarChart
      h="100%"
      // By position, because two hours have the same name when the clocks go back.
      data={days.map((counts, slot) => ({ slot, counts, ...toSegments(counts) }))}
      dataKey="slot"
      series={listSeries()}
      type="stacked"
      maxBarWidth={32}
      // The chart is an image; keyboards and screen readers use the table.
      accessibilityLayer={false}
      barChartProps={{ barCategoryGap: '18%', margin: { left: -12, right: 20 } }}
      tickLine="none"
      gridProps={{ syncWithTicks: true }}
      xAxisProps={{
        ticks: chooseLabelled(days.length, isNarrow ? 4 : 7),
        tickFormatter: (slot: number) => abbreviateSlot(days[slot]),
        interval: 'equidistantPreserveEnd',
      }}
      yAxisProps={{ ticks, domain: [0, ticks.at(-1) ?? 0], interval: 0, width: 56 }}
      valueFormatter={(value) => numberFormat({ notation: 'compact', maximumFractionDigits: 1 }).format(value)}
      tooltipProps={{
        cursor: { fill: 'var(--chart-cursor-fill)' },
        content: ({ active, payload }) => {
          // Recharts types the data of its charts as `any`.
          const [point] = payload as readonly { payload?: { counts: DayCounts } }[]
          const counts = point?.payload?.counts
          return active && counts ? <DayTooltip counts={counts} /> : null
        },
      }}
    />
  )
}

/** `Nov 20`, or `14:00` for an hour. */
function abbreviateSlot(counts: DayCounts | undefined): string {
  return counts ? (counts.time ?? abbreviateDay(counts.date)) : ''
}

/** Chooses evenly spaced slots to label, including the last one. */
function chooseLabelled(count: number, maxLabels: number): number[] {
  const distance = Math.ceil(count / maxLabels)
  return [...Array(count).keys()].filter((slot) => (count - 1 - slot) % distance === 0)
}

function DayTooltip({ counts }: { counts: DayCounts }) {
  return (
    <Paper withBorder shadow="md" p="sm" miw={150}>
      <Text size="sm" fw={600} mb={4}>
        {describeSlot(counts)}
      </Text>
      {stages.map((stage) => (
        <div key={stage} className={styles['tooltipLine']}>
          <Text size="sm">{translate(stageNames[stage])}</Text>
          <Text size="sm" fw={500}>
            {formatNumber(counts[stage])}
          </Text>
        </div>
      ))}
    </Paper>
  )
}

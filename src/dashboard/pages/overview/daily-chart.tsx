import { BarChart, type BarChartSeries } from '@mantine/charts'
import '@mantine/charts/styles.css'
import { Paper, Text } from '@mantine/core'
import { Swatch } from './figures.tsx'
import styles from './overview.module.css'
import {
  abbreviateDay,
  type DayCounts,
  describeCount,
  describeDay,
  scaleOf,
  type State,
  stateNames,
  states,
} from './statistics.ts'

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** Stacked upwards from zero: read, delivered, sent. Failed goes downwards. */
const series: BarChartSeries[] = (['read', 'delivered', 'sent', 'failed'] satisfies State[]).map((state) => ({
  name: state,
  label: stateNames[state],
  color: `var(--overview-${state})`,
}))

const maxLabels = 7

/** Not animated, because it is redrawn every few seconds. */
export function DailyChart({ days }: { days: DayCounts[] }) {
  const { ticks, domain } = scaleOf(days)
  return (
    <BarChart
      h="100%"
      data={days.map(toBar)}
      dataKey="date"
      series={series}
      type="stacked"
      maxBarWidth={32}
      // The chart is an image; keyboards and screen readers use the table.
      accessibilityLayer={false}
      barChartProps={{ stackOffset: 'sign', barCategoryGap: '18%', margin: { bottom: 30, left: 10, right: 20 } }}
      barProps={({ name }) => (name === 'failed' ? { minPointSize: (_, index) => (days[index]?.failed ? 3 : 0) } : {})}
      tickLine="none"
      gridProps={{ syncWithTicks: true }}
      xAxisLabel="Day (UTC)"
      xAxisProps={{ ticks: chooseLabelled(days), tickFormatter: abbreviateDay, interval: 'preserveEnd' }}
      yAxisLabel="Messages"
      yAxisProps={{ ticks, domain, interval: 0, width: 56 }}
      valueFormatter={(value) => compact.format(Math.abs(value))}
      referenceLines={[{ y: 0, className: styles['zero'] ?? '' }]}
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

/** Evenly spaced days, including the last one. */
function chooseLabelled(days: readonly DayCounts[]): string[] {
  const distance = Math.ceil(days.length / maxLabels)
  return days.filter((_, index) => (days.length - 1 - index) % distance === 0).map(({ date }) => date)
}

/**
 * A read message also counts as delivered and sent, so the bars stack the differences. A message that failed
 * after it was sent appears only below zero.
 */
function toBar(counts: DayCounts) {
  const { date, sent, delivered, read, failed, failedLater } = counts
  const underWay = Math.max(sent - delivered - failedLater, 0)
  return { date, counts, read, delivered: delivered - read, sent: underWay, failed: -failed }
}

function DayTooltip({ counts }: { counts: DayCounts }) {
  return (
    <Paper withBorder shadow="md" p="sm" miw={150}>
      <Text size="sm" fw={600} mb={4}>
        {describeDay(counts.date)}
      </Text>
      {states.map((state) => (
        <div key={state} className={styles['tooltipLine']}>
          <Text size="sm" className={styles['named']}>
            <Swatch state={state} />
            {stateNames[state]}
          </Text>
          <Text size="sm" fw={500}>
            {describeCount(counts[state])}
          </Text>
        </div>
      ))}
    </Paper>
  )
}

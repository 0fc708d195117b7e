import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Anchor, Button, Group, ScrollArea, Skeleton, Table, Text, VisuallyHidden } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Suspense, useState } from 'react'
import { formatNumber } from '../../language/format.ts'
import { translate } from '../../language/i18n.ts'
import type { Overview } from '../../../../contracts/dashboard/overview.ts'
import { useAccount } from '../../session/session.ts'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Section } from '../../ui/page.tsx'
import { describeDay } from '../../ui/time.ts'
import { Swatch } from './figures.tsx'
import styles from './overview.module.css'
import { type DayCounts, describeSlot, segmentNames, segments, stageNames, stages } from './statistics.ts'

/** Loaded separately, because the chart library is large. */
const DailyChart = lazyPart(async () => (await import('./daily-chart.tsx')).DailyChart)
/** Loaded on first use. */
const TimeZoneModal = lazyPart(async () => (await import('./time-zone-modal.tsx')).TimeZoneModal)

function TimeZoneControl({ timeZone }: { timeZone: string }) {
  const { role } = useAccount()
  const [opened, { open, close }] = useDisclosure()
  if (role !== 'owner') return null
  return (
    <>
      <Anchor component="button" type="button" size="sm" onClick={open}>{t`Change time zone`}</Anchor>
      {opened && (
        <Suspense>
          <TimeZoneModal timeZone={timeZone} onClose={close} />
        </Suspense>
      )}
    </>
  )
}

/** A chart, and the same data as a table, which screen readers always have. */
export function DailySection({ overview }: { overview: Overview }) {
  const [asTable, setAsTable] = useState(false)
  const { days, totals, unit, timeZone, utcBefore } = overview
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  const title = unit === 'day' ? t`Messages by day` : t`Messages by hour`
  const isEmpty = totals.attempted === 0
  const table = <DailyTable days={days} label={t`${title}, in ${timeZone}`} />
  return (
    <Section
      title={title}
      description={
        <>
          <Trans>
            By the time they were recorded, in {timeZone}. <TimeZoneControl timeZone={timeZone} />
          </Trans>
          {own !== timeZone && (
            <Text span inherit display="block">
              <Trans>Other pages show times in the time zone of your computer, {own}.</Trans>
            </Text>
          )}
        </>
      }
      actions={
        !isEmpty && (
          <Button size="xs" variant="default" onClick={() => setAsTable(!asTable)}>
            {asTable ? t`Show as chart` : t`Show as table`}
          </Button>
        )
      }
    >
      {isEmpty && <Text size="sm">{t`No messages in this period.`}</Text>}
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
              <DailyChart days={days} />
            </Suspense>
          </div>
          <VisuallyHidden component="div">{table}</VisuallyHidden>
        </>
      )}
      {utcBefore !== undefined && (
        <Text size="xs" c="dimmed" mt="xs">
          <Trans>Days before {describeDay(utcBefore)} are in UTC.</Trans>
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
          {translate(segmentNames[segment])}
        </Text>
      ))}
    </Group>
  )
}

function describeChart(title: string, { days, totals, unit }: Overview): string {
  const counts = stages
    .map((stage) => `${formatNumber(totals[stage])} ${translate(stageNames[stage]).toLowerCase()}`)
    .join(', ')
  const period =
    unit === 'day'
      ? plural(days.length, { one: '# day', other: '# days' })
      : plural(days.length, { one: '# hour', other: '# hours' })
  return t`${title}, over ${period}: ${counts}. A table follows.`
}

/** Latest first. */
function DailyTable({ days, label }: { days: DayCounts[]; label: string }) {
  return (
    <Table aria-label={label} fz="sm" stickyHeader className={styles['numbers']}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{days[0]?.time === undefined ? t`Day` : t`Hour`}</Table.Th>
          {stages.map((stage) => (
            <Table.Th key={stage} scope="col" ta="right">
              {translate(stageNames[stage])}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {days.toReversed().map((day, index) => (
          // Two hours have the same name when the clocks go back.
          <Table.Tr key={index}>
            <Table.Th scope="row" fw={400}>
              {describeSlot(day)}
            </Table.Th>
            {stages.map((stage) => (
              <Table.Td key={stage} ta="right">
                {formatNumber(day[stage])}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

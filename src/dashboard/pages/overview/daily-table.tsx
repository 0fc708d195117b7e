import { Table } from '@mantine/core'
import { describeDay } from './describe-day.ts'
import { describeCount } from './describe-share.ts'
import styles from './overview.module.css'
import { stateNames, states } from './series.ts'
import type { DayCounts } from './totals.ts'

/** The latest day first. */
export function DailyTable({ days }: { days: DayCounts[] }) {
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

import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Table, Text } from '@mantine/core'
import { formatNumber } from '../../language/format.ts'
import type { Overview } from '../../../../contracts/dashboard/overview.ts'
import { Section } from '../../ui/page.tsx'
import { Bar } from './figures.tsx'
import styles from './overview.module.css'
import { describeShare, quickSeconds, toSteps } from './statistics.ts'

interface TimeToDeliveredSectionProps extends Pick<Overview, 'timeToDelivered'> {
  /** All delivered messages; for some, WhatsApp reports no time. */
  delivered: number
}

export function TimeToDeliveredSection({ timeToDelivered, delivered }: TimeToDeliveredSectionProps) {
  const { steps, total, quick } = toSteps(timeToDelivered)
  return (
    <Section title={t`Delivery time`} description={t`From acceptance by WhatsApp to delivery.`}>
      {total === 0 ? (
        <Text size="sm">
          {delivered === 0
            ? t`No messages delivered in this period.`
            : t`WhatsApp reported no delivery times for this period.`}
        </Text>
      ) : (
        <>
          <Text size="sm" mb="sm">
            <Trans>
              <strong>{describeShare(quick, total)}</strong> delivered within {quickSeconds} seconds.
            </Trans>
            {total < delivered &&
              ` ${t`WhatsApp reported the delivery time of ${formatNumber(total)} of ${formatNumber(delivered)} delivered messages; some are only reported as read.`}`}
          </Text>
          <Table
            aria-label={t`Delivery time`}
            fz="sm"
            withRowBorders={false}
            verticalSpacing={5}
            horizontalSpacing={0}
            className={styles['numbers']}
          >
            <Table.Thead>
              <Table.Tr c="dimmed" fz="xs">
                <Table.Th scope="col" fw={500}>
                  <Trans context="duration">Time</Trans>
                </Table.Th>
                <Table.Td w="100%" />
                <Table.Th scope="col" fw={500} ta="right" className={styles['count']}>{t`Messages`}</Table.Th>
                <Table.Th scope="col" fw={500} ta="right" className={styles['count']}>{t`Share`}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {steps.map(({ label, count }) => (
                <Table.Tr key={label}>
                  <Table.Th scope="row" fw={400} className={styles['step']}>
                    {label}
                  </Table.Th>
                  <Table.Td>
                    <Bar segment="delivered" share={count / total} />
                  </Table.Td>
                  <Table.Td ta="right" className={styles['count']}>
                    {formatNumber(count)}
                  </Table.Td>
                  <Table.Td ta="right" c="dimmed" className={styles['count']}>
                    {describeShare(count, total)}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </>
      )}
    </Section>
  )
}

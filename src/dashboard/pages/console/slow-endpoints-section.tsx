import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Table, Text } from '@mantine/core'
import { Section } from '../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { describeDuration } from '../../ui/time.ts'
import { formatNumber } from '../../language/format.ts'
import { useSlowEndpoints } from './use-console.ts'

export function SlowEndpointsSection() {
  const slow = useSlowEndpoints()
  return (
    <Section title={t`Slowest endpoints`} description={t`Webhook endpoints by average response time, last hour.`}>
      {slow.isPending && <LoadingSkeleton lines={3} />}
      {slow.isError && !slow.data && <ErrorAlert error={slow.error} onRetry={() => slow.refetch()} />}
      {slow.data?.length === 0 && (
        <Text size="sm" c="dimmed">
          <Trans>No deliveries in the last hour.</Trans>
        </Text>
      )}
      {slow.data && slow.data.length > 0 && (
        <Table.ScrollContainer type="native" minWidth={560} tabIndex={0}>
          <Table verticalSpacing="xs" fz="sm" style={{ fontVariantNumeric: 'tabular-nums' }}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>
                  <Trans>Endpoint</Trans>
                </Table.Th>
                <Table.Th>
                  <Trans>Account</Trans>
                </Table.Th>
                <Table.Th ta="right">
                  <Trans>Average</Trans>
                </Table.Th>
                <Table.Th ta="right">
                  <Trans>Slowest</Trans>
                </Table.Th>
                <Table.Th ta="right">
                  <Trans>Attempts</Trans>
                </Table.Th>
                <Table.Th ta="right">{t({ message: 'Failed', context: 'number of attempts' })}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {slow.data.map((endpoint) => (
                <Table.Tr key={endpoint.endpointId}>
                  <Table.Td title={endpoint.endpointId}>{endpoint.host}</Table.Td>
                  <Table.Td>{endpoint.accountName}</Table.Td>
                  <Table.Td ta="right">{describeDuration(endpoint.averageMilliseconds)}</Table.Td>
                  <Table.Td ta="right">{describeDuration(endpoint.slowestMilliseconds)}</Table.Td>
                  <Table.Td ta="right">{formatNumber(endpoint.attempts)}</Table.Td>
                  <Table.Td ta="right">{formatNumber(endpoint.failed)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Section>
  )
}

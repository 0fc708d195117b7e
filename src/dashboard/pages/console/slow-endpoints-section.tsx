import { Table, Text } from '@mantine/core'
import { Section } from '../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { describeDuration } from '../../ui/time.ts'
import { describeNumber, useSlowEndpoints } from './use-console.ts'

export function SlowEndpointsSection() {
  const slow = useSlowEndpoints()
  return (
    <Section title="Slowest endpoints" description="Webhook endpoints by average response time, last hour.">
      {slow.isPending && <LoadingSkeleton lines={3} />}
      {slow.isError && !slow.data && <ErrorAlert error={slow.error} onRetry={() => slow.refetch()} />}
      {slow.data?.length === 0 && (
        <Text size="sm" c="dimmed">
          No deliveries in the last hour.
        </Text>
      )}
      {slow.data && slow.data.length > 0 && (
        <Table.ScrollContainer type="native" minWidth={560} tabIndex={0}>
          <Table verticalSpacing="xs" fz="sm" style={{ fontVariantNumeric: 'tabular-nums' }}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Endpoint</Table.Th>
                <Table.Th>Account</Table.Th>
                <Table.Th ta="right">Average</Table.Th>
                <Table.Th ta="right">Slowest</Table.Th>
                <Table.Th ta="right">Attempts</Table.Th>
                <Table.Th ta="right">Failed</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {slow.data.map((endpoint) => (
                <Table.Tr key={endpoint.endpointId}>
                  <Table.Td title={endpoint.endpointId}>{endpoint.host}</Table.Td>
                  <Table.Td>{endpoint.accountName}</Table.Td>
                  <Table.Td ta="right">{describeDuration(endpoint.averageMilliseconds)}</Table.Td>
                  <Table.Td ta="right">{describeDuration(endpoint.slowestMilliseconds)}</Table.Td>
                  <Table.Td ta="right">{describeNumber(endpoint.attempts)}</Table.Td>
                  <Table.Td ta="right">{describeNumber(endpoint.failed)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Section>
  )
}

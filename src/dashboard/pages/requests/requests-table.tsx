import { t } from '@lingui/core/macro'
import { Box, Group, Paper, Stack, Table, Text } from '@mantine/core'
import type { ApiRequest } from '../../../../contracts/dashboard/request.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import { LogTime } from '../../ui/date-time.tsx'
import { sayFact } from '../../language/facts.ts'
import { ErrorText } from '../../ui/log.tsx'
import { useRowClicks } from '../../ui/row-clicks.ts'
import { describeDuration } from '../../ui/time.ts'
import styles from '../messages/messages-table.module.css'
import { TextLink } from '../../ui/button.tsx'

interface RequestsTableProps {
  requests: ApiRequest[]
  /** Whether these are results of the previous filters. */
  stale: boolean
  queryOf: (requestId: string) => string
}

/** A table, or a list on a small screen. */
export function RequestsTable({ requests, stale, queryOf }: RequestsTableProps) {
  return (
    <Paper withBorder aria-busy={stale} style={{ opacity: stale ? 0.6 : 1, overflow: 'hidden' }}>
      <Table visibleFrom="md" horizontalSpacing="sm" fz="sm" highlightOnHover className={styles['table']}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={182}>{t`Time`}</Table.Th>
            <Table.Th w="26%">{t`Request`}</Table.Th>
            <Table.Th w={76}>{t`Status`}</Table.Th>
            <Table.Th>{t`Error`}</Table.Th>
            <Table.Th w={92} ta="right">{t`Duration`}</Table.Th>
            <Table.Th w={128} visibleFrom="lg">{t`Address`}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {requests.map((request) => (
            <RequestRow key={request.requestId} request={request} query={queryOf(request.requestId)} />
          ))}
        </Table.Tbody>
      </Table>
      <Stack hiddenFrom="md" gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {requests.map((request) => (
          <RequestItem key={request.requestId} request={request} query={queryOf(request.requestId)} />
        ))}
      </Stack>
    </Paper>
  )
}

interface RowProps {
  request: ApiRequest
  query: string
}

function RequestRow({ request, query }: RowProps) {
  return (
    <Table.Tr className={styles['clickable']} {...useRowClicks({ to: { search: query } })}>
      <Table.Td c="dimmed">
        <LogTime at={request.at} />
      </Table.Td>
      <Table.Td title={request.path}>
        {request.method} <PathLink request={request} query={query} />
      </Table.Td>
      <Table.Td>
        <HttpStatus request={request} />
      </Table.Td>
      <Table.Td title={request.errorMessage}>
        <div className={styles['reason']}>
          <ErrorText code={request.errorCode} text={sayError(request)} />
        </div>
      </Table.Td>
      <Table.Td ta="right">{describeDuration(request.durationMilliseconds)}</Table.Td>
      <Table.Td visibleFrom="lg" title={request.address}>
        {request.address}
      </Table.Td>
    </Table.Tr>
  )
}

function sayError({ errorMessage, facts }: RowProps['request']): string | undefined {
  return facts ? sayFact(facts['errorMessage'], errorMessage) : errorMessage
}

function RequestItem({ request, query }: RowProps) {
  return (
    <Box
      component="li"
      p="sm"
      className={`${styles['item']} ${styles['clickable']}`}
      {...useRowClicks({ to: { search: query } })}
    >
      <Group justify="space-between" wrap="nowrap" gap="sm" fz="sm">
        <Box miw={0} style={{ overflowWrap: 'anywhere' }}>
          {request.method} <PathLink request={request} query={query} />
        </Box>
        <Box style={{ flexShrink: 0 }}>
          <HttpStatus request={request} />
        </Box>
      </Group>
      {request.errorCode !== undefined && (
        <Text size="xs" mt={2} lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
          <ErrorText code={request.errorCode} text={sayError(request)} />
        </Text>
      )}
      <Text size="xs" c="dimmed" mt={2}>
        <LogTime at={request.at} /> · {describeDuration(request.durationMilliseconds)} · {request.address}
      </Text>
    </Box>
  )
}

/** Without the prefix that every path of the REST API has. */
function PathLink({ request, query }: RowProps) {
  return (
    <TextLink to={{ search: query }} fz="inherit" fw={500} underline="hover">
      {request.path.replace(/^\/api\/v1(?=\/)/, '')}
    </TextLink>
  )
}

export function HttpStatus({ request: { status, errorCode } }: { request: ApiRequest }) {
  const tone = status >= 500 ? 'bad' : errorCode === undefined ? 'good' : 'warning'
  return <StatusBadge tone={tone}>{status}</StatusBadge>
}

import { Box, Group, Paper, Stack, Table, Text } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import type { AuditEntry } from '../../../contracts/dashboard/user.ts'
import { api } from '../api/client.ts'
import { useAccount } from '../session/session.ts'
import { StatusBadge, type Tone } from '../ui/badges.tsx'
import { DateTime } from '../ui/date-time.tsx'
import { PageHeader } from '../ui/page.tsx'
import { EmptyState, ErrorAlert, LoadingSkeleton, LoadMore } from '../ui/placeholders.tsx'

export function AuditLogPage() {
  const { accountId } = useAccount()
  const log = useInfiniteQuery({
    queryKey: ['audit', accountId],
    queryFn: ({ pageParam }) => api.audit.list.query({ accountId, ...(pageParam && { cursor: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
  })
  const entries = log.data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <>
      <PageHeader title="Audit log" description="Changes to this account and sign-ins of its members, newest first." />
      {log.isPending && <LoadingSkeleton lines={6} />}
      {log.isError && <ErrorAlert error={log.error} onRetry={() => log.refetch()} />}
      {log.isSuccess && entries.length === 0 && (
        <EmptyState icon={IconHistory} title="No entries yet">
          Changes made here, or by an operator on the command line, appear on this page.
        </EmptyState>
      )}
      {entries.length > 0 && <AuditTable entries={entries} />}
      <LoadMore query={log} />
    </>
  )
}

type Entry = z.output<typeof AuditEntry>

const outcomes = {
  done: { tone: 'good', label: 'Done' },
  refused: { tone: 'warning', label: 'Rejected' },
  started: { tone: 'neutral', label: 'Outcome unknown' },
} satisfies Record<Entry['outcome'], { tone: Tone; label: string }>

/** A table; on a phone, a list. */
function AuditTable({ entries }: { entries: Entry[] }) {
  return (
    <Paper withBorder>
      <Table visibleFrom="sm" verticalSpacing="sm" horizontalSpacing="md" fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Time</Table.Th>
            <Table.Th>User</Table.Th>
            <Table.Th>Action</Table.Th>
            <Table.Th>Source</Table.Th>
            <Table.Th>Outcome</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {entries.map((entry) => (
            <Table.Tr key={entry.id}>
              <Table.Td c="dimmed">
                <DateTime at={entry.at} />
              </Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{entry.who}</Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{toSentence(entry.what)}</Table.Td>
              <Table.Td>{entry.address}</Table.Td>
              <Table.Td>
                <Outcome outcome={entry.outcome} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Stack hiddenFrom="sm" gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {entries.map((entry, index) => (
          <Box
            key={entry.id}
            component="li"
            p="md"
            style={index === 0 ? {} : { borderTop: '1px solid var(--mantine-color-default-border)' }}
          >
            <Group justify="space-between" align="flex-start" wrap="nowrap" gap="sm">
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                {toSentence(entry.what)}
              </Text>
              <Outcome outcome={entry.outcome} />
            </Group>
            <Text size="xs" c="dimmed" mt={4} style={{ overflowWrap: 'anywhere' }}>
              <DateTime at={entry.at} /> by {entry.who} from {entry.address}
            </Text>
          </Box>
        ))}
      </Stack>
    </Paper>
  )
}

function Outcome({ outcome }: Pick<Entry, 'outcome'>) {
  const { tone, label } = outcomes[outcome]
  const title =
    outcome === 'started'
      ? 'The action is still running, or the server stopped before it finished. The change may have been applied.'
      : undefined
  return (
    <Box component="span" title={title} style={{ flexShrink: 0 }}>
      <StatusBadge tone={tone}>{label}</StatusBadge>
    </Box>
  )
}

function toSentence(what: string): string {
  return what.charAt(0).toUpperCase() + what.slice(1)
}

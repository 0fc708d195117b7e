import { Anchor, Box, Button, Group, Paper, Stack, Table, Text } from '@mantine/core'
import { IconMessages, IconSearchOff } from '@tabler/icons-react'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import { Link, useLocation, useSearchParams } from 'react-router'
import { type Message, sendMessage } from '../../../../contracts/api/message.ts'
import { settings } from '../../api/settings.ts'
import { useAccount } from '../../session/session.ts'
import { CodeBlock } from '../../ui/copy.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { PageHeader, Section } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert, LoadingSkeleton, LoadMore } from '../../ui/placeholders.tsx'
import { ExportButton } from './export-button.tsx'
import { FilterBar } from './filter-bar.tsx'
import {
  isFiltered,
  type MessageFilters,
  noFilters,
  readFilters,
  toListInput,
  writeFilters,
} from './message-filters.ts'
import { MessageStatusBadge } from './message-status.tsx'

export function MessagesPage() {
  const { accountId } = useAccount()
  const [search, setSearch] = useSearchParams()
  const filters = useMemo(() => readFilters(search), [search])
  const show = (filters: MessageFilters) => setSearch(writeFilters(filters), { replace: true })
  const log = useMessages(accountId, filters)
  const loadMore = useLoadMore(log)
  const messages = log.data?.pages.flatMap(({ items }) => items) ?? []
  const isEmpty = log.isSuccess && messages.length === 0 && !log.isPlaceholderData
  const hasNone = isEmpty && !isFiltered(filters) && filters.range === 'any'
  return (
    <>
      <PageHeader
        title="Messages"
        description="Messages sent through this account, newest first."
        actions={(messages.length > 0 || log.hasNextPage) && <ExportButton filters={filters} />}
      />
      {!hasNone && <FilterBar filters={filters} onChange={show} />}
      {log.isPending && <LoadingSkeleton lines={8} />}
      {log.isError && <ErrorAlert error={log.error} onRetry={() => void log.refetch()} />}
      {hasNone && <NoMessagesYet />}
      {isEmpty && !hasNone && <NoMatches among={log.hasNextPage ? 'newest' : 'all'} onClear={() => show(noFilters)} />}
      {messages.length > 0 && <MessagesTable messages={messages} stale={log.isPlaceholderData} />}
      <LoadMore
        query={{ hasNextPage: log.hasNextPage, isFetchingNextPage: log.isFetchingNextPage, fetchNextPage: loadMore }}
      />
    </>
  )
}

const refreshMilliseconds = 4_000
const pageSize = 25

/** The message log. It refreshes while only the first page is loaded. */
function useMessages(accountId: string, filters: MessageFilters) {
  return useInfiniteQuery({
    queryKey: ['messages', accountId, filters],
    queryFn: ({ pageParam, signal }) =>
      settings.message.list.query(
        {
          accountId,
          ...toListInput(filters, new Date()),
          limit: pageSize,
          ...(pageParam !== '' && { cursor: pageParam }),
        },
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? refreshMilliseconds : false),
    placeholderData: keepPreviousData,
  })
}

/**
 * Loads more of the log. If few messages match, pages can be empty, so it continues until it finds a message,
 * reaches the end or the user leaves.
 */
function useLoadMore({ fetchNextPage }: Pick<ReturnType<typeof useMessages>, 'fetchNextPage'>) {
  const isHere = useRef(false)
  useEffect(() => {
    isHere.current = true
    return () => {
      isHere.current = false
    }
  }, [])
  return async () => {
    for (;;) {
      const { data, hasNextPage, isError } = await fetchNextPage()
      const hasFound = data?.pages.at(-1)?.items.length !== 0
      if (hasFound || isError || !hasNextPage || !isHere.current) return
    }
  }
}

interface MessagesTableProps {
  messages: Message[]
  /** Whether these are results of the previous filter. */
  stale: boolean
}

/** A table; on a phone, a list. */
function MessagesTable({ messages, stale }: MessagesTableProps) {
  return (
    <Paper withBorder aria-busy={stale} style={{ opacity: stale ? 0.6 : 1, overflow: 'hidden' }}>
      <Table visibleFrom="sm" verticalSpacing="sm" horizontalSpacing="md" fz="sm" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Time</Table.Th>
            <Table.Th>Recipient</Table.Th>
            <Table.Th>Template</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>External ID</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {messages.map((message) => (
            <Table.Tr key={message.messageId}>
              <Table.Td c="dimmed">
                <DateTime at={message.createdAt} />
              </Table.Td>
              <Table.Td>
                <MessageLink message={message} />
              </Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                <TemplateName message={message} />
              </Table.Td>
              <Table.Td>
                <MessageStatusBadge status={message.status} />
              </Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{message.externalId}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Stack hiddenFrom="sm" gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {messages.map((message, index) => (
          <Box
            key={message.messageId}
            component="li"
            p="md"
            style={index === 0 ? {} : { borderTop: '1px solid var(--mantine-color-default-border)' }}
          >
            <Group justify="space-between" wrap="nowrap" gap="sm" fz="sm">
              <MessageLink message={message} />
              <Box style={{ flexShrink: 0 }}>
                <MessageStatusBadge status={message.status} />
              </Box>
            </Group>
            <Text size="sm" mt={4} style={{ overflowWrap: 'anywhere' }}>
              <TemplateName message={message} />
            </Text>
            <Text size="xs" c="dimmed" mt={4} style={{ overflowWrap: 'anywhere' }}>
              <DateTime at={message.createdAt} />
              {message.externalId !== undefined && ` · ${message.externalId}`}
            </Text>
          </Box>
        ))}
      </Stack>
    </Paper>
  )
}

function MessageLink({ message: { messageId, to } }: { message: Message }) {
  const { search } = useLocation()
  return (
    <Anchor
      component={Link}
      to={messageId}
      state={{ log: search }}
      fz="inherit"
      fw={500}
      underline="hover"
      style={{ fontVariantNumeric: 'tabular-nums' }}
    >
      +{to}
    </Anchor>
  )
}

function TemplateName({ message: { template, language } }: { message: Message }) {
  return (
    <>
      {template}{' '}
      <Text span inherit c="dimmed">
        {language}
      </Text>
    </>
  )
}

/** Shown for accounts without messages. */
function NoMessagesYet() {
  const { accountId } = useAccount()
  return (
    <Section title="No messages yet">
      <EmptyState
        icon={IconMessages}
        title="Send your first message"
        action={
          <Group gap="sm" justify="center">
            <Button component={Link} to={`/${accountId}/public-api`}>
              Get an API key
            </Button>
            <Button component="a" href="/docs" target="_blank" variant="default">
              Read the documentation
            </Button>
          </Group>
        }
      >
        Messages that your application sends through the API appear here with their status. You can also send a test
        message from{' '}
        <Anchor component={Link} to={`/${accountId}/templates`} inherit underline="always">
          Templates
        </Anchor>
        .{' '}
      </EmptyState>
      <CodeBlock label="Example request" code={describeSend()} />
    </Section>
  )
}

/** `newest` if older messages have not been searched yet. */
function NoMatches({ among, onClear }: { among: 'all' | 'newest'; onClear: () => void }) {
  return (
    <EmptyState
      icon={IconSearchOff}
      title={among === 'all' ? 'No matching messages' : 'No matches in the newest messages'}
      action={
        <Button variant="default" onClick={onClear}>
          Show all messages
        </Button>
      }
    >
      Filters match exact values: the full phone number, template name or external ID.
    </EmptyState>
  )
}

function describeSend(): string {
  const body = JSON.stringify(sendMessage.example.input, null, 2).replaceAll('\n', '\n  ')
  return `curl ${window.location.origin}${sendMessage.path} \\
  -H "X-API-Key: $WAYBILL_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${body}'`
}

import { ActionIcon, Group, Stack, Table, Text, TextInput, Tooltip, VisuallyHidden } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconSearch, IconTrash, IconUserOff } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Suppression } from '../../../../contracts/api/suppression.ts'
import { erasedRecipient } from '../../../../contracts/fields.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { StatusBadge, type Tone } from '../../ui/badges.tsx'
import { ConfirmModal } from '../../ui/confirm-modal.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { Section } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert, LoadingSkeleton, LoadMore } from '../../ui/placeholders.tsx'
import { suppressionsKey } from './suppressions-key.ts'

const waitMilliseconds = 400
const numberPattern = /^[1-9]\d{6,14}$/

export function ListSection() {
  const { accountId } = useAccount()
  const [search, setSearch] = useState('')
  const [typed] = useDebouncedValue(search.replaceAll(/[\s+()-]/g, ''), waitMilliseconds)
  const isSearch = typed !== ''
  const to = numberPattern.test(typed) ? typed : undefined
  const list = useInfiniteQuery({
    queryKey: [...suppressionsKey(accountId), to],
    queryFn: ({ pageParam }) =>
      api.suppression.list.query({ accountId, ...(to && { to }), ...(pageParam && { cursor: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
    enabled: !isSearch || to !== undefined,
  })
  const items = list.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <Section title="Suppressed recipients" description="Newest first.">
      <TextInput
        type="search"
        maw={360}
        mb="md"
        aria-label="Find a number"
        placeholder="Find a number, such as 34600111222"
        leftSection={<IconSearch size={16} aria-hidden />}
        value={search}
        error={isSearch && to === undefined ? 'Enter the complete number with its country code.' : undefined}
        autoComplete="off"
        inputMode="tel"
        onChange={(event) => setSearch(event.currentTarget.value)}
      />
      {list.isLoading && <LoadingSkeleton lines={4} />}
      {list.isError && <ErrorAlert error={list.error} onRetry={() => list.refetch()} />}
      {list.isSuccess && items.length === 0 && <NobodyFound isSearch={isSearch} />}
      {items.length > 0 && <SuppressionTable items={items} searched={to} />}
      <LoadMore query={list} />
    </Section>
  )
}

function NobodyFound({ isSearch }: { isSearch: boolean }) {
  return isSearch ? (
    <EmptyState icon={IconUserOff} title="Not on the list">
      This number receives messages of all categories.
    </EmptyState>
  ) : (
    <EmptyState icon={IconUserOff} title="Nobody has opted out">
      Recipients who reply STOP or stop marketing messages in WhatsApp appear here.
    </EmptyState>
  )
}

const reasons = {
  reply: { tone: 'warning', label: 'Replied with an opt-out word' },
  preference: { tone: 'warning', label: 'Stopped marketing in WhatsApp' },
  rejected: { tone: 'bad', label: 'Rejected by WhatsApp (131050)' },
  manual: { tone: 'neutral', label: 'Added manually' },
  import: { tone: 'neutral', label: 'Imported' },
} satisfies Record<Suppression['reason'], { tone: Tone; label: string }>

interface SuppressionTableProps {
  items: Suppression[]
  /** The number that was searched for: the only one that is known of an erased recipient. */
  searched: string | undefined
}

function SuppressionTable({ items, searched }: SuppressionTableProps) {
  const { accountId, canChange } = useAccount()
  const [removing, setRemoving] = useState<string>()
  const remove = useChange({
    change: (to: string) => api.suppression.remove.mutate({ accountId, to }),
    invalidates: [suppressionsKey(accountId)],
    done: ({ to }) => `${to} removed.`,
    onDone: () => setRemoving(undefined),
  })
  const onRemove = canChange ? setRemoving : undefined
  return (
    <>
      <WideTable items={items} searched={searched} onRemove={onRemove} />
      <NarrowList items={items} searched={searched} onRemove={onRemove} />
      <ConfirmModal
        opened={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title={`Remove ${removing ?? ''}?`}
        consequence="This recipient will receive marketing messages again. Remove them only with their consent. If the recipient stopped marketing messages in WhatsApp, WhatsApp still rejects those messages."
        confirmLabel="Remove recipient"
        pending={remove.isPending}
        onConfirm={() => removing !== undefined && remove.mutate(removing)}
      />
    </>
  )
}

interface EntriesProps extends SuppressionTableProps {
  /** Undefined for viewers. */
  onRemove: ((to: string) => void) | undefined
}

function WideTable({ items, searched, onRemove }: EntriesProps) {
  return (
    <Table verticalSpacing="xs" fz="sm" visibleFrom="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Recipient</Table.Th>
          <Table.Th>Reason</Table.Th>
          <Table.Th>Since</Table.Th>
          {onRemove && (
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          )}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map(({ to, reason, since }) => (
          <Table.Tr key={`${to} ${since}`}>
            <Table.Td>
              <Recipient to={to} />
            </Table.Td>
            <Table.Td>
              <ReasonBadge reason={reason} />
            </Table.Td>
            <Table.Td c="dimmed">
              <DateTime at={since} />
            </Table.Td>
            {onRemove && (
              <Table.Td ta="right">
                <RemoveButton to={to === erasedRecipient ? searched : to} onRemove={onRemove} />
              </Table.Td>
            )}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

/** On a phone. */
function NarrowList({ items, searched, onRemove }: EntriesProps) {
  return (
    <Stack hiddenFrom="sm" gap="sm" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
      {items.map(({ to, reason, since }) => (
        <Group key={`${to} ${since}`} component="li" justify="space-between" align="flex-start" wrap="nowrap">
          <Stack gap={4}>
            <Text size="sm" component="div">
              <Recipient to={to} />
            </Text>
            <ReasonBadge reason={reason} />
            <Text size="xs" c="dimmed">
              <DateTime at={since} />
            </Text>
          </Stack>
          {onRemove && <RemoveButton to={to === erasedRecipient ? searched : to} onRemove={onRemove} />}
        </Group>
      ))}
    </Stack>
  )
}

function Recipient({ to }: Pick<Suppression, 'to'>) {
  if (to !== erasedRecipient) return to
  return (
    <Tooltip label="The number was erased; only its keyed hash is kept. To remove the entry, search for the number.">
      <Text component="span" size="sm" c="dimmed" tabIndex={0}>
        Erased
      </Text>
    </Tooltip>
  )
}

function ReasonBadge({ reason }: Pick<Suppression, 'reason'>) {
  const { tone, label } = reasons[reason]
  return <StatusBadge tone={tone}>{label}</StatusBadge>
}

function RemoveButton({ to, onRemove }: { to: string | undefined; onRemove: (to: string) => void }) {
  if (to === undefined) return null
  return (
    <Tooltip label={`Remove ${to}`}>
      <ActionIcon variant="subtle" color="gray" aria-label={`Remove ${to}`} onClick={() => onRemove(to)}>
        <IconTrash size={16} />
      </ActionIcon>
    </Tooltip>
  )
}

import { type MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Group, Stack, Text, Tooltip, VisuallyHidden } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconTrash, IconUserOff } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sayFact } from '../../language/facts.ts'
import { translate } from '../../language/i18n.ts'
import type { UserSuppression } from '../../../../contracts/dashboard/suppression.ts'
import { erasedRecipient, ImportedRecipient } from '../../../../contracts/fields.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { LabelBadge } from '../../ui/badges.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmModal } from '../../ui/dialog.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { LogTime } from '../../ui/date-time.tsx'
import { SearchInput } from '../../ui/filters.tsx'
import { Section } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert, LoadMore } from '../../ui/placeholders.tsx'
import { TableSkeleton } from '../../ui/skeletons.tsx'
import { showRecipient, toRecipientField } from '../../ui/phone-number.ts'
import { nameCategories } from './scope-choice.tsx'
import { toRecipient } from './read-numbers.ts'
import { suppressionsKey, useStoppedCategories } from './use-suppressions.ts'

const waitMilliseconds = 400

export function ListSection() {
  const { accountId } = useAccount()
  const [search, setSearch] = useState('')
  const [typed] = useDebouncedValue(toRecipient(search.trim()), waitMilliseconds)
  const isSearch = typed !== ''
  const to = ImportedRecipient.safeParse(typed).success ? typed : undefined
  const list = useInfiniteQuery({
    queryKey: [...suppressionsKey(accountId), to],
    queryFn: ({ pageParam }) =>
      api.suppression.list.query({
        accountId,
        ...(to && toRecipientField(to)),
        ...(pageParam && { cursor: pageParam }),
      }),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
    enabled: !isSearch || to !== undefined,
  })
  const items = list.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <Section
      title={t`Suppressed recipients`}
      actions={
        <SearchInput
          w={260}
          aria-label={t`Find a recipient`}
          placeholder={t`Such as +34600111222`}
          value={search}
          error={
            isSearch && to === undefined
              ? t`Enter the complete number with its country code, or the user ID.`
              : undefined
          }
          onChange={setSearch}
        />
      }
    >
      {list.isLoading && <TableSkeleton rows={4} columns={6} />}
      {list.isError && <ErrorAlert error={list.error} onRetry={() => list.refetch()} />}
      {list.isSuccess && items.length === 0 && <NobodyFound searched={to} />}
      {items.length > 0 && <SuppressionTable items={items} searched={to} />}
      <LoadMore query={list} />
    </Section>
  )
}

function NobodyFound({ searched }: { searched: string | undefined }) {
  return searched !== undefined ? (
    <EmptyState icon={IconUserOff} title={t`Not on the list`}>
      <Trans>{showRecipient(searched)} is not suppressed. Numbers are found only with their country code.</Trans>
    </EmptyState>
  ) : (
    <EmptyState icon={IconUserOff} title={t`Nobody has opted out`}>
      <Trans>Recipients who reply STOP or stop marketing messages in WhatsApp appear here.</Trans>
    </EmptyState>
  )
}

const reasons = {
  reply: msg`Replied with an opt-out word`,
  preference: msg`Stopped marketing in WhatsApp`,
  rejected: msg`Rejected by WhatsApp (131050)`,
  manual: msg`Added manually`,
  import: msg`Imported`,
} satisfies Record<UserSuppression['reason'], MessageDescriptor>

interface SuppressionTableProps {
  items: UserSuppression[]
  /** The number that was searched for. For an erased recipient, no other number is known. */
  searched: string | undefined
}

function SuppressionTable({ items, searched }: SuppressionTableProps) {
  const { accountId, canChange } = useAccount()
  const [removing, setRemoving] = useState<string>()
  const remove = useChange({
    change: (to: string) => api.suppression.remove.mutate({ accountId, ...toRecipientField(to) }),
    invalidates: [suppressionsKey(accountId)],
    done: ({ to }) => t`${showRecipient(to)} removed.`,
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
        title={t`Remove ${showRecipient(removing ?? '')}?`}
        consequence={t`This recipient will receive all messages again, marketing too. Remove them only with their consent. If the recipient stopped marketing messages in WhatsApp, WhatsApp still rejects those messages.`}
        confirmLabel={t`Remove recipient`}
        change={{ isPending: remove.isPending, mutate: () => removing !== undefined && remove.mutate(removing) }}
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
    <DataTable
      visibleFrom="sm"
      verticalSpacing="xs"
      items={items}
      keyOf={({ to, since }) => `${to} ${since}`}
      columns={[
        { title: t`Recipient`, cell: ({ to }) => <Recipient to={to} /> },
        { title: t`Stopped`, cell: ({ allMessages }) => <Stopped allMessages={allMessages} /> },
        { title: t`Reason`, cell: ({ reason }) => <ReasonBadge reason={reason} /> },
        { title: t`Since`, cell: ({ since }) => <LogTime at={since} />, td: () => ({ c: 'dimmed' }) },
        { title: t`Added by`, cell: showAddedBy, td: () => ({ style: { overflowWrap: 'anywhere' } }) },
        onRemove !== undefined && {
          title: <VisuallyHidden>{t`Actions`}</VisuallyHidden>,
          cell: ({ to }) => <RemoveButton to={to === erasedRecipient ? searched : to} onRemove={onRemove} />,
          td: () => ({ ta: 'right' }),
        },
      ]}
    />
  )
}

/** The list on a phone. */
function NarrowList({ items, searched, onRemove }: EntriesProps) {
  return (
    <Stack hiddenFrom="sm" gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
      {items.map(({ to, reason, since, allMessages, ...by }) => (
        <Group
          key={`${to} ${since}`}
          component="li"
          justify="space-between"
          align="flex-start"
          wrap="nowrap"
          py="sm"
          style={{ borderTop: '1px solid var(--waybill-line)' }}
        >
          <Stack gap={4}>
            <Text size="sm" component="div">
              <Recipient to={to} />
            </Text>
            <ReasonBadge reason={reason} />
            <Text size="xs" c="dimmed">
              <Stopped allMessages={allMessages} /> · <LogTime at={since} />
            </Text>
            {by.addedBy !== undefined && (
              <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                <Trans>Added by {showAddedBy(by)}</Trans>
              </Text>
            )}
          </Stack>
          {onRemove && <RemoveButton to={to === erasedRecipient ? searched : to} onRemove={onRemove} />}
        </Group>
      ))}
    </Stack>
  )
}

function Recipient({ to }: Pick<UserSuppression, 'to'>) {
  if (to !== erasedRecipient) return showRecipient(to)
  return (
    <Tooltip label={t`The number was erased; only its keyed hash is kept. To remove the entry, search for the number.`}>
      <Text component="span" size="sm" c="dimmed" tabIndex={0}>{t`Erased`}</Text>
    </Tooltip>
  )
}

/** The messages that the recipient no longer receives. */
function Stopped({ allMessages }: Pick<UserSuppression, 'allMessages'>) {
  const categories = useStoppedCategories().data?.categories
  if (allMessages) return t`All messages`
  return categories && nameCategories(categories)
}

function showAddedBy({ addedBy, facts }: Pick<UserSuppression, 'addedBy' | 'facts'>): string | undefined {
  return addedBy === undefined ? undefined : sayFact(facts?.['addedBy'], addedBy)
}

function ReasonBadge({ reason }: Pick<UserSuppression, 'reason'>) {
  return <LabelBadge>{translate(reasons[reason])}</LabelBadge>
}

function RemoveButton({ to, onRemove }: { to: string | undefined; onRemove: (to: string) => void }) {
  if (to === undefined) return null
  return (
    <Button
      variant="subtle"
      color="gray"
      size="compact-sm"
      icon={IconTrash}
      aria-label={t`Remove ${showRecipient(to)}`}
      onClick={() => onRemove(to)}
    >
      {t`Remove`}
    </Button>
  )
}

import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { ActionIcon, Button, Group, Kbd, Stack, Switch, Table, Text, Tooltip } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconKeyboard, IconMessages } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { sendMessage } from '../../../../contracts/api/message.ts'
import type { MessageCount } from '../../../../contracts/dashboard/message.ts'
import { api } from '../../api/client.ts'
import { logPageSize, useLog } from '../../api/use-log.ts'
import { translate } from '../../language/i18n.ts'
import { useAccount } from '../../session/session.ts'
import { CodeBlock } from '../../ui/copy.tsx'
import { Modal } from '../../ui/dialog.tsx'
import { NoMatches, OnlyNewestSearched } from '../../ui/log.tsx'
import { PageHeader, Section } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert, LoadMore } from '../../ui/placeholders.tsx'
import { TableSkeleton } from '../../ui/skeletons.tsx'
import { NextStepButton } from '../getting-started/getting-started.tsx'
import { countQuery, ExportButton } from './export-button.tsx'
import { FailureReasons } from './failure-reasons.tsx'
import { FilterBar } from './filter-bar.tsx'
import { shortcuts, useShortcutsSetting } from './log-keys.ts'
import { isAboutFailures, isFiltered, type MessageFilters, noFilters, toListInput } from './message-filters.ts'
import { MessagePanel, useIsBeside } from './message/message-panel.tsx'
import styles from './messages-page.module.css'
import { MessagesTable } from './messages-table.tsx'
import { useLogAddress, useLogNavigation } from './use-log-address.ts'
import { ViewsMenu } from './views.tsx'
import { TextLink } from '../../ui/button.tsx'

/** Minimum width at which the table's columns fit next to the panel. */
const screenForColumns = '(min-width: 106em)'

export function MessagesPage() {
  const { accountId, viewedUntil } = useAccount()
  const address = useLogAddress()
  const { filters, openedId, change } = address
  const isBeside = useIsBeside() && openedId !== undefined
  const asList = !useMediaQuery(screenForColumns, true, { getInitialValueInEffect: false }) && isBeside
  const { log, more } = useLog(['messages', accountId, filters], (page, options) =>
    api.message.list.query({ accountId, ...toListInput(filters, new Date()), ...page }, options),
  )
  const messages = log.data?.pages.flatMap(({ items }) => items) ?? []
  const { matched, lookedFor } = log.data?.pages[0] ?? {}
  const isEmpty = log.isSuccess && messages.length === 0 && !log.isPlaceholderData
  const hasNone = isEmpty && !isFiltered(filters) && filters.range === 'any'
  const { list, search, help } = useLogNavigation(address, asList)
  return (
    <div className={isBeside ? styles['beside'] : undefined}>
      <PageHeader
        title={t`Messages`}
        description={t`Messages sent through this account, newest first.`}
        actions={
          <>
            {!hasNone && <ShortcutsButton {...help} />}
            {viewedUntil === undefined && (log.isPending || messages.length > 0 || log.hasNextPage) && (
              <ExportButton filters={filters} />
            )}
          </>
        }
      />
      {!hasNone && <FilterBar filters={filters} onChange={change} searchRef={search} />}
      {!hasNone && isAboutFailures(filters) && (
        <FailureReasons filters={filters} onSelect={(errorCode) => change({ errorCode })} />
      )}
      {log.isError && <ErrorAlert error={log.error} onRetry={() => log.refetch()} />}
      {hasNone && <NoMessagesYet />}
      {lookedFor !== undefined && (
        <Text size="sm" c="dimmed" mb="xs">
          <Trans>Searched numbers for {lookedFor}, without the leading zeros.</Trans>
        </Text>
      )}
      {!hasNone && (
        <Group justify="space-between" gap="xs" mb="xs" mih={30}>
          {messages.length > 0 && <Count accountId={accountId} filters={filters} shown={messages.length} />}
          <Group gap="xs" ml="auto">
            {messages.length > 0 && <ExactMatch matched={matched} onSearchParts={() => change({ parts: 'yes' })} />}
            <ViewsMenu filters={filters} onApply={change} />
          </Group>
        </Group>
      )}
      {log.isPending && <TableSkeleton rows={16} columns={6} />}
      {isEmpty && !hasNone && (
        <NoMatches of="messages" among={log.hasNextPage ? 'newest' : 'all'} onClear={() => change(noFilters)}>
          <Trans>
            The search finds parts of phone numbers, external IDs and template names, the start of a message ID, and
            complete wamids.
          </Trans>
        </NoMatches>
      )}
      {messages.length > 0 && (
        <MessagesTable ref={list} messages={messages} stale={log.isPlaceholderData} asList={asList} address={address} />
      )}
      {messages.length > 0 && messages.length < logPageSize && log.hasNextPage && <OnlyNewestSearched of="messages" />}
      <LoadMore query={more} />
      {openedId !== undefined && <MessagePanel messageId={openedId} onClose={address.close} onShow={address.open} />}
    </div>
  )
}

const countRefreshMilliseconds = 30_000

interface CountProps {
  accountId: string
  filters: MessageFilters
  /** Number of messages in the table, which can be newer than the count. */
  shown: number
}

/** The number of matching messages. */
function Count({ accountId, filters, shown }: CountProps) {
  const { data } = useQuery({ ...countQuery(accountId, filters), refetchInterval: countRefreshMilliseconds })
  return (
    <Text size="sm" c="dimmed" role="status">
      {data && describeCount({ ...data, count: Math.max(data.count, shown) })}
    </Text>
  )
}

function describeCount({ count, kind }: MessageCount): string {
  const messages = plural(count, { one: '# message', other: '# messages' })
  switch (kind) {
    case 'exact':
      return messages
    case 'estimate':
      return t`About ${messages} (estimated)`
    case 'minimum':
      return t`At least ${messages}`
  }
}

type Matched = Awaited<ReturnType<typeof api.message.list.query>>['matched']

/** Offers the broader search if only exact matches are listed. */
function ExactMatch({ matched, onSearchParts }: { matched: Matched; onSearchParts: () => void }) {
  if (matched !== 'recipient' && matched !== 'externalId') return null
  return (
    <Text size="sm" c="dimmed" component="div">
      {matched === 'recipient' ? t`Exact matches of the recipient.` : t`Exact matches of the external ID.`}{' '}
      <Button size="compact-xs" variant="subtle" onClick={onSearchParts}>{t`Search for parts instead`}</Button>
    </Text>
  )
}

/** Shown for accounts without messages. */
function NoMessagesYet() {
  const { accountId } = useAccount()
  return (
    <Section title={t`No messages yet`}>
      <EmptyState
        icon={IconMessages}
        title={t`Send your first message`}
        action={
          <Group gap="sm" justify="center">
            <NextStepButton />
            <Button component="a" href="/docs" target="_blank" variant="default">{t`Read the documentation`}</Button>
          </Group>
        }
      >
        <Trans>
          Messages that your application sends through the API appear here with their status. You can also send a test
          message from{' '}
          <TextLink to={`/${accountId}/templates`} inherit underline="always">
            Templates
          </TextLink>
          .{' '}
        </Trans>
      </EmptyState>
      <CodeBlock label={t`Example request`} code={describeSend()} />
    </Section>
  )
}

function describeSend(): string {
  const body = JSON.stringify(sendMessage.example.input, null, 2).replaceAll('\n', '\n  ')
  return `curl ${window.location.origin}${sendMessage.path} \\
  -H "X-API-Key: $WAYBILL_API_KEY" \\
  -H "Content-Type: application/json" \\
  -H "Idempotency-Key: example-1" \\
  -d '${body}'`
}

/** Opens the list of shortcuts, where they can also be turned off. */
function ShortcutsButton({ opened, onOpen, onClose }: { opened: boolean; onOpen: () => void; onClose: () => void }) {
  const { isOn, set } = useShortcutsSetting()
  return (
    <>
      <Tooltip label={t`Keyboard shortcuts (?)`}>
        <ActionIcon visibleFrom="sm" variant="default" size={34} aria-label={t`Keyboard shortcuts`} onClick={onOpen}>
          <IconKeyboard size={18} />
        </ActionIcon>
      </Tooltip>
      <Modal opened={opened} onClose={onClose} title={t`Keyboard shortcuts`} centered size="sm">
        <Stack>
          <Table verticalSpacing={6} horizontalSpacing={0} withRowBorders={false} aria-label={t`Keyboard shortcuts`}>
            <Table.Tbody>
              {shortcuts.map(({ keys, does }) => (
                <Table.Tr key={keys[0]}>
                  <Table.Td>{translate(does)}</Table.Td>
                  <Table.Td>
                    <Group gap={6} justify="flex-end">
                      {keys.map((key) => (
                        <Kbd key={key}>{key}</Kbd>
                      ))}
                    </Group>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
          <Text size="xs" c="dimmed">
            <Trans>Arrow keys work while the focus is in the list. No shortcut works while you type in a field.</Trans>
          </Text>
          <Switch
            label={t`Use shortcuts of a single character`}
            checked={isOn}
            onChange={({ currentTarget: { checked } }) => set(checked)}
          />
        </Stack>
      </Modal>
    </>
  )
}

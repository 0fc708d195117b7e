import type { MessageDescriptor } from '@lingui/core'
import { msg, plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { ActionIcon, Anchor, Box, Group, Menu, Select, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconBuilding, IconDots, IconEye, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { translate } from '../../language/i18n.ts'
import { type AccountOrder, accountOrders, type ConsoleAccount } from '../../../../contracts/dashboard/console.ts'
import { operatorApi } from '../../api/client.ts'
import { usePages } from '../../api/use-log.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import type { Tone } from '../../ui/tone.ts'
import { DataTable, tabular } from '../../ui/data-table.tsx'
import { SearchInput } from '../../ui/filters.tsx'
import { Section } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert, LoadMore } from '../../ui/placeholders.tsx'
import { TableSkeleton } from '../../ui/skeletons.tsx'
import { describeDuration } from '../../ui/time.ts'
import { formatNumber } from '../../language/format.ts'
import { consoleAccountsKey, consoleKey, describeShare } from './use-console.ts'
import { useChange } from '../../api/use-change.ts'
import { sessionKey } from '../../session/session.ts'
import { ConfirmModal } from '../../ui/dialog.tsx'

const pauseMilliseconds = 300
const refreshMilliseconds = 15_000

const orderLabels = {
  newest: msg`Newest first`,
  failed: msg`Most failures first`,
  lag: msg`Longest lag first`,
} satisfies Record<AccountOrder, MessageDescriptor>

export function AccountsSection() {
  const [order, setOrder] = useState<AccountOrder>('newest')
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text.trim(), pauseMilliseconds)
  const [action, setAction] = useState<AccountAction>()
  const accounts = usePages(
    [...consoleAccountsKey, search, order],
    (page, options) => operatorApi.account.list.query({ order, ...(search !== '' && { search }), ...page }, options),
    { refreshMilliseconds },
  )
  const items = dedupe(accounts.data?.pages.flatMap((page) => page.items) ?? [])
  return (
    <Section
      title={t`Accounts`}
      description={t`With the messages of the last 24 hours.`}
      actions={
        <>
          <Select
            aria-label={t`Order of accounts`}
            data={accountOrders.map((value) => ({ value, label: translate(orderLabels[value]) }))}
            value={order}
            allowDeselect={false}
            w={190}
            onChange={(chosen) => setOrder(accountOrders.find((one) => one === chosen) ?? 'newest')}
          />
          <SearchInput
            aria-label={t`Search accounts`}
            placeholder={t`Name or account ID`}
            value={text}
            maxLength={200}
            onChange={setText}
          />
        </>
      }
    >
      {accounts.isPending && <TableSkeleton rows={5} />}
      {accounts.isError && <ErrorAlert error={accounts.error} onRetry={() => accounts.refetch()} />}
      {accounts.isSuccess && !accounts.isPlaceholderData && items.length === 0 && (
        <EmptyState icon={IconBuilding} title={search === '' ? t`No accounts` : t`No matching accounts`} />
      )}
      {items.length > 0 && (
        <>
          <WideTable items={items} onAction={setAction} />
          <NarrowList items={items} onAction={setAction} />
        </>
      )}
      <LoadMore query={accounts} />
      {action && <AccountActionModal action={action} onClose={() => setAction(undefined)} />}
    </Section>
  )
}

/** Removes duplicates: an account can move to a later page between two requests. */
function dedupe(items: ConsoleAccount[]): ConsoleAccount[] {
  return [...new Map(items.map((item) => [item.accountId, item])).values()]
}

interface EntriesProps {
  items: ConsoleAccount[]
  onAction: (action: AccountAction) => void
}

function WideTable({ items, onAction }: EntriesProps) {
  return (
    <DataTable
      visibleFrom="sm"
      verticalSpacing="xs"
      style={tabular}
      items={items}
      keyOf={({ accountId }) => accountId}
      columns={[
        { title: t`Account`, cell: (account) => <Name account={account} onAction={onAction} /> },
        { title: t`Health`, cell: (account) => <Health account={account} /> },
        { title: t`Messages`, ta: 'right', cell: ({ messages }) => formatNumber(messages.total) },
        {
          title: t({ message: 'Failed', context: 'number of messages' }),
          ta: 'right',
          cell: (account) => <Failed account={account} />,
        },
        { title: t`Delivery lag`, ta: 'right', cell: describeLag },
        { 'aria-label': t`Actions`, w: 44, cell: (account) => <Actions account={account} onAction={onAction} /> },
      ]}
    />
  )
}

function NarrowList({ items, onAction }: EntriesProps) {
  return (
    <Stack hiddenFrom="sm" gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
      {items.map((account) => (
        <Box key={account.accountId} component="li" py="sm" style={{ borderTop: '1px solid var(--waybill-line)' }}>
          <Group justify="space-between" align="flex-start" wrap="nowrap" gap="sm">
            <Box miw={0}>
              <Name account={account} onAction={onAction} />
            </Box>
            <Actions account={account} onAction={onAction} />
          </Group>
          <Box mt={6}>
            <Health account={account} />
          </Box>
          <Text size="xs" c="dimmed" mt={6}>
            {describeActivity(account)}
          </Text>
        </Box>
      ))}
    </Stack>
  )
}

function Name({ account, onAction }: { account: ConsoleAccount; onAction: EntriesProps['onAction'] }) {
  return (
    <>
      <Anchor
        component="button"
        type="button"
        ta="left"
        fz="sm"
        fw={500}
        style={{ overflowWrap: 'anywhere' }}
        onClick={() => onAction({ kind: 'view', account })}
      >
        {account.name}
      </Anchor>
      <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
        {account.accountId}
      </Text>
    </>
  )
}

/** Lists the problems of an account, worst first. */
function listProblems({ suspendedAt, apiEnabled, whatsAppAccounts, endpoints }: ConsoleAccount) {
  const problems: { tone: Tone; label: string }[] = []
  if (suspendedAt !== undefined) problems.push({ tone: 'bad', label: t`Suspended` })
  if (whatsAppAccounts.withProblems > 0)
    problems.push({
      tone: 'bad',
      label: plural(whatsAppAccounts.withProblems, { one: '# number with problems', other: '# numbers with problems' }),
    })
  if (endpoints.failing > 0)
    problems.push({
      tone: 'warning',
      label: plural(endpoints.failing, { one: '# failing endpoint', other: '# failing endpoints' }),
    })
  if (!apiEnabled) problems.push({ tone: 'neutral', label: t`API disabled` })
  if (whatsAppAccounts.total === 0) problems.push({ tone: 'neutral', label: t`No number` })
  return problems
}

function Health({ account }: { account: ConsoleAccount }) {
  const problems = listProblems(account)
  return (
    <Group gap={6}>
      {problems.length === 0 && <StatusBadge tone="good">{t`Healthy`}</StatusBadge>}
      {problems.map(({ tone, label }) => (
        <StatusBadge key={label} tone={tone}>
          {label}
        </StatusBadge>
      ))}
    </Group>
  )
}

function Failed({ account: { messages } }: { account: ConsoleAccount }) {
  return (
    <>
      {formatNumber(messages.failed)}{' '}
      {messages.failed > 0 && (
        <Text span size="xs" c="dimmed">
          {describeShare(messages.failed, messages.total)}
        </Text>
      )}
    </>
  )
}

function describeActivity(account: ConsoleAccount): string {
  const { total, failed } = account.messages
  const messages = plural(total, { one: '# message', other: '# messages' })
  return t`${messages} · ${formatNumber(failed)} failed · delivery lag ${describeLag(account).toLowerCase()}`
}

function describeLag({ endpoints: { lagSeconds } }: ConsoleAccount): string {
  return lagSeconds === undefined || lagSeconds < 1 ? t`None` : describeDuration(1000 * lagSeconds)
}

function Actions({ account, onAction }: { account: ConsoleAccount; onAction: EntriesProps['onAction'] }) {
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t`Actions for ${account.name}`}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconEye size={16} />} onClick={() => onAction({ kind: 'view', account })}>
          <Trans>View account</Trans>
        </Menu.Item>
        {account.suspendedAt === undefined ? (
          <Menu.Item leftSection={<IconPlayerPause size={16} />} onClick={() => onAction({ kind: 'suspend', account })}>
            <Trans>Suspend</Trans>
          </Menu.Item>
        ) : (
          <Menu.Item leftSection={<IconPlayerPlay size={16} />} onClick={() => onAction({ kind: 'resume', account })}>
            <Trans>Resume</Trans>
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

interface AccountAction {
  kind: 'view' | 'suspend' | 'resume'
  account: ConsoleAccount
}

/** Explains an action and asks for confirmation. */
function AccountActionModal({ action, onClose }: { action: AccountAction; onClose: () => void }) {
  const { kind, account } = action
  const { accountId } = account
  const { done, ...texts } = describe(action)
  const navigate = useNavigate()
  const act = useChange({
    change: (): Promise<unknown> => operatorApi.account[kind].mutate({ accountId }),
    invalidates: kind === 'view' ? [sessionKey] : [consoleKey, sessionKey],
    ...(done !== undefined && { done }),
    onDone: () => (kind === 'view' ? void navigate(`/${accountId}/overview`) : onClose()),
  })
  return (
    <ConfirmModal opened onClose={onClose} {...texts} color={kind === 'suspend' ? 'red.9' : 'waybill'} change={act} />
  )
}

function describe({ kind, account: { name } }: AccountAction) {
  switch (kind) {
    case 'view':
      return {
        title: t`View ${name}?`,
        consequence: t`You can read this account for one hour, including the phone numbers of recipients. You cannot change it, and secrets stay hidden. The audit log shows its members that you opened it, with your email address.`,
        confirmLabel: t`View account`,
        done: undefined,
      }
    case 'suspend':
      return {
        title: t`Suspend ${name}?`,
        consequence: t`Its API key and all its sends are rejected at once, until an operator resumes the account. Members can still sign in and read, and statuses of earlier messages are still delivered.`,
        confirmLabel: t`Suspend account`,
        done: t`${name} is suspended.`,
      }
    case 'resume':
      return {
        title: t`Resume ${name}?`,
        consequence: t`Its API key and its sends work again at once.`,
        confirmLabel: t`Resume account`,
        done: t`${name} is resumed.`,
      }
  }
}

import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Group, Paper, Select, SimpleGrid, Text } from '@mantine/core'
import { IconBrandWhatsapp, IconInfoCircle, IconPlus, IconRefresh, IconSearch, IconTemplate } from '@tabler/icons-react'
import { useState } from 'react'
import type { OwnTemplate } from '../../../../contracts/dashboard/template.ts'
import type { WhatsAppAccount } from '../../../../contracts/dashboard/whatsapp-account.ts'
import { dayMilliseconds } from '../../../../contracts/time.ts'
import { formatNumber } from '../../language/format.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton, LinkButton } from '../../ui/button.tsx'
import { CollapsibleFilters, FilterRow, SearchInput } from '../../ui/filters.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { PageHeader } from '../../ui/page.tsx'
import { nameNumber } from '../../ui/phone-number.ts'
import { EmptyState, ErrorAlert } from '../../ui/placeholders.tsx'
import { TableSkeleton } from '../../ui/skeletons.tsx'
import { useWhatsAppAccounts } from '../whatsapp-accounts/use-whatsapp-accounts.ts'
import { TemplateDrawer } from './template-drawer.tsx'
import { TemplateList } from './template-list.tsx'
import { describeStatus } from './template-status.ts'
import { type SyncResult, useSync, useTemplateLinks, useTemplates } from './use-templates.ts'

export function TemplatesPage() {
  const { canChange } = useAccount()
  const accounts = useWhatsAppAccounts()
  const hasAccount = accounts.data !== undefined && accounts.data.length > 0
  return (
    <>
      <PageHeader
        title={t`Templates`}
        description={
          canChange
            ? t`Message templates and their approval status.`
            : t`Message templates and their approval status. Owners create and test them.`
        }
        actions={hasAccount ? <Actions /> : undefined}
      />
      {accounts.isPending && <TableSkeleton columns={4} />}
      {accounts.isError && <ErrorAlert error={accounts.error} onRetry={() => accounts.refetch()} />}
      {accounts.data?.length === 0 && <NoAccount />}
      {hasAccount && <Templates accounts={accounts.data} />}
    </>
  )
}

function NoAccount() {
  const { accountId } = useAccount()
  return (
    <EmptyState
      icon={IconBrandWhatsapp}
      title={t`No WhatsApp account yet`}
      action={<LinkButton to={`/${accountId}/whatsapp-accounts`}>{t`Go to WhatsApp accounts`}</LinkButton>}
    >
      <Trans>Templates belong to a WhatsApp account. Add an account to sync its templates.</Trans>
    </EmptyState>
  )
}

/** The templates of the selected WhatsApp account, and the open template. */
function Templates({ accounts }: { accounts: WhatsAppAccount[] }) {
  const links = useTemplateLinks()
  const templates = useTemplates(links.whatsAppAccountId)
  const [filter, setFilter] = useState<TemplateFilter>({ name: '', status: null })
  const loaded = templates.data?.items ?? []
  const found = filterTemplates(loaded, filter)
  return (
    <>
      <TemplateFilters
        accounts={accounts}
        chosen={links.whatsAppAccountId}
        onChoose={links.chooseAccount}
        templates={loaded}
        filter={filter}
        onFilter={setFilter}
      />
      {templates.isPending && <TableSkeleton rows={16} columns={4} />}
      {templates.isError && <ErrorAlert error={templates.error} onRetry={() => templates.refetch()} />}
      {templates.isSuccess && loaded.length === 0 && (
        <EmptyState icon={IconTemplate} title={t`No templates yet`}>
          <Trans>Sync to load them from WhatsApp, or create one.</Trans>
        </EmptyState>
      )}
      {templates.data?.isCut && (
        <Alert color="gray" icon={<IconInfoCircle />} mb="md">
          <Trans>Only the first {formatNumber(loaded.length)} templates are shown.</Trans>
        </Alert>
      )}
      {loaded.length > 0 && (
        <Group justify="space-between" gap="xs" mb="xs" mih={30}>
          <Text size="sm" c="dimmed">
            {describeCount(found.length, loaded.length)}
          </Text>
          <SyncTime at={templates.data?.syncedAt} />
        </Group>
      )}
      {loaded.length > 0 && found.length === 0 && (
        <EmptyState icon={IconSearch} title={t`No matching templates`}>{t`Try another name or status.`}</EmptyState>
      )}
      {found.length > 0 && (
        <Paper withBorder>
          <TemplateList key={`${filter.name} ${filter.status}`} templates={found} linkTo={links.linkTo} />
        </Paper>
      )}
      {templates.data && (
        <TemplateDrawer
          opened={links.opened}
          templates={loaded}
          whatsAppAccountId={links.whatsAppAccountId}
          onClose={links.close}
        />
      )}
    </>
  )
}

function describeCount(found: number, loaded: number): string {
  const all = plural(loaded, { one: '# template', other: '# templates' })
  return found === loaded ? all : t`${formatNumber(found)} of ${all}`
}

function Actions() {
  const sync = useSync({ done: describe })
  const { accountId, canChange } = useAccount()
  const { whatsAppAccountId } = useTemplateLinks()
  const newTemplate = `/${accountId}/templates/new${whatsAppAccountId === undefined ? '' : `?account=${whatsAppAccountId}`}`
  return (
    <>
      <ChangeButton variant="default" icon={IconRefresh} change={sync}>{t`Sync now`}</ChangeButton>
      {canChange && <LinkButton to={newTemplate} icon={IconPlus}>{t`New template`}</LinkButton>}
    </>
  )
}

/** The time of the last sync. */
function SyncTime({ at }: { at: string | undefined }) {
  if (at === undefined) return null
  return (
    <Text size="sm" c="dimmed">
      <Trans>
        Last synced <DateTime at={at} />
      </Trans>
      {isOld(at) && ` · ${t`may be out of date`}`}
    </Text>
  )
}

const oldMilliseconds = 7 * dayMilliseconds

/** WhatsApp reports most changes by callback, but only a sync recovers a lost callback. */
function isOld(syncedAt: string): boolean {
  return Date.now() - Date.parse(syncedAt) > oldMilliseconds
}

function describe({ synced, approved }: SyncResult): string {
  if (synced === 0) return t`WhatsApp has no templates for this account.`
  return plural(synced, {
    one: `Synced # template from WhatsApp, ${approved} approved.`,
    other: `Synced # templates from WhatsApp, ${approved} approved.`,
  })
}

/** Lower case, so that it cannot be a WhatsApp status. */
const all = 'all'

interface TemplateFiltersProps {
  accounts: WhatsAppAccount[]
  /** Undefined for the default account. */
  chosen: string | undefined
  onChoose: (whatsAppAccountId: string) => void
  templates: OwnTemplate[]
  filter: TemplateFilter
  onFilter: (filter: TemplateFilter) => void
}

function TemplateFilters({ accounts, chosen, onChoose, templates, filter, onFilter }: TemplateFiltersProps) {
  const statuses = [...countStatuses(templates)].map(([status, count]) => ({
    value: status,
    label: `${describeStatus(status).label} (${count})`,
  }))
  const isOther = accounts.some(({ whatsAppAccountId, isDefault }) => whatsAppAccountId === chosen && !isDefault)
  return (
    <FilterRow>
      <SearchInput
        flex="1 1 300px"
        label={t`Search by name`}
        placeholder={t`Such as order_shipped`}
        value={filter.name}
        onChange={(name) => onFilter({ ...filter, name })}
      />
      <CollapsibleFilters isBeside active={Number(filter.status !== null) + Number(isOther)}>
        <SimpleGrid cols={{ base: 1, xs: accounts.length > 1 ? 2 : 1 }} spacing="sm">
          {accounts.length > 1 && <AccountSelect accounts={accounts} chosen={chosen} onChoose={onChoose} />}
          <Select
            label={t`Status`}
            data={[{ value: all, label: t`All` }, ...statuses]}
            value={filter.status ?? all}
            onChange={(status) => onFilter({ ...filter, status: status === all ? null : status })}
            allowDeselect={false}
          />
        </SimpleGrid>
      </CollapsibleFilters>
    </FilterRow>
  )
}

function AccountSelect({ accounts, chosen, onChoose }: Pick<TemplateFiltersProps, 'accounts' | 'chosen' | 'onChoose'>) {
  return (
    <Select
      label={t`WhatsApp account`}
      data={accounts.map((account) => {
        const name = nameNumber(account)
        return { value: account.whatsAppAccountId, label: account.isDefault ? t`${name} (default)` : name }
      })}
      value={chosen ?? accounts.find(({ isDefault }) => isDefault)?.whatsAppAccountId ?? null}
      onChange={(id) => id !== null && onChoose(id)}
      allowDeselect={false}
    />
  )
}

interface TemplateFilter {
  name: string
  /** A WhatsApp status, or null for all. */
  status: string | null
}

function filterTemplates(templates: OwnTemplate[], { name, status }: TemplateFilter): OwnTemplate[] {
  // Template names have underscores where users type spaces.
  const wanted = name.trim().toLowerCase().replaceAll(' ', '_')
  return templates.filter(
    (template) => (status === null || template.status === status) && template.name.toLowerCase().includes(wanted),
  )
}

/** The number of templates by status. */
function countStatuses(templates: OwnTemplate[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { status } of templates) counts.set(status, (counts.get(status) ?? 0) + 1)
  return counts
}

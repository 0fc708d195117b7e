import { dayMilliseconds } from '../../../../contracts/time.ts'
import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Button, Paper, Text } from '@mantine/core'
import { IconBrandWhatsapp, IconInfoCircle, IconPlus, IconRefresh, IconSearch, IconTemplate } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { formatNumber } from '../../language/format.ts'
import type { WhatsAppAccount } from '../../../../contracts/dashboard/whatsapp-account.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { PageHeader } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert } from '../../ui/placeholders.tsx'
import { TableSkeleton } from '../../ui/skeletons.tsx'
import { useWhatsAppAccounts } from '../whatsapp-accounts/use-whatsapp-accounts.ts'
import { TemplateDrawer } from './template-drawer.tsx'
import { filterTemplates, type TemplateFilter, TemplateFilters } from './template-filters.tsx'
import { TemplateList } from './template-list.tsx'
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
            ? t`Message templates and their approval status. Create, preview and test them here.`
            : t`Message templates and their approval status. Owners create and test them.`
        }
        actions={hasAccount ? <SyncStatus /> : undefined}
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
      action={
        <Button component={Link} to={`/${accountId}/whatsapp-accounts`}>
          <Trans>Go to WhatsApp accounts</Trans>
        </Button>
      }
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
      {templates.isPending && <TableSkeleton columns={4} />}
      {templates.isError && <ErrorAlert error={templates.error} onRetry={() => templates.refetch()} />}
      {templates.isSuccess && loaded.length === 0 && <NoTemplates />}
      {templates.data?.isCut && (
        <Alert color="gray" icon={<IconInfoCircle />} mb="md">
          <Trans>Only the first {formatNumber(loaded.length)} templates are shown.</Trans>
        </Alert>
      )}
      {loaded.length > 0 && found.length === 0 && (
        <EmptyState icon={IconSearch} title={t`No matching templates`}>
          <Trans>Try another name or status.</Trans>
        </EmptyState>
      )}
      {found.length > 0 && (
        <Paper withBorder>
          <TemplateList key={`${filter.name} ${filter.status}`} templates={found} linkTo={links.linkTo} />
        </Paper>
      )}
      {loaded.length > 0 && (
        <Text size="sm" c="dimmed" mt="sm">
          {describeCount(found.length, loaded.length)}
        </Text>
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

function NoTemplates() {
  return (
    <EmptyState icon={IconTemplate} title={t`No templates yet`}>
      <Trans>Sync to load them from WhatsApp, or create one.</Trans>
    </EmptyState>
  )
}

/** The time of the last sync and a button to sync now. */
function SyncStatus() {
  const sync = useSync({ done: describe })
  const { accountId, canChange } = useAccount()
  const { whatsAppAccountId } = useTemplateLinks()
  const newTemplate = `/${accountId}/templates/new${whatsAppAccountId === undefined ? '' : `?account=${whatsAppAccountId}`}`
  const syncedAt = useTemplates(whatsAppAccountId).data?.syncedAt
  return (
    <>
      {syncedAt !== undefined && (
        <Text size="sm" c="dimmed">
          <Trans>
            Last synced <DateTime at={syncedAt} />
          </Trans>
          {isOld(syncedAt) && ` · ${t`may be out of date`}`}
        </Text>
      )}
      <ChangeButton
        variant="default"
        leftSection={<IconRefresh size={16} />}
        loading={sync.isPending}
        onClick={() => sync.mutate()}
      >
        <Trans>Sync now</Trans>
      </ChangeButton>
      {canChange && (
        <Button component={Link} to={newTemplate} leftSection={<IconPlus size={16} />}>
          <Trans>New template</Trans>
        </Button>
      )}
    </>
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

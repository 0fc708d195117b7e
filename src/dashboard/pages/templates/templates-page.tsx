import { Alert, Button, Paper, Text } from '@mantine/core'
import { IconBrandWhatsapp, IconInfoCircle, IconPlus, IconRefresh, IconSearch, IconTemplate } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'react-router'
import type { WhatsAppAccount } from '../../../../contracts/dashboard/whatsapp-account.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { PageHeader } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { useWhatsAppAccounts } from '../whatsapp-accounts/use-whatsapp-accounts.ts'
import { TemplateDrawer } from './template-drawer.tsx'
import { filterTemplates, type TemplateFilter, TemplateFilters } from './template-filters.tsx'
import { TemplateList } from './template-list.tsx'
import { type SyncResult, useSync, useTemplateLinks, useTemplates } from './use-templates.ts'

export function TemplatesPage() {
  const accounts = useWhatsAppAccounts()
  const hasAccount = accounts.data !== undefined && accounts.data.length > 0
  return (
    <>
      <PageHeader
        title="Templates"
        description="Message templates and their approval status. Create, preview and test them here."
        actions={hasAccount ? <SyncStatus /> : undefined}
      />
      {accounts.isPending && <LoadingSkeleton lines={6} />}
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
      title="No WhatsApp account yet"
      action={
        <Button component={Link} to={`/${accountId}/whatsapp-accounts`}>
          Go to WhatsApp accounts
        </Button>
      }
    >
      Templates belong to a WhatsApp account. Add an account to sync its templates.
    </EmptyState>
  )
}

/** The templates of the selected WhatsApp account, with the open template. */
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
      {templates.isPending && <LoadingSkeleton lines={8} />}
      {templates.isError && <ErrorAlert error={templates.error} onRetry={() => templates.refetch()} />}
      {templates.isSuccess && loaded.length === 0 && <NoTemplates />}
      {templates.data?.isCut && (
        <Alert color="gray" icon={<IconInfoCircle />} mb="md">
          Only the first {loaded.length.toLocaleString('en')} templates are shown.
        </Alert>
      )}
      {loaded.length > 0 && found.length === 0 && (
        <EmptyState icon={IconSearch} title="No matching templates">
          Try another name or status.
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
  const all = `${loaded.toLocaleString('en')} ${loaded === 1 ? 'template' : 'templates'}`
  return found === loaded ? all : `${found.toLocaleString('en')} of ${all}`
}

function NoTemplates() {
  return (
    <EmptyState icon={IconTemplate} title="No templates yet">
      Sync to load them from WhatsApp, or create one.
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
          Last synced <DateTime at={syncedAt} />
        </Text>
      )}
      <ChangeButton
        variant="default"
        leftSection={<IconRefresh size={16} />}
        loading={sync.isPending}
        onClick={() => sync.mutate()}
      >
        Sync now
      </ChangeButton>
      {canChange && (
        <Button component={Link} to={newTemplate} leftSection={<IconPlus size={16} />}>
          New template
        </Button>
      )}
    </>
  )
}

function describe({ synced, approved }: SyncResult): string {
  if (synced === 0) return 'WhatsApp has no templates for this account.'
  return `Synced ${synced} ${synced === 1 ? 'template' : 'templates'} from WhatsApp, ${approved} approved.`
}

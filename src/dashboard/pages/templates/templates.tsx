import { Alert, Paper, Text } from '@mantine/core'
import { IconInfoCircle, IconSearch, IconTemplate } from '@tabler/icons-react'
import { useState } from 'react'
import type { WhatsAppAccount } from '../../../../contracts/dashboard/whatsapp-account.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { LoadingSkeleton } from '../../ui/loading-skeleton.tsx'
import { filterTemplates, type TemplateFilter } from './filter-templates.ts'
import { TemplateDrawer } from './template-drawer.tsx'
import { TemplateFilters } from './template-filters.tsx'
import { TemplateList } from './template-list.tsx'
import { useTemplateLinks } from './use-template-links.ts'
import { useTemplates } from './use-templates.ts'

/** The templates of one of these WhatsApp accounts, and the one that is open. */
export function Templates({ accounts }: { accounts: WhatsAppAccount[] }) {
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
      {templates.isError && <ErrorAlert error={templates.error} onRetry={() => void templates.refetch()} />}
      {templates.isSuccess && loaded.length === 0 && <NoTemplates />}
      {templates.data?.isCut && (
        <Alert color="gray" icon={<IconInfoCircle />} mb="md">
          There are more templates than are shown here: these are the first {loaded.length.toLocaleString('en')}.
        </Alert>
      )}
      {loaded.length > 0 && found.length === 0 && (
        <EmptyState icon={IconSearch} title="No template matches">
          Try another name or another status.
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
      Sync to read them from WhatsApp. If there are none afterwards, write one in WhatsApp Manager and wait until it is
      approved.
    </EmptyState>
  )
}

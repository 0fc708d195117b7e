import { Button } from '@mantine/core'
import { IconBrandWhatsapp } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useAccount } from '../../session/account.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { LoadingSkeleton } from '../../ui/loading-skeleton.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { useWhatsAppAccounts } from '../whatsapp-accounts/use-whatsapp-accounts.ts'
import { SyncStatus } from './sync-status.tsx'
import { Templates } from './templates.tsx'

export function TemplatesPage() {
  const accounts = useWhatsAppAccounts()
  const hasAccount = accounts.data !== undefined && accounts.data.length > 0
  return (
    <>
      <PageHeader
        title="Templates"
        description="The messages that WhatsApp has approved for you, or not. You write them in Meta’s WhatsApp Manager; here you see how they look and try them."
        actions={hasAccount ? <SyncStatus /> : undefined}
      />
      {accounts.isPending && <LoadingSkeleton lines={6} />}
      {accounts.isError && <ErrorAlert error={accounts.error} onRetry={() => void accounts.refetch()} />}
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
      Templates belong to a WhatsApp account. Add one first, then its templates can be read.
    </EmptyState>
  )
}

import { IconHistory } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { settings } from '../../api/settings.ts'
import { useAccount } from '../../session/account.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { LoadingSkeleton } from '../../ui/loading-skeleton.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { AuditTable } from './audit-table.tsx'

export function AuditLogPage() {
  const { accountId } = useAccount()
  const log = useInfiniteQuery({
    queryKey: ['audit', accountId],
    queryFn: ({ pageParam }) => settings.audit.list.query({ accountId, ...(pageParam && { cursor: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: (page) => page.nextCursor,
  })
  const entries = log.data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <>
      <PageHeader
        title="Audit log"
        description="Changes in this account and sign-ins of its members, with time and address. The newest first."
      />
      {log.isPending && <LoadingSkeleton lines={6} />}
      {log.isError && <ErrorAlert error={log.error} onRetry={() => void log.refetch()} />}
      {log.isSuccess && entries.length === 0 && (
        <EmptyState icon={IconHistory} title="Nothing was changed yet">
          What somebody changes here, or an operator on the command line, is listed on this page.
        </EmptyState>
      )}
      {entries.length > 0 && <AuditTable entries={entries} />}
      <LoadMore query={log} />
    </>
  )
}

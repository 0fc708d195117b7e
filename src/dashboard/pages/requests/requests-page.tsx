import { Button } from '@mantine/core'
import { IconArrowsExchange } from '@tabler/icons-react'
import { useMemo } from 'react'
import { Link, useSearchParams } from 'react-router'
import { api } from '../../api/client.ts'
import { logPageSize, useLog } from '../../api/use-log.ts'
import { useAccount } from '../../session/session.ts'
import { NoMatches, OnlyNewestSearched } from '../../ui/no-matches.tsx'
import { PageHeader } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert, LoadingSkeleton, LoadMore } from '../../ui/placeholders.tsx'
import { FilterBar } from './filter-bar.tsx'
import { RequestDrawer } from './request-drawer.tsx'
import {
  isFiltered,
  noFilters,
  readFilters,
  type RequestFilters,
  toListInput,
  writeFilters,
} from './request-filters.ts'
import { RequestsTable } from './requests-table.tsx'

export function RequestsPage() {
  const { accountId } = useAccount()
  const [search, setSearch] = useSearchParams()
  const filters = useMemo(() => readFilters(search), [search])
  const { log, more } = useLog(['requests', accountId, filters], (page, options) =>
    api.request.list.query({ accountId, ...toListInput(filters, new Date()), ...page }, options),
  )
  const requests = log.data?.pages.flatMap(({ items }) => items) ?? []
  const isEmpty = log.isSuccess && requests.length === 0 && !log.isPlaceholderData
  const show = (changed: RequestFilters) => setSearch(writeFilters(changed), { replace: true })
  const queryOf = (requestId: string) => {
    const query = writeFilters(filters)
    query.set('request', requestId)
    return query.toString()
  }
  return (
    <>
      <PageHeader
        title="API requests"
        description="Calls made with the API key of this account, newest first. They appear about a second after their response."
      />
      <FilterBar filters={filters} onChange={show} />
      {log.isPending && <LoadingSkeleton lines={8} />}
      {log.isError && <ErrorAlert error={log.error} onRetry={() => log.refetch()} />}
      {isEmpty && !isFiltered(filters) && <NoRequestsYet />}
      {isEmpty && isFiltered(filters) && (
        <NoMatches of="requests" among={log.hasNextPage ? 'newest' : 'all'} onClear={() => show(noFilters)}>
          The search takes a complete request ID (header X-Request-Id), message ID or external ID. Requests are kept for
          some days only.
        </NoMatches>
      )}
      {requests.length > 0 && <RequestsTable requests={requests} stale={log.isPlaceholderData} queryOf={queryOf} />}
      {requests.length > 0 && requests.length < logPageSize && log.hasNextPage && <OnlyNewestSearched of="requests" />}
      <LoadMore query={more} />
      <RequestDrawer requestId={search.get('request') ?? undefined} onClose={() => setSearch(writeFilters(filters))} />
    </>
  )
}

function NoRequestsYet() {
  const { accountId } = useAccount()
  return (
    <EmptyState
      icon={IconArrowsExchange}
      title="No requests yet"
      action={
        <Button component={Link} to={`/${accountId}/public-api`}>
          Get an API key
        </Button>
      }
    >
      Calls that your application makes with the API key appear here, with the error if they failed. Calls without a
      valid key belong to no account and are not listed.
    </EmptyState>
  )
}

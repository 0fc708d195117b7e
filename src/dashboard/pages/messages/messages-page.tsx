import { useMemo } from 'react'
import { useSearchParams } from 'react-router'
import { useAccount } from '../../session/account.ts'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { LoadingSkeleton } from '../../ui/loading-skeleton.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { ExportButton } from './export-button.tsx'
import { FilterBar } from './filter-bar.tsx'
import { isFiltered, noFilters, readFilters, writeFilters, type MessageFilters } from './message-filters.ts'
import { MessagesTable } from './messages-table.tsx'
import { NoMessageYet, NothingMatches } from './no-messages.tsx'
import { useMessages } from './use-messages.ts'
import { useSearchOn } from './use-search-on.ts'

export function MessagesPage() {
  const { accountId } = useAccount()
  const [search, setSearch] = useSearchParams()
  const filters = useMemo(() => readFilters(search), [search])
  const show = (filters: MessageFilters) => setSearch(writeFilters(filters), { replace: true })
  const log = useMessages(accountId, filters)
  const searchOn = useSearchOn(log)
  const messages = log.data?.pages.flatMap(({ items }) => items) ?? []
  const isEmpty = log.isSuccess && messages.length === 0 && !log.isPlaceholderData
  const hasNone = isEmpty && !isFiltered(filters) && filters.range === 'any'
  return (
    <>
      <PageHeader
        title="Messages"
        description="What your application sent and what became of it, the newest first."
        actions={(messages.length > 0 || log.hasNextPage) && <ExportButton filters={filters} />}
      />
      {!hasNone && <FilterBar filters={filters} onChange={show} />}
      {log.isPending && <LoadingSkeleton lines={8} />}
      {log.isError && <ErrorAlert error={log.error} onRetry={() => void log.refetch()} />}
      {hasNone && <NoMessageYet />}
      {isEmpty && !hasNone && (
        <NothingMatches among={log.hasNextPage ? 'newest' : 'all'} onClear={() => show(noFilters)} />
      )}
      {messages.length > 0 && <MessagesTable messages={messages} stale={log.isPlaceholderData} />}
      <LoadMore
        query={{ hasNextPage: log.hasNextPage, isFetchingNextPage: log.isFetchingNextPage, fetchNextPage: searchOn }}
      />
    </>
  )
}

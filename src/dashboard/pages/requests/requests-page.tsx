import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Group, Text } from '@mantine/core'
import { IconArrowsExchange } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useSearchParams } from 'react-router'
import type { RequestSummary } from '../../../../contracts/dashboard/request.ts'
import { api } from '../../api/client.ts'
import { currentSearch, logPageSize, useLog } from '../../api/use-log.ts'
import { formatList, formatNumber } from '../../language/format.ts'
import { translate } from '../../language/i18n.ts'
import { useAccount } from '../../session/session.ts'
import { NoMatches, OnlyNewestSearched } from '../../ui/log.tsx'
import { PageHeader } from '../../ui/page.tsx'
import { EmptyState, ErrorAlert, LoadMore } from '../../ui/placeholders.tsx'
import { TableSkeleton } from '../../ui/skeletons.tsx'
import { describeDays } from '../../ui/time.ts'
import { NextStepButton } from '../getting-started/getting-started.tsx'
import { FilterBar, outcomeNames } from './filter-bar.tsx'
import { RequestDrawer } from './request-drawer.tsx'
import {
  isFiltered,
  noFilters,
  readFilters,
  type RequestFilters,
  timeRanges,
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
  const summary = useSummary(filters)
  const isEmpty = log.isSuccess && requests.length === 0 && !log.isPlaceholderData
  const change = (changes: Partial<RequestFilters>) =>
    setSearch(writeFilters({ ...readFilters(currentSearch()), ...changes }), { replace: true })
  const queryOf = (requestId: string) => {
    const query = writeFilters(filters)
    query.set('request', requestId)
    return query.toString()
  }
  return (
    <>
      <PageHeader
        title={t`API requests`}
        description={
          <>
            <Trans>Requests with the API key of this account, newest first.</Trans>
            {summary?.keptDays !== undefined && ` ${t`Kept for at least ${describeDays(summary.keptDays)}.`}`}
          </>
        }
      />
      <FilterBar
        filters={filters}
        frequentCodes={summary?.errorCodes.map(({ errorCode }) => errorCode) ?? []}
        onChange={change}
      />
      {summary && (requests.length > 0 || summary.errorCodes.length > 0) && (
        <Summary
          summary={summary}
          shown={log.isPlaceholderData ? 0 : requests.length}
          errorCode={filters.errorCode}
          onFilter={(errorCode) => change({ errorCode })}
        />
      )}
      {log.isPending && <TableSkeleton rows={16} columns={6} />}
      {log.isError && <ErrorAlert error={log.error} onRetry={() => log.refetch()} />}
      {isEmpty && !isFiltered(filters) && <NoRequestsYet />}
      {isEmpty && isFiltered(filters) && (
        <NoMatches of="requests" among={log.hasNextPage ? 'newest' : 'all'} onClear={() => change(noFilters)}>
          <EmptyHint filters={filters} keptDays={summary?.keptDays} />
        </NoMatches>
      )}
      {requests.length > 0 && <RequestsTable requests={requests} stale={log.isPlaceholderData} queryOf={queryOf} />}
      {requests.length > 0 && requests.length < logPageSize && log.hasNextPage && <OnlyNewestSearched of="requests" />}
      <LoadMore query={more} />
      <RequestDrawer
        requestId={search.get('request') ?? undefined}
        onClose={() =>
          // Without an entry in the history, so that the back button does not reopen the request.
          setSearch(writeFilters(readFilters(currentSearch())), { replace: true, preventScrollReset: true })
        }
      />
    </>
  )
}

/** Lists the active filters, because no stored request matches all of them. */
function EmptyHint({ filters, keptDays }: { filters: RequestFilters; keptDays: number | undefined }) {
  const { outcome, range, path, errorCode, search } = filters
  const active = [
    ...(search === '' ? [] : [t`the search “${search}”`]),
    ...(outcome === '' ? [] : [t`the outcome “${translate(outcomeNames[outcome])}”`]),
    ...(range === '' ? [] : [t`the time “${translate(timeRanges[range].label)}”`]),
    ...(path === '' ? [] : [t`the path “${path}”`]),
    ...(errorCode === '' ? [] : [t`the error code “${errorCode}”`]),
  ]
  return (
    <>
      <Trans>No request matches {formatList(active)}.</Trans>{' '}
      {search !== '' && (
        <>
          <Trans>The search takes a complete request ID (header X-Request-Id), message ID or external ID.</Trans>{' '}
        </>
      )}
      {keptDays !== undefined && t`Requests are kept for at least ${describeDays(keptDays)}.`}
    </>
  )
}

function NoRequestsYet() {
  return (
    <EmptyState icon={IconArrowsExchange} title={t`No requests yet`} action={<NextStepButton />}>
      <Trans>
        Requests of your application appear here about a second after their response, with the error if they failed.
        Requests without a valid key belong to no account and are not listed.
      </Trans>
    </EmptyState>
  )
}

const refreshMilliseconds = 30_000

/** The number of requests that match the filters, and their error codes. */
function useSummary(filters: RequestFilters) {
  const { accountId } = useAccount()
  const { data } = useQuery({
    queryKey: ['requests', accountId, 'summary', filters],
    queryFn: ({ signal }) => api.request.summary.query({ accountId, ...toListInput(filters, new Date()) }, { signal }),
    refetchInterval: refreshMilliseconds,
  })
  return data
}

interface SummaryProps {
  summary: RequestSummary
  /** Number of requests in the table, which can be newer than the count. */
  shown: number
  /** The error code that is filtered by. */
  errorCode: string
  onFilter: (errorCode: string) => void
}

/** The number of matching requests, and their error codes as filter buttons. */
function Summary({ summary: { count, isComplete, errorCodes }, shown, errorCode, onFilter }: SummaryProps) {
  const requests = plural(Math.max(count, shown), { one: '# request', other: '# requests' })
  return (
    <Group gap="xs" mb="xs" mih={30}>
      <Text size="sm" c="dimmed" role="status">
        {isComplete ? requests : t`At least ${requests}`}
      </Text>
      {errorCodes.map(({ errorCode: code, count: failed }) => (
        <Button
          key={code}
          size="compact-xs"
          variant={code === errorCode ? 'filled' : 'default'}
          aria-pressed={code === errorCode}
          onClick={() => onFilter(code === errorCode ? '' : code)}
        >
          {code} {formatNumber(failed)}
        </Button>
      ))}
    </Group>
  )
}

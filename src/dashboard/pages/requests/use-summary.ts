import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'
import { type RequestFilters, toListInput } from './request-filters.ts'

const refreshMilliseconds = 30_000

/** The number of requests that match the filters, and their error codes. */
export function useSummary(filters: RequestFilters) {
  const { accountId } = useAccount()
  const { data } = useQuery({
    queryKey: ['requests', accountId, 'summary', filters],
    queryFn: ({ signal }) => api.request.summary.query({ accountId, ...toListInput(filters, new Date()) }, { signal }),
    refetchInterval: refreshMilliseconds,
  })
  return data
}

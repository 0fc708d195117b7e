import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'

export type ApiAccess = Awaited<ReturnType<typeof api.publicApi.get.query>>

/** Short, so that the rate limit display is current. Background tabs do not refresh. */
const refreshMilliseconds = 4000

export function apiAccessKey(accountId: string) {
  return ['publicApi', accountId] as const
}

export function useApiAccess() {
  const { accountId } = useAccount()
  return useQuery({
    queryKey: apiAccessKey(accountId),
    queryFn: () => api.publicApi.get.query({ accountId }),
    refetchInterval: refreshMilliseconds,
  })
}

const recentUseMilliseconds = 60_000

/** The use of the API in the last day; undefined until it is loaded. */
export function useRecentUse() {
  const { accountId } = useAccount()
  const { data } = useQuery({
    queryKey: ['recent-use', accountId],
    queryFn: ({ signal }) => api.publicApi.recentUse.query({ accountId }, { signal }),
    refetchInterval: recentUseMilliseconds,
  })
  return data
}

import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'

const refreshMilliseconds = 60_000

/** The use of the API in the last day; undefined until it is loaded. */
export function useRecentUse() {
  const { accountId } = useAccount()
  const { data } = useQuery({
    queryKey: ['recent-use', accountId],
    queryFn: ({ signal }) => api.publicApi.recentUse.query({ accountId }, { signal }),
    refetchInterval: refreshMilliseconds,
  })
  return data
}

import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'

const refreshMilliseconds = 5_000

/** The prefix of all query keys for endpoints. */
export function webhooksKey(accountId: string) {
  return ['webhooks', accountId]
}

export function useEndpoints(accountId: string, { refreshes = true } = {}) {
  return useQuery({
    queryKey: [...webhooksKey(accountId), 'endpoints'],
    queryFn: ({ signal }) => api.webhook.list.query({ accountId }, { signal }),
    refetchInterval: refreshes && refreshMilliseconds,
  })
}

const activityRefreshMilliseconds = 15_000

/** The attempts of the last 24 hours at all endpoints. */
export function useActivity(accountId: string) {
  return useQuery({
    queryKey: [...webhooksKey(accountId), 'activity'],
    queryFn: ({ signal }) => api.webhook.activity.query({ accountId }, { signal }),
    refetchInterval: activityRefreshMilliseconds,
  })
}

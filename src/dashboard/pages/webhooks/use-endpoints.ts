import { useQuery } from '@tanstack/react-query'
import { settings } from '../../api/settings.ts'

const refreshMilliseconds = 5_000

/** The prefix of all query keys about endpoints. */
export function webhooksKey(accountId: string) {
  return ['webhooks', accountId]
}

export function useEndpoints(accountId: string) {
  return useQuery({
    queryKey: [...webhooksKey(accountId), 'endpoints'],
    queryFn: ({ signal }) => settings.webhook.list.query({ accountId }, { signal }),
    refetchInterval: refreshMilliseconds,
  })
}

import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'

/** The prefix of all query keys about the alerts of an account. */
export function alertsKey(accountId: string) {
  return ['alerts', accountId]
}

export function useAlertSettings() {
  const { accountId } = useAccount()
  return useQuery({
    queryKey: [...alertsKey(accountId), 'settings'],
    queryFn: ({ signal }) => api.alert.get.query({ accountId }, { signal }),
  })
}

const refreshMilliseconds = 10_000

export function useAlerts() {
  const { accountId } = useAccount()
  return useQuery({
    queryKey: [...alertsKey(accountId), 'list'],
    queryFn: ({ signal }) => api.alert.list.query({ accountId }, { signal }),
    refetchInterval: refreshMilliseconds,
  })
}

import { useQuery } from '@tanstack/react-query'
import type { Alert } from '../../../../contracts/dashboard/alert.ts'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'

/** The prefix of all query keys for the alerts of an account. */
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

/** The alerts of an account, refreshed periodically. */
export function useAlerts(accountId: string | undefined) {
  return useQuery({
    queryKey: [...alertsKey(accountId ?? ''), 'list'],
    queryFn: ({ signal }) => api.alert.list.query({ accountId: accountId ?? '' }, { signal }),
    enabled: accountId !== undefined,
    refetchInterval: refreshMilliseconds,
  })
}

/** Counts alerts that are neither resolved nor acknowledged. */
export function countOpenAlerts(alerts: readonly Alert[]): number {
  return alerts.filter(({ acknowledgedAt, recoveredAt }) => acknowledgedAt === undefined && recoveredAt === undefined)
    .length
}

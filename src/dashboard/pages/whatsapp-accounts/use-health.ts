import { useQuery } from '@tanstack/react-query'
import type { AccountHealth, WhatsAppAccountHealth } from '../../../../contracts/api/account.ts'
import { api } from '../../api/client.ts'
import { withoutRegistrationToCome } from './checklist.ts'

export function healthKey(accountId: string) {
  return ['health', accountId] as const
}

/** A rejected token must be visible within seconds on every page. */
const refetchMilliseconds = 5_000

function showSetUp(health: AccountHealth): AccountHealth {
  return { ...health, whatsAppAccounts: health.whatsAppAccounts.map(withoutRegistrationToCome) }
}

/** The health of the WhatsApp accounts of an account, refreshed periodically. */
export function useHealth(accountId: string | undefined) {
  return useQuery({
    queryKey: healthKey(accountId ?? ''),
    queryFn: () => api.whatsAppAccount.health.query({ accountId: accountId ?? '' }),
    enabled: accountId !== undefined,
    refetchInterval: refetchMilliseconds,
    select: showSetUp,
  })
}

/** Whether there are WhatsApp accounts, but none is the default, because another account took over the default number. */
export function lacksDefault(health: AccountHealth | undefined): boolean {
  return health !== undefined && health.whatsAppAccounts.length > 0 && !health.whatsAppAccounts.some((a) => a.isDefault)
}

/** Undefined if the default account can send, or if there is none. */
export function findSendingProblem(health: AccountHealth | undefined): WhatsAppAccountHealth | undefined {
  if (!health || health.canSend) return undefined
  return health.whatsAppAccounts.find(({ isDefault }) => isDefault)
}

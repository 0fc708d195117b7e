import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { healthKey } from './use-health.ts'

export function whatsAppAccountsKey(accountId: string) {
  return ['whatsAppAccounts', accountId] as const
}

/** The WhatsApp accounts of the current account, oldest first. */
export function useWhatsAppAccounts() {
  const { accountId } = useAccount()
  return useQuery({
    queryKey: whatsAppAccountsKey(accountId),
    queryFn: async () => (await api.whatsAppAccount.list.query({ accountId })).items,
  })
}

interface Named {
  accountId: string
  whatsAppAccountId: string
}

interface WhatsAppAccountChange<Output> {
  change: (named: Named) => Promise<Output>
  done?: string
  onDone?: (output: Output) => void
  onFailure?: (error: unknown) => void
}

/** A change that takes only the ID of a WhatsApp account. */
export function useWhatsAppAccountChange<Output>(
  whatsAppAccountId: string,
  { change, ...outcome }: WhatsAppAccountChange<Output>,
) {
  const { accountId } = useAccount()
  return useChange<void, Output>({
    change: () => change({ accountId, whatsAppAccountId }),
    // Templates of the default account, which may be another one now.
    invalidates: [whatsAppAccountsKey(accountId), healthKey(accountId), ['templates', accountId]],
    ...outcome,
  })
}

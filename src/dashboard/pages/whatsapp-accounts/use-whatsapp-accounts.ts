import { useQuery } from '@tanstack/react-query'
import { settings } from '../../api/settings.ts'
import { useAccount } from '../../session/account.ts'

export function whatsAppAccountsKey(accountId: string) {
  return ['whatsAppAccounts', accountId] as const
}

/** The WhatsApp accounts of the account that the address names, the oldest first. */
export function useWhatsAppAccounts() {
  const { accountId } = useAccount()
  return useQuery({
    queryKey: whatsAppAccountsKey(accountId),
    queryFn: async () => (await settings.whatsAppAccount.list.query({ accountId })).items,
  })
}

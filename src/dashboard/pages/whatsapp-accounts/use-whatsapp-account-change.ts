import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/account.ts'
import { whatsAppAccountsKey } from './use-whatsapp-accounts.ts'

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

/** A change of one WhatsApp account that needs to know nothing but which. */
export function useWhatsAppAccountChange<Output>(
  whatsAppAccountId: string,
  { change, ...outcome }: WhatsAppAccountChange<Output>,
) {
  const { accountId } = useAccount()
  return useChange<void, Output>({
    change: () => change({ accountId, whatsAppAccountId }),
    invalidates: [whatsAppAccountsKey(accountId)],
    ...outcome,
  })
}

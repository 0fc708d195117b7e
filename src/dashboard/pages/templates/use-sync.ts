import { settings } from '../../api/settings.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/account.ts'
import { whatsAppAccountsKey } from '../whatsapp-accounts/use-whatsapp-accounts.ts'
import { templatesKey } from './use-templates.ts'

export interface SyncResult {
  synced: number
  approved: number
}

interface Sync {
  done?: (result: SyncResult) => string
  onFailure?: (error: unknown) => void
}

/** Reads the templates of every active WhatsApp account from WhatsApp. */
export function useSync(outcome: Sync = {}) {
  const { accountId } = useAccount()
  return useChange<void, SyncResult>({
    change: () => settings.template.sync.mutate({ accountId }),
    invalidates: [templatesKey(accountId), whatsAppAccountsKey(accountId)],
    ...outcome,
  })
}

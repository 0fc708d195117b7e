import type { Deps } from '../deps.ts'
import { changeWhatsAppAccount } from './whatsapp-account-store.ts'
import { requireWhatsAppAccount, toWhatsAppAccount, type WhatsAppAccount } from './whatsapp-account.ts'

/** Undoes both: that a person switched it off, and that WhatsApp refused it, which gets another chance. */
export async function activateWhatsAppAccount(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  whatsAppAccountId: string,
): Promise<WhatsAppAccount> {
  const row = await changeWhatsAppAccount(deps.db, accountId, whatsAppAccountId, {
    switched_off: false,
    inactive_reason: null,
  })
  return toWhatsAppAccount(requireWhatsAppAccount(row, whatsAppAccountId))
}

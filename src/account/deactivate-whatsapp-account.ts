import type { Deps } from '../deps.ts'
import { changeWhatsAppAccount } from './whatsapp-account-store.ts'
import { requireWhatsAppAccount, toWhatsAppAccount, type WhatsAppAccount } from './whatsapp-account.ts'

/** It stays the default if it was: what named no WhatsApp account is refused, not sent from another number. */
export async function deactivateWhatsAppAccount(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  whatsAppAccountId: string,
): Promise<WhatsAppAccount> {
  const row = await changeWhatsAppAccount(deps.db, accountId, whatsAppAccountId, { switched_off: true })
  return toWhatsAppAccount(requireWhatsAppAccount(row, whatsAppAccountId))
}

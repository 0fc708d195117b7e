import type { Deps } from '../deps.ts'
import { changeWhatsAppAccount } from './whatsapp-account-store.ts'
import {
  requireWhatsAppAccount,
  switchedOffReason,
  toWhatsAppAccount,
  type WhatsAppAccount,
} from './whatsapp-account.ts'

/** It stays the default if it was: what named no WhatsApp account is refused, not sent from another number. */
export async function deactivateWhatsAppAccount(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  whatsAppAccountId: string,
): Promise<WhatsAppAccount> {
  const row = await changeWhatsAppAccount(deps.db, accountId, whatsAppAccountId, {
    active: false,
    inactive_reason: switchedOffReason,
  })
  return toWhatsAppAccount(requireWhatsAppAccount(row, whatsAppAccountId))
}

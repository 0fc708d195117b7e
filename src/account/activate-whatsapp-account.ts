import type { Deps } from '../deps.ts'
import { changeWhatsAppAccount } from './whatsapp-account-store.ts'
import { requireWhatsAppAccount, toWhatsAppAccount, type WhatsAppAccount } from './whatsapp-account.ts'

export async function activateWhatsAppAccount(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  whatsAppAccountId: string,
): Promise<WhatsAppAccount> {
  const row = await changeWhatsAppAccount(deps.db, accountId, whatsAppAccountId, {
    active: true,
    inactive_reason: null,
  })
  return toWhatsAppAccount(requireWhatsAppAccount(row, whatsAppAccountId))
}

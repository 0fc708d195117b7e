import type { Deps } from '../deps.ts'
import { requireAccount } from './account.ts'
import { findWhatsAppAccounts } from './whatsapp-account-store.ts'
import { toWhatsAppAccount, type WhatsAppAccount } from './whatsapp-account.ts'

export async function listWhatsAppAccounts(deps: Pick<Deps, 'db'>, accountId: string): Promise<WhatsAppAccount[]> {
  await requireAccount(deps.db, accountId)
  const rows = await findWhatsAppAccounts(deps.db, accountId)
  return rows.map(toWhatsAppAccount)
}

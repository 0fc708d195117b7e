import type { Deps } from '../deps.ts'
import { changeWhatsAppAccount } from './whatsapp-account-store.ts'

/** WhatsApp refused the token: no send is tried until the owner acts. `reason` is kept for them to read. */
export async function markUnusable(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  whatsAppAccountId: string,
  reason: string,
): Promise<void> {
  await changeWhatsAppAccount(deps.db, accountId, whatsAppAccountId, { inactive_reason: reason })
}

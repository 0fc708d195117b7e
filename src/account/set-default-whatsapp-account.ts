import type { Deps } from '../deps.ts'
import { changeWhatsAppAccount, clearDefault, lockAccount } from './whatsapp-account-store.ts'
import { requireWhatsAppAccount, toWhatsAppAccount, type WhatsAppAccount } from './whatsapp-account.ts'

export async function setDefaultWhatsAppAccount(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  whatsAppAccountId: string,
): Promise<WhatsAppAccount> {
  const row = await deps.db.transaction().execute(async (trx) => {
    await lockAccount(trx, accountId)
    await clearDefault(trx, accountId)
    const changed = await changeWhatsAppAccount(trx, accountId, whatsAppAccountId, { is_default: true })
    return requireWhatsAppAccount(changed, whatsAppAccountId)
  })
  return toWhatsAppAccount(row)
}

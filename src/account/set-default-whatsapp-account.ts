import type { Deps } from '../deps.ts'
import { OperatorError } from './operator-error.ts'
import {
  changeWhatsAppAccount,
  clearDefault,
  findWhatsAppAccount,
  lockAccount,
  type WhatsAppAccountRow,
} from './whatsapp-account-store.ts'
import { requireWhatsAppAccount, toWhatsAppAccount, type WhatsAppAccount } from './whatsapp-account.ts'

export async function setDefaultWhatsAppAccount(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  whatsAppAccountId: string,
): Promise<WhatsAppAccount> {
  const row = await deps.db.transaction().execute(async (trx) => {
    await lockAccount(trx, accountId)
    refuseInactive(
      requireWhatsAppAccount(await findWhatsAppAccount(trx, accountId, whatsAppAccountId), whatsAppAccountId),
    )
    await clearDefault(trx, accountId)
    const changed = await changeWhatsAppAccount(trx, accountId, whatsAppAccountId, { is_default: true })
    return requireWhatsAppAccount(changed, whatsAppAccountId)
  })
  return toWhatsAppAccount(row)
}

/** Every request that names no WhatsApp account would be refused from then on. */
function refuseInactive({ id, active, is_default }: WhatsAppAccountRow): void {
  if (!active && !is_default)
    throw new OperatorError('This WhatsApp account is inactive: nothing is sent from it. Activate it first.', {
      remedy: `Such as: waybill whatsapp activate ${id}`,
    })
}

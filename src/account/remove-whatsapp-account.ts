import type { Deps } from '../deps.ts'
import { OperatorError } from './operator-error.ts'
import {
  deleteTemplates,
  deleteWhatsAppAccount,
  findWhatsAppAccounts,
  lockAccount,
  type WhatsAppAccountRow,
} from './whatsapp-account-store.ts'
import { requireWhatsAppAccount } from './whatsapp-account.ts'

/** Forgets the WhatsApp account, its secrets, and the templates that no other one shares. Messages stay. */
export async function removeWhatsAppAccount(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  whatsAppAccountId: string,
): Promise<{ whatsAppAccountId: string }> {
  await deps.db.transaction().execute(async (trx) => {
    await lockAccount(trx, accountId)
    const rows = await findWhatsAppAccounts(trx, accountId)
    const row = requireWhatsAppAccount(
      rows.find(({ id }) => id === whatsAppAccountId),
      whatsAppAccountId,
    )
    const others = rows.filter((other) => other !== row)
    refuseToDropDefault(row, others)
    await deleteWhatsAppAccount(trx, accountId, whatsAppAccountId)
    if (!others.some((other) => other.waba_id === row.waba_id)) await deleteTemplates(trx, accountId, row.waba_id)
  })
  return { whatsAppAccountId }
}

/** Choosing the next default for the owner would send, unasked, from another number. */
function refuseToDropDefault(row: WhatsAppAccountRow, others: WhatsAppAccountRow[]): void {
  const other = others.find(({ active }) => active) ?? others[0]
  if (row.is_default && other)
    throw new OperatorError(`${row.id} is the default of its account. Make another one the default first.`, {
      remedy: `Such as: waybill whatsapp set-default ${other.id}`,
    })
}

import type { Kysely } from 'kysely'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { openAccessToken } from './secrets.ts'
import { deleteTemplates, deleteWhatsAppAccount, findWhatsAppAccounts, type WhatsAppAccountRow } from './store.ts'

/** An account that lost its phone number to another one, which proved that the number is its own. */
interface Displaced {
  accountId: string
  whatsAppAccountId: string
}

/** Records a displacement in the audit log of the displaced account, in the same transaction. */
export type RecordDisplacement = (trx: Kysely<Database>, displaced: Displaced) => Promise<void>

/**
 * Returns whether the account that holds a phone number can still prove that the number is its own. If WhatsApp cannot
 * be asked, it keeps the number.
 */
export async function holdsNumber(
  deps: Pick<Deps, 'whatsapp' | 'secrets' | 'log'>,
  row: WhatsAppAccountRow,
): Promise<boolean> {
  const owner = { accountId: row.account_id, whatsAppAccountId: row.id }
  const accessToken = openAccessToken(deps, owner, row.access_token_encrypted)
  // A secret that this server cannot decrypt says nothing about the number.
  if (accessToken === undefined) return true
  const outcome = await deps.whatsapp.getPhoneNumber({ phoneNumberId: row.phone_number_id, accessToken })
  return outcome.ok || !outcome.refused || outcome.transient === true
}

/**
 * Removes the account that lost its number, unless its token was replaced since it was checked. Its messages stay.
 * Returns whether it was removed.
 */
export async function displace(trx: Kysely<Database>, checked: WhatsAppAccountRow): Promise<boolean> {
  const rows = await findWhatsAppAccounts(trx, checked.account_id)
  const row = rows.find(({ id }) => id === checked.id)
  if (row?.access_token_encrypted !== checked.access_token_encrypted) return false
  await deleteWhatsAppAccount(trx, row.account_id, row.id)
  if (!rows.some((other) => other !== row && other.waba_id === row.waba_id))
    await deleteTemplates(trx, row.account_id, row.waba_id)
  return true
}

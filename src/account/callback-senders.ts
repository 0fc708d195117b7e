import type { Kysely } from 'kysely'
import type { Database } from '../db/schema.ts'
import type { Deps } from '../deps.ts'
import { openSecret } from './open-secret.ts'
import { appSecretPurpose } from './secret-purposes.ts'

/** A WhatsApp account of ours that a callback speaks of. */
export interface CallbackSender {
  accountId: string
  whatsAppAccountId: string
  phoneNumberId: string
  wabaId: string
  /** The secret of the Meta app that reports on this number: its own, or else the service's. */
  appSecret: string | undefined
}

/**
 * Reads all accounts: a callback names phone numbers and WABAs, not accounts. One whose app secret cannot
 * be decrypted is left out: nobody can speak for it, and the others are spoken for all the same.
 */
export async function findCallbackSenders(
  deps: Pick<Deps, 'db' | 'secrets' | 'log'>,
  { phoneNumberIds, wabaIds }: { phoneNumberIds: string[]; wabaIds: string[] },
  defaultAppSecret: string | undefined,
): Promise<CallbackSender[]> {
  const rows = await findRows(deps.db, phoneNumberIds, wabaIds)
  return rows.flatMap((row) => {
    const owner = { accountId: row.account_id, whatsAppAccountId: row.id }
    const sender = { ...owner, phoneNumberId: row.phone_number_id, wabaId: row.waba_id }
    if (row.app_secret_encrypted === null) return [{ ...sender, appSecret: defaultAppSecret }]
    const secret = { ciphertext: row.app_secret_encrypted, purpose: appSecretPurpose(row.id) }
    const appSecret = openSecret(deps, owner, secret)
    return appSecret === undefined ? [] : [{ ...sender, appSecret }]
  })
}

async function findRows(db: Kysely<Database>, phoneNumberIds: string[], wabaIds: string[]) {
  if (phoneNumberIds.length + wabaIds.length === 0) return []
  return db
    .selectFrom('whatsapp_accounts')
    .select(['id', 'account_id', 'phone_number_id', 'waba_id', 'app_secret_encrypted'])
    .where((eb) =>
      eb.or([
        ...(phoneNumberIds.length === 0 ? [] : [eb('phone_number_id', 'in', phoneNumberIds)]),
        ...(wabaIds.length === 0 ? [] : [eb('waba_id', 'in', wabaIds)]),
      ]),
    )
    .execute()
}

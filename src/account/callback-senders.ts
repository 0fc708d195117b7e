import type { Kysely } from 'kysely'
import type { Database } from '../db/schema.ts'
import type { Deps } from '../deps.ts'
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

/** Reads all accounts: a callback names phone numbers and WABAs, not accounts. */
export async function findCallbackSenders(
  deps: Pick<Deps, 'db' | 'secrets'>,
  { phoneNumberIds, wabaIds }: { phoneNumberIds: string[]; wabaIds: string[] },
  defaultAppSecret: string | undefined,
): Promise<CallbackSender[]> {
  const rows = await findRows(deps.db, phoneNumberIds, wabaIds)
  return rows.map((row) => ({
    accountId: row.account_id,
    whatsAppAccountId: row.id,
    phoneNumberId: row.phone_number_id,
    wabaId: row.waba_id,
    appSecret:
      row.app_secret_encrypted === null
        ? defaultAppSecret
        : deps.secrets.decrypt(row.app_secret_encrypted, appSecretPurpose(row.id)),
  }))
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

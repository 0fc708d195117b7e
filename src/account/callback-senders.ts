import { joined } from '../db/joined.ts'
import { statement } from '../db/statement.ts'
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
  names: Names,
  defaultAppSecret: string | undefined,
): Promise<CallbackSender[]> {
  if (names.phoneNumberIds.length + names.wabaIds.length === 0) return []
  const rows = await findRows(deps.db, names)
  return rows.flatMap((row) => {
    const owner = { accountId: row.account_id, whatsAppAccountId: row.id }
    const sender = { ...owner, phoneNumberId: row.phone_number_id, wabaId: row.waba_id }
    if (row.app_secret_encrypted === null) return [{ ...sender, appSecret: defaultAppSecret }]
    const secret = { ciphertext: row.app_secret_encrypted, purpose: appSecretPurpose(row.id) }
    const appSecret = openSecret(deps, owner, secret)
    return appSecret === undefined ? [] : [{ ...sender, appSecret }]
  })
}

interface Names {
  phoneNumberIds: string[]
  wabaIds: string[]
}

interface SenderRow {
  id: string
  account_id: string
  phone_number_id: string
  waba_id: string
  app_secret_encrypted: string | null
}

const findNamed = statement<SenderRow>(
  'find_callback_senders',
  `select id, account_id, phone_number_id, waba_id, app_secret_encrypted from whatsapp_accounts
  where phone_number_id = any ($1::text[]) or waba_id = any ($2::text[])`,
)

/** Callbacks that come at once mostly name the same numbers: their rows are looked up together. */
const findRows = joined<Names, SenderRow[]>({
  one: (db, { phoneNumberIds, wabaIds }) => findNamed(db, [phoneNumberIds, wabaIds]),
  many: async (db, callbacks) => {
    const phoneNumberIds = new Set(callbacks.flatMap((names) => names.phoneNumberIds))
    const wabaIds = new Set(callbacks.flatMap((names) => names.wabaIds))
    const rows = await findNamed(db, [[...phoneNumberIds], [...wabaIds]])
    return callbacks.map((names) =>
      rows.filter((row) => names.phoneNumberIds.includes(row.phone_number_id) || names.wabaIds.includes(row.waba_id)),
    )
  },
})

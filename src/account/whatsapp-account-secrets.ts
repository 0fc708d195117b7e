import type { Kysely } from 'kysely'
import type { Database } from '../db/schema.ts'
import { accessTokenPurpose, appSecretPurpose } from './secret-purposes.ts'
import type { StoredSecret } from './stored-secret.ts'
import { findAllWhatsAppAccounts, replaceSecret } from './whatsapp-account-store.ts'

const purposes = {
  access_token_encrypted: accessTokenPurpose,
  app_secret_encrypted: appSecretPurpose,
} as const

const columns = ['access_token_encrypted', 'app_secret_encrypted'] as const

/** The access token of every WhatsApp account, and its app secret where it has one. */
export async function listWhatsAppAccountSecrets(db: Kysely<Database>): Promise<StoredSecret[]> {
  const rows = await findAllWhatsAppAccounts(db)
  return rows.flatMap((row) =>
    columns.flatMap((column) => {
      const ciphertext = row[column]
      if (ciphertext === null) return []
      const replace: StoredSecret['replace'] = (db, to) => replaceSecret(db, row, column, { from: ciphertext, to })
      return [{ ownerId: row.id, purpose: purposes[column](row.id), ciphertext, replace }]
    }),
  )
}

import type { Kysely } from 'kysely'
import type { StoredSecret } from '../account/stored-secret.ts'
import type { Database } from '../db/schema.ts'
import { findAllEndpoints, replaceEndpointSecret } from './endpoint-store.ts'
import { endpointHeadersPurpose, endpointSecretPurpose } from './secret-purposes.ts'

const purposes = {
  secret_encrypted: endpointSecretPurpose,
  previous_secret_encrypted: endpointSecretPurpose,
  headers_encrypted: endpointHeadersPurpose,
} as const

const columns = ['secret_encrypted', 'previous_secret_encrypted', 'headers_encrypted'] as const

/** The secrets of every endpoint, and its headers, which may authorize. */
export async function listEndpointSecrets(db: Kysely<Database>): Promise<StoredSecret[]> {
  const rows = await findAllEndpoints(db)
  return rows.flatMap((row) =>
    columns.flatMap((column) => {
      const ciphertext = row[column]
      if (ciphertext === null) return []
      const replace: StoredSecret['replace'] = (db, to) =>
        replaceEndpointSecret(db, row, column, { from: ciphertext, to })
      return [{ ownerId: row.id, purpose: purposes[column](row.id), ciphertext, replace }]
    }),
  )
}

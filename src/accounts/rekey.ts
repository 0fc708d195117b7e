import type { Kysely } from 'kysely'
import type { Deps } from '../deps.ts'
import type { Database } from '../platform/db/schema.ts'

/** Encrypts each listed secret with the first key of the ring, so that the other keys can be removed. */
export async function rekey(
  deps: Pick<Deps, 'db' | 'secrets'>,
  listSecrets: ListSecrets,
): Promise<{ secrets: number; rekeyed: number }> {
  const secrets = await listSecrets(deps.db)
  let rekeyed = 0
  for (const { ciphertext, purpose, replace } of secrets) {
    if (deps.secrets.isCurrent(ciphertext)) continue
    const renewed = deps.secrets.encrypt(deps.secrets.decrypt(ciphertext, purpose), purpose)
    if (await replace(deps.db, renewed)) rekeyed += 1
  }
  return { secrets: secrets.length, rekeyed }
}

/** An encrypted value and where it is stored. */
export interface StoredSecret {
  /** ID of the record that the secret belongs to. */
  recordId: string
  purpose: string
  ciphertext: string
  /** Returns whether the value was still the one that was read, so that a concurrent change is not overwritten. */
  replace(db: Kysely<Database>, ciphertext: string): Promise<boolean>
}

/** Lists the secrets of one kind of record. Reads all accounts, because they share the keys. */
export type ListSecrets = (db: Kysely<Database>) => Promise<StoredSecret[]>

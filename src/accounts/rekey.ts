import type { Kysely } from 'kysely'
import type { Deps } from '../deps.ts'
import type { Database } from '../platform/db/schema.ts'

/** Encrypts every stored secret under the first key of the ring; the other keys can go afterwards. */
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

/** A secret that is kept encrypted, wherever that is. */
export interface StoredSecret {
  /** The id of what it belongs to. */
  ownerId: string
  purpose: string
  ciphertext: string
  /** Whether it was still what was read: one that changed in between is not overwritten. */
  replace(db: Kysely<Database>, ciphertext: string): Promise<boolean>
}

/** Lists the secrets of one kind of owner. Reads all accounts: a key of ours is everybody's. */
export type ListSecrets = (db: Kysely<Database>) => Promise<StoredSecret[]>

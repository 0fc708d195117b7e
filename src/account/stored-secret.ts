import type { Kysely } from 'kysely'
import type { Database } from '../db/schema.ts'

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

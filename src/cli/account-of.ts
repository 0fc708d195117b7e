import type { Kysely } from 'kysely'
import { findAccount } from '../account/store.ts'
import { findOwner } from '../account/whatsapp-account-store.ts'
import type { Database } from '../db/schema.ts'
import { findDelivery } from '../webhook/delivery-store.ts'
import { findEndpointOwner } from '../webhook/endpoint-store.ts'

/** What the first argument of a command can name. */
const finders: Record<string, (db: Kysely<Database>, id: string) => Promise<string | undefined>> = {
  ACC: async (db, id) => (await findAccount(db, id))?.id,
  WA: findOwner,
  EP: findEndpointOwner,
  DLV: async (db, id) => (await findDelivery(db, id))?.accountId,
}

/** Whose account a command is about; undefined when what it names is not there. */
export async function findAccountOf(db: Kysely<Database>, name = '', id = ''): Promise<string | undefined> {
  return finders[name]?.(db, id)
}

import type { Kysely } from 'kysely'
import type { Database } from '../db/schema.ts'

/** It belongs to the server, and to no account. */
export async function findAuthSecret(db: Kysely<Database>): Promise<string | undefined> {
  const row = await db.selectFrom('owner_auth_secret').select('secret_encrypted').executeTakeFirst()
  return row?.secret_encrypted
}

/** The first one stays. */
export async function insertAuthSecret(db: Kysely<Database>, secretEncrypted: string): Promise<void> {
  await db
    .insertInto('owner_auth_secret')
    .values({ secret_encrypted: secretEncrypted })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Whether it was still the one that `from` says. */
export async function replaceAuthSecret(
  db: Kysely<Database>,
  { from, to }: { from: string; to: string },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('owner_auth_secret')
    .set({ secret_encrypted: to })
    .where('secret_encrypted', '=', from)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

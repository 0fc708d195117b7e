import { sql, type Kysely } from 'kysely'
import type { Database } from '../db/schema.ts'

/** Of all accounts: sessions, links and codes that open nothing any more, and tries to sign in of yesterday. */
export async function deleteExpiredSignIns(db: Kysely<Database>): Promise<void> {
  for (const table of ['owner_sessions', 'owner_verifications'] as const)
    await sql`delete from ${sql.table(table)} where "expiresAt" < now()`.execute(db)
  await db
    .deleteFrom('owner_invitations')
    .where('expires_at', '<', sql<Date>`now()`)
    .execute()
  await db
    .deleteFrom('owner_tries')
    .where('ends_at', '<', sql<Date>`now()`)
    .execute()
  await sql`
    delete from owner_sign_in_rates
    where "lastRequest" < 1000 * extract(epoch from now() - interval '1 day')`.execute(db)
}

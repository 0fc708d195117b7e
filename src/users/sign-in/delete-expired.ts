import { type Kysely, sql } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'

/** Deletes expired sessions, links, codes and attempt counts, in all accounts. */
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

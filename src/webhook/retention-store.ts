import { sql, type Kysely } from 'kysely'
import type { Database } from '../db/schema.ts'

/** A statement deletes this many rows at most, so that none of them is long, or holds up a vacuum. */
const batchSize = 5_000

/**
 * Deletes deliveries that have waited for longer than the retention, as those of an endpoint that stays
 * switched off do: their events go with the partitions. Returns how many. Of all accounts: time alone
 * ends a row.
 */
export async function deleteOldDeliveries(db: Kysely<Database>, retentionDays: number): Promise<number> {
  let deleted = 0
  for (;;) {
    const { numAffectedRows } = await sql`
      delete from webhook_deliveries where ctid = any(array(
        select ctid from webhook_deliveries where created_at < now() - ${retentionDays} * interval '1 day'
        limit ${sql.lit(batchSize)}
      ))`.execute(db)
    deleted += Number(numAffectedRows ?? 0)
    if (Number(numAffectedRows ?? 0) < batchSize) return deleted
  }
}

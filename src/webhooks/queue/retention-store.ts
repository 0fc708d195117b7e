import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'

/** A statement deletes this many rows at most, so that none of them is long, or holds up a vacuum. */
const batchSize = 5_000

/**
 * Deletes deliveries that have waited for longer than the retention, as those of an endpoint that stays
 * switched off do: their events go with the partitions. So do those whose endpoint is gone: a status
 * that was being written while it was removed may still have brought some. Returns how many. Of all
 * accounts: nothing but time and the endpoint ends a row.
 */
export async function deleteOldDeliveries(db: Kysely<Database>, retentionDays: number): Promise<number> {
  const old = await deleteWhere(db, sql`d.created_at < now() - ${retentionDays} * interval '1 day'`)
  const orphaned = await deleteWhere(db, sql`not exists (select from webhook_endpoints where id = d.endpoint_id)`)
  return old + orphaned
}

async function deleteWhere(db: Kysely<Database>, condition: RawBuilder<unknown>): Promise<number> {
  let deleted = 0
  for (;;) {
    const { numAffectedRows } = await sql`
      delete from webhook_deliveries where ctid = any(array(
        select d.ctid from webhook_deliveries d where ${condition} limit ${sql.lit(batchSize)}
      ))`.execute(db)
    deleted += Number(numAffectedRows ?? 0)
    if (Number(numAffectedRows ?? 0) < batchSize) return deleted
  }
}

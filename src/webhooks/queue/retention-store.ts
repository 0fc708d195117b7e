import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'

/** Maximum number of rows per statement, so that no statement runs for long or delays a vacuum. */
const batchSize = 5_000

/**
 * Deletes deliveries that have waited longer than the retention period, for example those of a disabled endpoint: their
 * events are dropped with the partitions. Also deletes deliveries whose endpoint was removed, because a status recorded
 * during the removal may have added some. Returns the number of deleted rows. Reads all accounts, because the deletion
 * depends only on age and endpoint.
 */
export async function deleteOldDeliveries(db: Kysely<Database>, retentionDays: number): Promise<number> {
  const old = await deleteWhere(db, sql`d.created_at < now() - ${retentionDays} * interval '1 day'`)
  const orphaned = await deleteWhere(db, sql`not exists (select from webhook_endpoints where id = d.endpoint_id)`)
  return old + orphaned
}

/** Longer than the longest range that the dashboard shows. */
const countsKeptDays = 8

/** Deletes old counts of attempts. Reads all accounts, because the deletion depends only on age. */
export async function deleteOldAttemptCounts(db: Kysely<Database>): Promise<void> {
  for (;;) {
    const { numAffectedRows } = await sql`
      delete from webhook_attempt_counts where ctid = any(array(
        select ctid from webhook_attempt_counts where slot < now() - ${countsKeptDays} * interval '1 day'
        limit ${sql.lit(batchSize)}
      ))`.execute(db)
    if (Number(numAffectedRows ?? 0) < batchSize) return
  }
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

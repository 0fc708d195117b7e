import { type Kysely, sql } from 'kysely'
import { deleteByBlock } from '../../platform/db/delete-by-block.ts'
import { oldestWeekAt } from '../../platform/db/partitions.ts'
import type { Database } from '../../platform/db/schema.ts'
import { firstIdAt } from '../../platform/ids.ts'

/** Maximum number of rows per statement, so that no statement runs for long or delays a vacuum. */
const batchSize = 5_000

/**
 * Deletes deliveries whose event is dropped with its partition, for example those of a disabled endpoint. Their own age
 * says nothing: a recovered delivery is younger than its event. Also deletes deliveries whose endpoint was removed,
 * because a status recorded during the removal may have added some. Returns the number of deleted rows. Reads all
 * accounts, because the deletion depends only on age and endpoint.
 */
export async function deleteOldDeliveries(db: Kysely<Database>, now: Date, retentionDays: number): Promise<number> {
  const isUnwanted = sql`
    event_id < ${firstIdAt('evt', oldestWeekAt(now, retentionDays))}
    or not exists (select from webhook_endpoints where id = webhook_deliveries.endpoint_id)`
  let deleted = 0
  for await (const rows of deleteByBlock(db, 'webhook_deliveries', isUnwanted)) deleted += rows
  return deleted
}

/** Longer than the longest range that the dashboard shows. */
const countsKeptDays = 8

/** Deletes old counts of attempts. Reads all accounts, because the deletion depends only on age. */
export async function deleteOldAttemptCounts(db: Kysely<Database>, now: Date): Promise<void> {
  for (;;) {
    const { numAffectedRows } = await sql`
      delete from webhook_attempt_counts where ctid = any(array(
        select ctid from webhook_attempt_counts where slot < ${now}::timestamptz - ${countsKeptDays} * interval '1 day'
        limit ${sql.lit(batchSize)}
      ))`.execute(db)
    if (Number(numAffectedRows ?? 0) < batchSize) return
  }
}

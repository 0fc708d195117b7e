import { sql, type Kysely } from 'kysely'
import type { Database } from '../db/schema.ts'

/** A statement drops this many rows at most, so that none of them is long, or holds up a vacuum. */
const batchSize = 5_000

/** First what points to events, then the events: an event is there for as long as something is to be told of it. */
const ages = [
  ['webhook_attempts', 'started_at'],
  ['webhook_finished_deliveries', 'finished_at'],
  ['webhook_deliveries', 'created_at'],
  ['events', 'created_at'],
] as const

/**
 * Drops what is older than the retention, deliveries that wait for a disabled endpoint too; returns how
 * many rows. Of all accounts: time alone ends a row.
 */
export async function dropOldWebhookRows(db: Kysely<Database>, retentionDays: number): Promise<number> {
  let dropped = 0
  for (const [table, time] of ages) {
    let batch: number
    do {
      const { numAffectedRows } = await sql`
        delete from ${sql.table(table)} where ctid = any(array(
          select ctid from ${sql.table(table)} where ${sql.ref(time)} < now() - ${retentionDays} * interval '1 day'
          limit ${sql.lit(batchSize)}
        ))`.execute(db)
      batch = Number(numAffectedRows ?? 0)
      dropped += batch
    } while (batch === batchSize)
  }
  return dropped
}

import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { Database } from './schema.ts'

/** Waybill's own transactions are shorter; a longer one belongs to another program. */
const longestMilliseconds = 30_000
const pollMilliseconds = 100

/**
 * Waits until every transaction that was writing at the time of the call has ended, so that the next statement sees its
 * changes. Returns false if one did not end in time.
 */
export async function awaitRunningWrites(
  db: Kysely<Database>,
  maxMilliseconds: number = longestMilliseconds,
): Promise<boolean> {
  const { rows } = await sql<{ next: string }>`
    select pg_snapshot_xmax(pg_current_snapshot())::text as next`.execute(db)
  const next = rows[0]?.next ?? '0'
  const deadline = performance.now() + maxMilliseconds
  while (performance.now() < deadline) {
    const { rows: found } = await sql<{ ended: boolean }>`
      select pg_snapshot_xmin(pg_current_snapshot()) >= ${next}::xid8 as ended`.execute(db)
    if (found[0]?.ended) return true
    await delay(pollMilliseconds)
  }
  return false
}

import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { isDeadlock, isLockTimeout } from './errors.ts'
import type { Database } from './schema.ts'

const retryMilliseconds = [100, 500, 1_000, 2_000, 5_000]

/**
 * Retries a transaction that could not get a lock. For background work only: a request fails immediately instead.
 */
export async function retryLocked<Result>(run: () => Promise<Result>): Promise<Result> {
  for (const milliseconds of retryMilliseconds) {
    try {
      return await run()
    } catch (error) {
      if (!isLockTimeout(error) && !isDeadlock(error)) throw error
      await delay(milliseconds)
    }
  }
  return run()
}

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

import { type Kysely, sql } from 'kysely'
import type { Database } from '../../src/platform/db/schema.ts'
import { eventually } from './eventually.ts'

/** The processes that wait for a lock with a statement like `query`. Other test files wait in databases of their own. */
export async function lockWaits(db: Kysely<Database>, query = '%'): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like ${query}`.execute(db)
  return rows.map(({ pid }) => pid)
}

/** Cancels the statement that will wait for a lock, as PostgreSQL itself does once it has waited too long. */
export async function cancelLockWait(db: Kysely<Database>): Promise<void> {
  const pid = await eventually(async () => {
    const [only, ...others] = await lockWaits(db)
    if (only === undefined || others.length > 0) throw new Error('there is not exactly one wait')
    return only
  })
  await sql`select pg_cancel_backend(${pid}::int)`.execute(db)
}

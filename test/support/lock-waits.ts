import { type Kysely, sql } from 'kysely'
import type { Database } from '../../src/platform/db/schema.ts'

/** The processes that wait for a lock with a statement like `query`. Other test files wait in databases of their own. */
export async function lockWaits(db: Kysely<Database>, query = '%'): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like ${query}`.execute(db)
  return rows.map(({ pid }) => pid)
}

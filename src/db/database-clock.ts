import { sql, type Kysely } from 'kysely'
import type { Database } from './schema.ts'

/** The database's time: the clocks of the nodes may differ from it and from each other. */
export async function readDatabaseClock(db: Kysely<Database>): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db)
  const now = rows[0]?.now
  if (!now) throw new Error('the database did not tell its time')
  return now
}

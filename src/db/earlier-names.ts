import { sql, type Kysely } from 'kysely'
import type { Database } from './schema.ts'

/**
 * A version of 2026-11-21 made in 0003 what 0004-dashboard makes since, and called 0004 what is 0005-counts now.
 * A database that it has migrated has both, and is told their names.
 */
export async function adoptEarlierNames(db: Kysely<Database>): Promise<void> {
  const { rows } = await sql<{ isNew: boolean }>`
    select to_regclass('waybill_migrations') is null as "isNew"`.execute(db)
  if (rows[0]?.isNew) return
  await sql`
    with renamed as (
      update waybill_migrations set name = '0005-counts' where name = '0004-counts' returning timestamp
    )
    insert into waybill_migrations (name, timestamp) select '0004-dashboard', timestamp from renamed`.execute(db)
}

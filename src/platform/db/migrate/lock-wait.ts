import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema.ts'

const maxMilliseconds = 250

/**
 * Limits how long the statements of a transaction wait for a lock. While one waits for a table, all other statements on
 * that table wait behind it. It always gives up before PostgreSQL looks for deadlocks: if it waits for a process that
 * waits for it, the process goes on.
 */
export async function limitLockWait(trx: Kysely<Database>): Promise<void> {
  await sql`
    select set_config(
      'lock_timeout', greatest(1, least(${maxMilliseconds}::integer, setting::integer / 2))::text, true
    ) from pg_settings where name = 'deadlock_timeout'`.execute(trx)
}

import { type Kysely, sql } from 'kysely'
import { findEmbeddedDatabase, withoutTimeout } from './database.ts'
import { findLeafTables } from './leaf-tables.ts'
import type { Database } from './schema.ts'

/**
 * Rewrites tables with their indexes and statistics, so that no earlier version of a row remains in their files. Each
 * table is locked while it is rewritten. The embedded database also gets a new write-ahead log; on a PostgreSQL server,
 * the log, its archive and its standbys are the operator's responsibility.
 */
export async function rewriteTables(
  db: Kysely<Database>,
  tables: readonly string[],
  report: (table: string) => void = () => {},
): Promise<void> {
  await onOneConnection(db, async (connection) => {
    for (const table of tables) {
      for (const { name } of await findLeafTables(connection, table)) {
        report(name)
        await sql`vacuum (full, analyze) ${sql.table(name)}`.execute(connection)
      }
      // Statistics of a partitioned table hold samples of its rows too.
      await sql`analyze ${sql.table(table)}`.execute(connection)
    }
    // It may hold old samples. PostgreSQL skips it with a warning if this user does not own the database.
    await sql`vacuum full pg_catalog.pg_statistic`.execute(connection)
  })
  if (findEmbeddedDatabase(db)) await renewLog(db)
}

/** The embedded database has a single connection without a timeout, and others may use it between the statements. */
function onOneConnection(db: Kysely<Database>, run: (connection: Kysely<Database>) => Promise<void>): Promise<void> {
  if (findEmbeddedDatabase(db)) return run(db)
  return db.connection().execute((connection) => withoutTimeout(connection, () => run(connection)))
}

/** Deletes the files of the write-ahead log, including those that PostgreSQL keeps for reuse. */
async function renewLog(db: Kysely<Database>): Promise<void> {
  const { rows } = await sql<{ last: string }>`select max(name collate "C") as last from pg_ls_waldir()`.execute(db)
  const last = rows[0]?.last ?? ''
  await sql`set wal_recycle = off`.execute(db)
  try {
    await sql`checkpoint`.execute(db)
    for (let file = ''; file <= last;) {
      // PostgreSQL switches to the next file only after something was written to the current one.
      await sql`select pg_logical_emit_message(false, 'waybill', '')`.execute(db)
      await sql`select pg_switch_wal()`.execute(db)
      const { rows: current } = await sql<{ file: string }>`
        select pg_walfile_name(pg_current_wal_insert_lsn() + 1) as file`.execute(db)
      file = current[0]?.file ?? last
    }
    await sql`checkpoint`.execute(db)
  } finally {
    await sql`reset wal_recycle`.execute(db)
  }
}

import { type Kysely, sql } from 'kysely'
import { findEmbeddedDatabase } from './database.ts'
import type { Database } from './schema.ts'

/** If the database was idle for this long, a new statement is unlikely to wait behind others as well. */
const quietMilliseconds = 200
/** Size of a table with its indexes. A vacuum of a smaller table takes a few milliseconds. */
const smallBytes = 4 * 2 ** 20
const usualCheckpointBytes = 64 * 2 ** 20

interface TableStats {
  table: string
  bytes: number
  live: number
  dead: number
  changed: number
}

/**
 * Vacuums the embedded database and writes checkpoints. PGlite is a single process without autovacuum and checkpointer,
 * so dead rows and the write-ahead log would pile up. A vacuum blocks this thread, so each table is a separate step,
 * and long steps wait for a quiet moment unless they are overdue. Returns the names of the vacuumed tables. Does
 * nothing on a PostgreSQL server.
 */
export async function vacuumEmbedded(
  db: Kysely<Database>,
  { checkpointBytes = usualCheckpointBytes } = {},
): Promise<string[]> {
  const embedded = findEmbeddedDatabase(db)
  if (!embedded) return []
  const { idleSince } = embedded.lock
  const isQuiet = idleSince !== undefined && performance.now() - idleSince >= quietMilliseconds
  const due = (await readTableStats(db)).filter((stats) => needsVacuum(stats) && (isQuiet || mayInterrupt(stats)))
  for (const { table } of due) await sql`vacuum (analyze) ${sql.table(table)}`.execute(db)
  const logBytes = await readLogBytes(db)
  if (logBytes > checkpointBytes * (isQuiet ? 1 : 4)) await sql`checkpoint`.execute(db)
  return due.map(({ table }) => table)
}

/** Autovacuum's default thresholds. */
function needsVacuum({ live, dead, changed }: TableStats): boolean {
  return dead > 50 + 0.2 * live || changed > 50 + 0.1 * live
}

/** Returns whether a vacuum is quick or overdue, so that it need not wait for a quiet moment. */
function mayInterrupt({ bytes, live, dead }: TableStats): boolean {
  return bytes <= smallBytes || dead > 1_000 + live
}

async function readTableStats(db: Kysely<Database>): Promise<TableStats[]> {
  const { rows } = await sql<TableStats>`
    select relname as table, pg_total_relation_size(relid)::float8 as bytes,
      n_live_tup::float8 as live, n_dead_tup::float8 as dead, n_mod_since_analyze::float8 as changed
    from pg_stat_user_tables order by n_dead_tup desc`.execute(db)
  return rows
}

/** Bytes of log written since the last checkpoint, which a restart after a crash would have to replay. */
async function readLogBytes(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 as bytes from pg_control_checkpoint()`.execute(
    db,
  )
  return rows[0]?.bytes ?? 0
}

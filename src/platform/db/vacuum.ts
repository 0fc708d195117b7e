import { type Kysely, sql } from 'kysely'
import { findEmbeddedDatabase } from './database.ts'
import type { Database } from './schema.ts'

/** Nobody used the database for so long: whoever comes now does not wait behind others as well. */
const quietMilliseconds = 200
/** Of a table, with its indexes: a vacuum of it takes a few milliseconds. */
const smallBytes = 4 * 2 ** 20
const usualCheckpointBytes = 64 * 2 ** 20

interface TableUse {
  table: string
  bytes: number
  live: number
  dead: number
  changed: number
}

/**
 * What an autovacuum and a checkpointer do on a server, and nothing does in PGlite, which is a single process:
 * without it dead rows and the write-ahead log pile up. It works in this thread, so one table is a step of its
 * own, and what takes longer waits for a quiet moment, unless it has waited for too long. Returns what was
 * vacuumed. A PostgreSQL server looks after itself.
 */
export async function vacuumEmbedded(
  db: Kysely<Database>,
  { checkpointBytes = usualCheckpointBytes } = {},
): Promise<string[]> {
  const turns = findEmbeddedDatabase(db)?.turns
  if (!turns) return []
  const isQuiet = turns.idleSince !== undefined && performance.now() - turns.idleSince >= quietMilliseconds
  const due = (await readUse(db)).filter((use) => needsVacuum(use) && (isQuiet || mayInterrupt(use)))
  for (const { table } of due) await sql`vacuum (analyze) ${sql.table(table)}`.execute(db)
  const logBytes = await readLogBytes(db)
  if (logBytes > checkpointBytes * (isQuiet ? 1 : 4)) await sql`checkpoint`.execute(db)
  return due.map(({ table }) => table)
}

/** The thresholds of autovacuum. */
function needsVacuum({ live, dead, changed }: TableUse): boolean {
  return dead > 50 + 0.2 * live || changed > 50 + 0.1 * live
}

function mayInterrupt({ bytes, live, dead }: TableUse): boolean {
  return bytes <= smallBytes || dead > 1_000 + live
}

async function readUse(db: Kysely<Database>): Promise<TableUse[]> {
  const { rows } = await sql<TableUse>`
    select relname as table, pg_total_relation_size(relid)::float8 as bytes,
      n_live_tup::float8 as live, n_dead_tup::float8 as dead, n_mod_since_analyze::float8 as changed
    from pg_stat_user_tables order by n_dead_tup desc`.execute(db)
  return rows
}

/** Written since the last checkpoint: what a start after a crash would have to read. */
async function readLogBytes(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 as bytes from pg_control_checkpoint()`.execute(
    db,
  )
  return rows[0]?.bytes ?? 0
}

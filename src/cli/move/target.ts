import { type Kysely, sql } from 'kysely'
import { ServiceError } from '../../../contracts/errors.ts'
import { moveTable } from '../../platform/db/embedded/unfinished-move.ts'
import type { Database } from '../../platform/db/schema.ts'
import { listMovedTables, type MovedTable } from './tables.ts'

/** Tables with rows that a migration, or a server that was started on it, inserts into an empty database. */
const singletons = new Set([
  'overdue_progress',
  'database_clock',
  'message_counts_start',
  'server_processes',
  'background_jobs',
])

/** Returns the ID of the unfinished move into this database; undefined if there is none. */
export async function findMoveId(target: Kysely<Database>): Promise<string | undefined> {
  const { rows: tables } = await sql<{ exists: boolean }>`
    select to_regclass(${moveTable}) is not null as exists`.execute(target)
  if (!tables[0]?.exists) return undefined
  const { rows } = await sql<{ move_id: string }>`select distinct move_id from ${sql.table(moveTable)}`.execute(target)
  return rows[0]?.move_id
}

/**
 * Begins a move in a migrated database without data. The tables are locked while they are checked and emptied, so that
 * nothing else fills them in between.
 */
export async function beginMove(target: Kysely<Database>, moveId: string): Promise<void> {
  const tables = await listMovedTables(target)
  await target.transaction().execute(async (trx) => {
    for (const { name } of tables) await sql`lock table ${sql.table(name)} in access exclusive mode`.execute(trx)
    const nonEmpty = await findTablesWithRows(trx, tables)
    if (nonEmpty.length > 0)
      throw new ServiceError(
        'SETTING_REFUSED',
        `The target database already holds data (in ${nonEmpty.join(', ')}). Create an empty database, and name it with --to.`,
      )
    await sql`truncate ${sql.join(tables.map(({ name }) => sql.table(name)))}`.execute(trx)
    await sql`create table ${sql.table(moveTable)} (
      leaf text primary key, move_id text not null, next_block bigint not null
    )`.execute(trx)
    // The row with an empty name holds the ID of the move.
    await sql`insert into ${sql.table(moveTable)} values ('', ${moveId}, 0)`.execute(trx)
  })
}

async function findTablesWithRows(trx: Kysely<Database>, tables: readonly MovedTable[]): Promise<string[]> {
  const found: string[] = []
  for (const { name } of tables.filter((table) => !singletons.has(table.name))) {
    const { rows } = await sql`select from ${sql.table(name)} limit 1`.execute(trx)
    if (rows.length > 0) found.push(name)
  }
  return found
}

/** Returns the first block of a partition that was not copied yet. */
export async function readProgress(target: Kysely<Database>, leaf: string): Promise<number> {
  const { rows } = await sql<{ next: number }>`
    select next_block::float8 as next from ${sql.table(moveTable)} where leaf = ${leaf}`.execute(target)
  return rows[0]?.next ?? 0
}

export async function saveProgress(trx: Kysely<Database>, leaf: string, nextBlock: number): Promise<void> {
  await sql`
    insert into ${sql.table(moveTable)} (leaf, move_id, next_block)
    select ${leaf}, move_id, ${nextBlock} from ${sql.table(moveTable)} where leaf = ''
    on conflict (leaf) do update set next_block = excluded.next_block`.execute(trx)
}

/** Lets servers use the target. */
export async function endMove(target: Kysely<Database>): Promise<void> {
  await sql`drop table if exists ${sql.table(moveTable)}`.execute(target)
}

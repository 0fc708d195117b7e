import { type Kysely, type RawBuilder, sql } from 'kysely'
import { findEmbeddedDatabase, withoutTimeout } from './database.ts'
import type { Database } from './schema.ts'

/** A table that holds rows itself: a partition, or a table without partitions. */
export interface LeafTable {
  name: string
  /** Columns of its primary key; empty if it has none. */
  key: string[]
}

/** Returns the partitions of a table, or the table itself. */
export async function findLeafTables(db: Kysely<Database>, table: string): Promise<LeafTable[]> {
  const { rows } = await sql<LeafTable>`
    select c.relname as name, coalesce((
      select array_agg(a.attname::text order by k.place)
      from pg_index i
      cross join lateral unnest(i.indkey::int2[]) with ordinality as k (attnum, place)
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
      where i.indrelid = c.oid and i.indisprimary
    ), '{}') as key
    from pg_class c
    where c.relkind = 'r'
      and (c.oid = ${table}::regclass or c.oid in (select relid from pg_partition_tree(${table}::regclass)))
    order by c.relname`.execute(db)
  return rows
}

/** Number of blocks of a table, for scans by `ctid`. */
export async function countBlocks(db: Kysely<Database>, table: string): Promise<number> {
  const { rows } = await sql<{ blocks: number }>`
    select (pg_relation_size(${table}::regclass) / current_setting('block_size')::bigint)::float8 as blocks`.execute(db)
  return rows[0]?.blocks ?? 0
}

const blocksPerRange = 512

/** Yields conditions that select the rows of a table range by range, so that each statement is short. */
export async function* blockRanges(db: Kysely<Database>, table: string): AsyncGenerator<RawBuilder<unknown>> {
  const blocks = await countBlocks(db, table)
  for (let block = 0; block < blocks; block += blocksPerRange) {
    const [from, until] = [`(${block},0)`, `(${block + blocksPerRange},0)`]
    yield sql`ctid >= ${from}::tid and ctid < ${until}::tid`
  }
}

/** Few enough for a statement of milliseconds, so that the server stays responsive. */
export const rowsPerRange = 2_000

export type Range = RawBuilder<boolean>

/** Yields ranges of a key, so that a row stays in its range even if it is updated in the meantime. */
export async function* listKeyRanges(
  db: Kysely<Database>,
  { name, key }: LeafTable,
  where: Range = sql`true`,
): AsyncGenerator<Range> {
  const columns = sql.join(key.map((column) => sql.ref(column)))
  for (let after: string[] | undefined; ;) {
    const from: Range = after === undefined ? where : sql`${where} and (${columns}) > (${sql.join(after)})`
    const { rows } = await sql<Record<string, string>>`
      select ${columns} from ${sql.table(name)} where ${from}
      order by ${columns} offset ${sql.lit(rowsPerRange - 1)} limit 1`.execute(db)
    const [last] = rows
    if (!last) {
      yield from
      return
    }
    const until = key.map((column) => String(last[column]))
    yield sql`${from} and (${columns}) <= (${sql.join(until)})`
    after = until
  }
}

/** Types of columns, such as `text` or `jsonb`, in the order of the names. */
export async function findColumnTypes(db: Kysely<Database>, table: string, columns: string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string; type: string }>`
    select attname as name, format_type(atttypid, null) as type from pg_attribute
    where attrelid = ${table}::regclass and attname = any(${columns}::text[])`.execute(db)
  return columns.map((column) => rows.find(({ name }) => name === column)?.type ?? 'text')
}

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

import { type Kysely, sql } from 'kysely'
import { withoutTimeout } from '../../platform/db/database.ts'
import type { Database } from '../../platform/db/schema.ts'

/** A table to copy, with the columns that can be written. */
export interface MovedTable {
  name: string
  columns: string[]
}

/** Tables of the migrations themselves, and the rate limit counts of the current minute, which a crash loses as well. */
const excluded = /^(waybill_.*|rate_limits|request_log_limits)$/

/** Returns all tables, each after those that its foreign keys refer to. */
export async function listMovedTables(db: Kysely<Database>): Promise<MovedTable[]> {
  const { rows } = await sql<MovedTable & { references: string[] }>`
    select c.relname as name, array(
      select a.attname::text from pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      order by a.attname
    ) as columns, array(
      select distinct r.relname::text from pg_constraint f join pg_class r on r.oid = f.confrelid
      where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid
    ) as references
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`.execute(db)
  return sortByReferences(rows.filter(({ name }) => !excluded.test(name)))
}

export function sortByReferences<Table extends { name: string; references: string[] }>(
  tables: readonly Table[],
): Table[] {
  const sorted: Table[] = []
  const isReady = ({ references }: Table) =>
    references.every((reference) => sorted.some(({ name }) => name === reference))
  let rest = [...tables]
  while (rest.length > 0) {
    const ready = rest.filter(isReady)
    if (ready.length === 0)
      throw new Error(`the foreign keys of ${rest.map(({ name }) => name).join(', ')} are circular`)
    sorted.push(...ready)
    rest = rest.filter((table) => !ready.includes(table))
  }
  return sorted
}

interface Partition {
  table: string
  name: string
  /** `for values from (…) to (…)`, or `default`. */
  bounds: string
  options: string[]
}

function readPartitions(db: Kysely<Database>) {
  return sql<Partition>`
    select p.relname as table, c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bounds,
      coalesce(c.reloptions, '{}') as options
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    join pg_class p on p.oid = i.inhparent
    where p.relnamespace = current_schema()::regnamespace and p.relkind = 'p'`.execute(db)
}

/** Creates the partitions of the source that the target lacks, so that each row has a partition. */
export async function copyPartitions(source: Kysely<Database>, target: Kysely<Database>): Promise<void> {
  const present = new Set((await readPartitions(target)).rows.map(({ name }) => name))
  for (const { table, name, bounds, options } of (await readPartitions(source)).rows) {
    if (present.has(name)) continue
    const storage = options.length === 0 ? sql`` : sql.raw(` with (${options.join(', ')})`)
    // Bounds and options are those of Waybill's own schema, as PostgreSQL prints them.
    await sql`create table ${sql.table(name)} partition of ${sql.table(table)} ${sql.raw(bounds)}${storage}`.execute(
      target,
    )
  }
}

/** Continues each sequence of the target after the last value of the source. */
export async function copySequences(source: Kysely<Database>, target: Kysely<Database>): Promise<void> {
  const { rows } = await sql<{ name: string; last: string | null }>`
    select sequencename as name, last_value::text as last from pg_sequences
    where schemaname = current_schema()`.execute(source)
  for (const { name, last } of rows)
    if (last !== null) await sql`select setval(${name}::regclass, ${last}::bigint)`.execute(target)
}

export interface Content {
  rows: number
  /** Digest of all rows in any order; equal tables have equal digests. */
  digest: string
}

/** Reads a whole table, with settings under which equal rows have equal texts. */
export function readContent(db: Kysely<Database>, { name, columns }: MovedTable): Promise<Content> {
  const row = sql.join(columns.map((column) => sql.ref(column)))
  return db.connection().execute((connection) =>
    withoutTimeout(connection, () =>
      connection.transaction().execute(async (trx) => {
        await sql`select set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO', true),
          set_config('bytea_output', 'hex', true), set_config('extra_float_digits', '1', true)`.execute(trx)
        const { rows } = await sql<Content>`
          select count(*)::float8 as rows,
            coalesce(sum(hashtextextended(row(${row})::text, 0)::numeric), 0)::text as digest
          from ${sql.table(name)}`.execute(trx)
        return rows[0] ?? { rows: 0, digest: '0' }
      }),
    ),
  )
}

import { type Kysely, sql } from 'kysely'
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

/** Types of columns, such as `text` or `jsonb`, in the order of the names. */
export async function findColumnTypes(db: Kysely<Database>, table: string, columns: string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string; type: string }>`
    select attname as name, format_type(atttypid, null) as type from pg_attribute
    where attrelid = ${table}::regclass and attname = any(${columns}::text[])`.execute(db)
  return columns.map((column) => rows.find(({ name }) => name === column)?.type ?? 'text')
}

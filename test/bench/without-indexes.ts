import { type Kysely, sql } from 'kysely'
import type { Database } from '../../src/platform/db/schema.ts'

/**
 * Drops all indexes of a table except the primary key while it is filled, and recreates them afterwards, in half the
 * time.
 */
export async function withoutIndexes(
  db: Kysely<Database>,
  table: keyof Database,
  fill: () => Promise<unknown>,
): Promise<void> {
  const { rows } = await sql<{ name: string; definition: string }>`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
    from pg_index where indrelid = ${table}::regclass and not indisprimary`.execute(db)
  for (const { name } of rows) await sql.raw(`drop index ${name}`).execute(db)
  await fill()
  // PostgreSQL prints `only` for a partitioned table, but the partitions need the index too.
  for (const { definition } of rows) await sql.raw(definition.replace(' ON ONLY ', ' ON ')).execute(db)
}

import { type Kysely, type RawBuilder, sql } from 'kysely'
import { blockRanges } from './leaf-tables.ts'
import { retryLocked } from './locks.ts'
import type { Database } from './schema.ts'

/**
 * Deletes rows that no index finds, and yields the number of rows of each statement. Reads the whole table once, in
 * statements that are short however large the table is.
 */
export async function* deleteByBlock(
  db: Kysely<Database>,
  table: string,
  condition: RawBuilder<unknown>,
): AsyncGenerator<number> {
  for await (const range of blockRanges(db, table)) {
    const { numAffectedRows } = await retryLocked(() =>
      sql`delete from ${sql.table(table)} where ${range} and (${condition})`.execute(db),
    )
    yield Number(numAffectedRows ?? 0)
  }
}

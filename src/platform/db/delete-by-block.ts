import { type Kysely, type RawBuilder, sql } from 'kysely'
import { countBlocks } from './leaf-tables.ts'
import { retryLocked } from './locks.ts'
import type { Database } from './schema.ts'

const blocksPerStatement = 512

/**
 * Deletes rows that no index finds, and yields the number of rows of each statement. Reads the whole table once, in
 * statements that are short however large the table is.
 */
export async function* deleteByBlock(
  db: Kysely<Database>,
  table: string,
  condition: RawBuilder<unknown>,
): AsyncGenerator<number> {
  const blocks = await countBlocks(db, table)
  for (let block = 0; block < blocks; block += blocksPerStatement) {
    const [from, until] = [`(${block},0)`, `(${block + blocksPerStatement},0)`]
    const { numAffectedRows } = await retryLocked(() =>
      sql`
        delete from ${sql.table(table)}
        where ctid >= ${from}::tid and ctid < ${until}::tid and (${condition})`.execute(db),
    )
    yield Number(numAffectedRows ?? 0)
  }
}

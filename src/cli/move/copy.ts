import { type Kysely, sql } from 'kysely'
import { countBlocks, findLeafTables } from '../../platform/db/leaf-tables.ts'
import type { Database } from '../../platform/db/schema.ts'
import type { MovedTable } from './tables.ts'
import { readProgress, saveProgress } from './target.ts'

/** Blocks of a page: about half a megabyte of rows. */
const mostBlocksAtOnce = 64

export interface CopyProgress {
  table: string
  rows: number
}

/**
 * Copies the rows of a table, page by page. Nobody writes to the source meanwhile, so rows keep their places. A page
 * and the note that it was copied are one transaction in the target, so a repetition continues after the last page.
 */
export async function copyTable(
  source: Kysely<Database>,
  target: Kysely<Database>,
  table: MovedTable,
  report: (progress: CopyProgress) => void,
): Promise<void> {
  let rows = 0
  for (const { name: leaf } of await findLeafTables(source, table.name)) {
    const blocks = await countBlocks(source, leaf)
    const blocksAtOnce = await choosePageSize(source, leaf)
    for (let block = await readProgress(target, leaf); block < blocks; block += blocksAtOnce) {
      const page = await readPage(source, { leaf, columns: table.columns, from: block, until: block + blocksAtOnce })
      await target.transaction().execute(async (trx) => {
        if (page.rows > 0) rows += await insertPage(trx, table, page.json)
        await saveProgress(trx, leaf, block + blocksAtOnce)
      })
      report({ table: table.name, rows })
    }
  }
}

/** Long values are stored apart from their rows, so fewer rows make a page then. */
async function choosePageSize(source: Kysely<Database>, leaf: string): Promise<number> {
  const { rows } = await sql<{ ratio: number }>`
    select pg_table_size(${leaf}::regclass)::float8 / greatest(pg_relation_size(${leaf}::regclass), 1)::float8 as ratio`.execute(
    source,
  )
  return Math.max(1, Math.floor(mostBlocksAtOnce / Math.max(1, rows[0]?.ratio ?? 1)))
}

/** The rows as JSON text, which keeps every type exact and is never parsed here. */
async function readPage(
  source: Kysely<Database>,
  { leaf, columns, from, until }: { leaf: string; columns: readonly string[]; from: number; until: number },
): Promise<{ rows: number; json: string }> {
  const row = sql.join(columns.map((column) => sql.ref(column)))
  const { rows } = await sql<{ rows: number; json: string }>`
    select count(*)::integer as rows, coalesce(json_agg(page)::text, '[]') as json
    from (
      select ${row} from ${sql.table(leaf)}
      where ctid >= ${`(${from},0)`}::tid and ctid < ${`(${until},0)`}::tid
    ) page`.execute(source)
  return rows[0] ?? { rows: 0, json: '[]' }
}

async function insertPage(trx: Kysely<Database>, { name, columns }: MovedTable, json: string): Promise<number> {
  const list = sql.join(columns.map((column) => sql.ref(column)))
  const { numAffectedRows } = await sql`
    insert into ${sql.table(name)} (${list})
    select ${list} from json_populate_recordset(null::${sql.table(name)}, ${json}::json)`.execute(trx)
  return Number(numAffectedRows ?? 0)
}

import { type Kysely, sql } from 'kysely'
import { countBlocks, findLeafTables } from '../../platform/db/leaf-tables.ts'
import type { Database } from '../../platform/db/schema.ts'
import type { MovedTable } from './tables.ts'
import { readProgress, saveProgress } from './target.ts'

/** Maximum number of blocks of a page: about half a megabyte of rows. */
const maxPageBlocks = 64

export interface CopyProgress {
  table: string
  rows: number
}

/**
 * Copies the rows of a table, page by page. Nothing writes to the source during a move, so rows keep their positions.
 * Each page is inserted in one transaction with the progress, so a repeated move continues after the last page.
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
    const pageBlocks = await choosePageSize(source, leaf)
    for (let block = await readProgress(target, leaf); block < blocks; block += pageBlocks) {
      const page = await readPage(source, { leaf, columns: table.columns, from: block, until: block + pageBlocks })
      await target.transaction().execute(async (trx) => {
        if (page.rows > 0) rows += await insertPage(trx, table, page.json)
        await saveProgress(trx, leaf, block + pageBlocks)
      })
      report({ table: table.name, rows })
    }
  }
}

/** Pages of tables with long values have fewer blocks, because long values are stored outside the blocks of their rows. */
async function choosePageSize(source: Kysely<Database>, leaf: string): Promise<number> {
  const { rows } = await sql<{ ratio: number }>`
    select pg_table_size(${leaf}::regclass)::float8 / greatest(pg_relation_size(${leaf}::regclass), 1)::float8 as ratio`.execute(
    source,
  )
  return Math.max(1, Math.floor(maxPageBlocks / Math.max(1, rows[0]?.ratio ?? 1)))
}

/** Reads rows as JSON text, which preserves every type exactly and is never parsed here. */
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

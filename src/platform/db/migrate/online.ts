import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { findColumnTypes, findLeafTables } from '../leaf-tables.ts'
import type { Database } from '../schema.ts'

const batchRows = 1_000
const pauseMilliseconds = 100

interface Fill {
  table: string
  /** SQL: the assignments of the update. */
  set: string
  /** SQL: the rows that are not filled yet. */
  where: string
}

/**
 * Updates rows in short transactions, in the order of the primary key, until none is left. It skips rows that others have
 * locked and comes back to them, so that no transaction can wait for it in a circle.
 */
export async function fillInBatches(
  db: Kysely<Database>,
  fill: Fill,
  onProgress: (rows: number) => void,
): Promise<void> {
  const [leaf] = await findLeafTables(db, fill.table)
  const key = leaf?.key ?? []
  if (key.length === 0) throw new Error(`${fill.table} has no primary key`)
  const types = await findColumnTypes(db, fill.table, key)
  let rows = 0
  while (await hasUnfilled(db, fill)) {
    for (let after: readonly string[] | null = []; after !== null;) {
      const batch = await fillBatch(db, fill, { key, types, after })
      rows += batch.rows
      if (batch.rows > 0) onProgress(rows)
      after = batch.last
    }
    await delay(pauseMilliseconds)
  }
}

async function hasUnfilled(db: Kysely<Database>, { table, where }: Fill): Promise<boolean> {
  const { rows } = await sql`select from ${sql.table(table)} where ${sql.raw(where)} limit 1`.execute(db)
  return rows.length > 0
}

interface Position {
  key: readonly string[]
  types: readonly string[]
  /** The key of the last row; empty at the start. */
  after: readonly string[]
}

async function fillBatch(
  db: Kysely<Database>,
  { table, set, where }: Fill,
  { key, types, after }: Position,
): Promise<{ rows: number; last: string[] | null }> {
  const columns = sql.join(key.map((column) => sql.ref(column)))
  const values = sql.join(after.map((value, index) => sql`${value}::text::${sql.raw(types[index] ?? 'text')}`))
  const isSame = sql.join(
    key.map((column) => sql`t.${sql.ref(column)} = b.${sql.ref(column)}`),
    sql` and `,
  )
  const texts = sql.join(key.map((column) => sql`${sql.ref(column)}::text`))
  const { rows } = await sql<{ rows: number; last: string[] | null }>`
    with batch as materialized (
      select ${columns} from ${sql.table(table)}
      where ${after.length > 0 ? sql`(${columns}) > (${values}) and` : sql``} (${sql.raw(where)})
      order by ${columns} limit ${batchRows} for update skip locked
    ), filled as (
      update ${sql.table(table)} t set ${sql.raw(set)} from batch b where ${isSame} returning 1
    )
    select (select count(*)::integer from filled) as rows, (
      select array[${texts}] from batch order by row(${columns}) desc limit 1
    ) as last`.execute(db)
  return rows[0] ?? { rows: 0, last: null }
}

interface NewIndex {
  name: string
  table: string
  /** SQL: what follows the table, such as `(account_id, id) where error_code is not null`. */
  definition: string
  unique?: boolean
}

/** Builds an index while others write to the table and its partitions. Continues where a failed call stopped. */
export async function createIndexOnline(db: Kysely<Database>, index: NewIndex): Promise<void> {
  const [first] = await findLeafTables(db, index.table)
  if (first?.name === index.table) return buildConcurrently(db, index)
  // A partition that is created from now on gets the index by itself.
  await inShortTransaction(
    db,
    `create ${kindOf(index)} if not exists ${index.name} on only ${index.table} ${index.definition}`,
  )
  for (const { name: table } of await findLeafTables(db, index.table)) {
    if (await isAttached(db, index.name, table)) continue
    const name = `${index.name}${table.slice(index.table.length)}`
    await buildConcurrently(db, { ...index, name, table })
    await inShortTransaction(db, `alter index ${index.name} attach partition ${name}`)
  }
}

function kindOf({ unique }: NewIndex): string {
  return unique ? 'unique index' : 'index'
}

async function buildConcurrently(db: Kysely<Database>, index: NewIndex): Promise<void> {
  const { rows } = await sql<{ isValid: boolean }>`
    select indisvalid as "isValid" from pg_index where indexrelid = to_regclass(${index.name})`.execute(db)
  const [existing] = rows
  if (existing?.isValid) return
  if (existing) await sql.raw(`drop index concurrently ${index.name}`).execute(db)
  await sql.raw(`create ${kindOf(index)} concurrently ${index.name} on ${index.table} ${index.definition}`).execute(db)
}

async function isAttached(db: Kysely<Database>, index: string, partition: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_inherits join pg_index on indexrelid = inhrelid
    where inhparent = ${index}::regclass and indrelid = ${partition}::regclass`.execute(db)
  return rows.length > 0
}

async function inShortTransaction(db: Kysely<Database>, statement: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await limitLockWait(trx)
    await sql.raw(statement).execute(trx)
  })
}

const maxMilliseconds = 250

/**
 * Limits how long the statements of a transaction wait for a lock. While one waits for a table, all other statements on
 * that table wait behind it. It always gives up before PostgreSQL looks for deadlocks: if it waits for a process that
 * waits for it, the process goes on.
 */
export async function limitLockWait(trx: Kysely<Database>): Promise<void> {
  await sql`
    select set_config(
      'lock_timeout', greatest(1, least(${maxMilliseconds}::integer, setting::integer / 2))::text, true
    ) from pg_settings where name = 'deadlock_timeout'`.execute(trx)
}

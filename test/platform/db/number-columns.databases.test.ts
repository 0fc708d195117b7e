import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { numberColumns } from '../../../src/platform/db/number-columns.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

/** Every column that can hold a text, except those of partitions. */
async function readTextColumns(): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`
    select c.relname || '.' || a.attname as name
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    left join pg_type item on item.oid = t.typelem and t.typcategory = 'A'
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname not like 'waybill\_migrations%'
      and coalesce(item.typname, t.typname) in ('text', 'varchar', 'bpchar', 'json', 'jsonb', 'bytea', 'xml')`.execute(
    database.db,
  )
  return new Set(rows.map(({ name }) => name))
}

test('decides for each column with text whether it can contain the number of a recipient', async () => {
  const stored = await readTextColumns()
  const listed = Object.entries(numberColumns).flatMap(([table, columns]) =>
    Object.keys(columns).map((column) => `${table}.${column}`),
  )

  // A new column: add it to src/platform/db/number-columns.ts, so that `waybill recipient erase` finds it.
  expect([...stored].filter((name) => !listed.includes(name))).toEqual([])
  expect(listed.filter((name) => !stored.has(name))).toEqual([])
})

test('finds the account of each row with a number', async () => {
  const stored = await readTextColumns()
  const tables = Object.entries(numberColumns)
    .filter(([, columns]) => Object.values(columns).some((decision) => typeof decision === 'string'))
    .map(([table]) => table)

  expect(tables.filter((table) => !stored.has(`${table}.account_id`))).toEqual([])
})

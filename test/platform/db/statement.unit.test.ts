import type { Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { arraysOf, type Columns, type Lists, listsOf, namesOf, parametersOf } from '../../../src/platform/db/columns.ts'
import type { Database } from '../../../src/platform/db/schema.ts'
import { nameOf, statement } from '../../../src/platform/db/statement.ts'

interface RecordedQuery {
  sql: string
  parameters: readonly unknown[]
}

/** A database that returns the query it received. */
const db = { executeQuery: (query: RecordedQuery) => Promise.resolve({ rows: [query] }) } as unknown as Kysely<Database>

interface Item {
  accountId: string
  label: string | null
  count: number
  at: Date | undefined
}

const columns: Columns<Item> = {
  accountId: { name: 'account_id', type: 'word' },
  label: { name: 'label', type: 'text' },
  count: { name: 'count', type: 'integer' },
  at: { name: 'created_at', type: 'timestamptz' },
}

test('numbers parameters by their first use in the text', async () => {
  const find = statement<{ first: string; second: number }, RecordedQuery>(
    'find_test',
    ($) => `select ${$.second}, ${$.first}, ${$.second}`,
  )

  const [recorded] = await find(db, { first: 'a', second: 2 })

  expect(recorded?.sql).toBe('/* find_test */ select $1, $2, $1')
  expect(recorded?.parameters).toEqual([2, 'a'])
  expect(nameOf(recorded?.sql ?? '')).toBe('find_test')
})

test('binds a missing value as null', async () => {
  const find = statement<{ optional: string | undefined }, RecordedQuery>(
    'find_optional_test',
    ($) => `select ${$.optional}`,
  )
  expect((await find(db, { optional: undefined }))[0]?.parameters).toEqual([null])
})

test('lists names, values and arrays of columns in the same order', async () => {
  const insertOne = statement<Item, RecordedQuery>(
    'insert_test',
    ($) => `(${namesOf(columns)}) values (${parametersOf($, columns)})`,
  )
  const insertMany = statement<Lists<Item>, RecordedQuery>(
    'insert_many_test',
    ($) => `(${namesOf(columns)}) unnest(${arraysOf($, columns)})`,
  )
  const at = new Date('2026-11-20T09:30:00Z')
  const items: Item[] = [
    { label: 'a "b", {c}', accountId: 'acc_1', at, count: 0 },
    { accountId: 'acc_2', count: 2, at: undefined, label: null },
  ]

  const [one] = await insertOne(db, { label: 'x', accountId: 'acc_1', at, count: 1 })
  const [many] = await insertMany(db, listsOf(columns, items))

  expect(one?.sql).toBe(
    '/* insert_test */ (account_id, label, count, created_at) values ($1::text, $2::text, $3::integer, $4::timestamptz)',
  )
  expect(one?.parameters).toEqual(['acc_1', 'x', 1, '2026-11-20T09:30:00.000Z'])
  expect(many?.sql).toContain('unnest($1::text[], $2::text[], $3::integer[], $4::timestamptz[])')
  expect(many?.parameters).toEqual([
    '{acc_1,acc_2}',
    '{"a \\"b\\", {c}",null}',
    '{0,2}',
    '{2026-11-20T09:30:00.000Z,null}',
  ])
})

/** Never called: compilation fails if one of these calls is accepted. */
export function rejectedByTheCompiler(): void {
  const find = statement<{ accountId: string; count: number }>(
    'rejected_test',
    // @ts-expect-error: unknown parameter
    ($) => `select ${$.accuontId}`,
  )
  // @ts-expect-error: a parameter is missing
  void find(db, { accountId: 'acc_1' })
  // @ts-expect-error: two values are swapped
  void find(db, { accountId: 1, count: 'acc_1' })
  // @ts-expect-error: values without names
  void find(db, ['acc_1', 1])
  // @ts-expect-error: a field has no column
  const missing: Columns<Item> = { accountId: columns.accountId, label: columns.label, count: columns.count }
  // @ts-expect-error: the type of a column is not one for its values
  const other: Columns<Pick<Item, 'count'>> = { count: { name: 'count', type: 'text' } }
  // @ts-expect-error: a statement for many items requires lists
  void statement<Lists<Item>>('rejected_many_test', ($) => arraysOf($, columns))(db, { ...missing, ...other, label: 1 })
}

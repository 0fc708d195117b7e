import { expect, onTestFinished, test } from 'vitest'
import { arraysOf, type Columns, type Lists, listsOf } from '../../../src/platform/db/columns.ts'
import { statement } from '../../../src/platform/db/statement.ts'
import { openTestDatabase } from '../../support/database.ts'

test.each(['json', 'text'] as const)('a list of %s arrives unchanged', async (type) => {
  const database = await openTestDatabase()
  onTestFinished(() => database.close())
  const texts: Columns<{ value: string }> = { value: { name: 'value', type } }
  const readBack = statement<Lists<{ value: string }>, { value: string }>(
    `read_back_${type}`,
    ($) => `select value from unnest(${arraysOf($, texts)}) as r (value)`,
  )
  const samples = ['', 'null', '{a,b}', ' a\t"b"\\c\r\n', '\u0001\u007f\u2028 é 😀', '\\\\"']
  const plain = ['', 'null', 'NULL', 'nullable', 'en_US', 'wamid.HBg=', '-1:a', 'a,b', '{}', 'a b', 'é', 'a\n']
  const jsons = samples.map((value) => JSON.stringify({ [value]: value }))
  const values = (type === 'json' ? jsons : [...samples, ...plain, ...jsons]).map((value) => ({ value }))

  expect(await readBack(database.db, listsOf(texts, values))).toEqual(values)
})

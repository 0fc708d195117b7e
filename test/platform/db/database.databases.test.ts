import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import pg from 'pg'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  disableStatementTimeout,
  PreparedClient,
  resetStatementTimeout,
} from '../../../src/platform/db/connect/prepared-client.ts'
import { openDatabase, withoutTimeout } from '../../../src/platform/db/database.ts'
import { isDatabaseUnavailable } from '../../../src/platform/db/errors.ts'
import { statement } from '../../../src/platform/db/statement.ts'
import { forFile } from '../../support/lifetime.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { arraysOf, type Columns, type Lists, listsOf } from '../../../src/platform/db/columns.ts'

const database = await forFile(openTestDatabase())

async function readTimeouts(db: TestDatabase['db']): Promise<object | undefined> {
  const { rows } = await sql<object>`
    select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock`.execute(db)
  return rows[0]
}

test('sets a server timeout below the client timeout, unless a statement may run longer', async () => {
  const { url } = database
  const usual = url === undefined ? { statement: '0', lock: '0' } : { statement: '8s', lock: '1s' }
  const db =
    url === undefined
      ? database.db
      : openDatabase({ kind: 'postgres', url, maxWaitSeconds: 60 }, pino({ level: 'silent' }))
  expect(await readTimeouts(db)).toEqual(usual)

  await db.connection().execute(async (connection) => {
    const unlimited = await withoutTimeout(connection, () => readTimeouts(connection))
    expect(unlimited).toEqual({ statement: '0', lock: '0' })
    expect(await readTimeouts(connection)).toEqual(usual)
  })
  if (url !== undefined) await db.destroy()
})

test('asks a connection for the columns of a prepared statement once', async (context) => {
  if (database.url === undefined) return context.skip()
  const find = statement<{ id: number | undefined; at: Date }>(
    'find_columns_test',
    ($) => `select ${$.id}::integer as id, ${$.at}::timestamptz as at where ${$.id}::integer <> 0`,
  )
  const change = statement<{ id: number }>(
    'change_columns_test',
    ($) => `delete from accounts where id = ${$.id}::text`,
  )
  const db = openDatabase({ kind: 'postgres', url: database.url, maxWaitSeconds: 60 }, pino({ level: 'silent' }))
  const descriptions = vi.spyOn(pg.Connection.prototype, 'describe')
  const at = new Date('2026-11-20T09:30:00Z')

  for (const id of [1, 2, 0, 3]) {
    expect(await find(db, { id, at })).toEqual(id === 0 ? [] : [{ id, at }])
    expect(await change(db, { id })).toEqual([])
  }
  expect(descriptions).toHaveBeenCalledTimes(2)
  descriptions.mockRestore()
  await db.destroy()
})

test('closes a connection whose statement timed out', async (context) => {
  if (database.url === undefined) return context.skip()
  const pool = new pg.Pool({ Client: PreparedClient, connectionString: database.url, max: 1, query_timeout: 1_000 })
  pool.on('connect', (client) => client.on('error', () => {}))
  const client = await pool.connect()
  const unanswered = await client.query('select pg_sleep(60)', []).catch((error: unknown) => error)
  expect(isDatabaseUnavailable(unanswered)).toBe(true)
  const afterwards = await client.query('rollback').catch((error: unknown) => error)
  expect(isDatabaseUnavailable(afterwards)).toBe(true)
  client.release()

  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await pool.end()
})

/** Prints the MB of the old space after 200,000 rows, of which none is needed any more. No full collection runs. */
const readRows = `
  import { getHeapSpaceStatistics } from 'node:v8'
  const [, module, connectionString] = process.argv
  const { PreparedClient } = await import(module)
  const client = new PreparedClient({ connectionString, query_timeout: 60_000 })
  await client.connect()
  const read = () => client.query("select i, 'text ' || i as text, now() as at from generate_series(1, 1000) i", [])
  const countOldBytes = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space').space_used_size
  for (let n = 0; n < 50; n++) await read()
  gc()
  const before = countOldBytes()
  for (let n = 0; n < 200; n++) await read()
  console.log((countOldBytes() - before) / 1_000_000)
  await client.end()`

test('keeps no row of an earlier statement until a full collection', async (context) => {
  const { url } = database
  if (url === undefined) return context.skip()
  const module = new URL('../../../src/platform/db/connect/prepared-client.ts', import.meta.url).href
  const flags = ['--expose-gc', '--max-semi-space-size=1', '--heap-growing-percent=10000']
  const program = ['--input-type=module', '--eval', readRows, '--', module, url]

  const { stdout } = await promisify(execFile)(process.execPath, [...flags, ...program])
  // It was 37 MB with the timers of pg.
  expect(Number(stdout)).toBeLessThan(10)
})

test('waits for a statement that may run longer', async (context) => {
  if (database.url === undefined) return context.skip()
  const client = new PreparedClient({ connectionString: database.url, query_timeout: 1_000 })
  await client.connect()
  await client.query(disableStatementTimeout)
  await client.query('select pg_sleep(1.5)')
  await client.query(resetStatementTimeout)

  await expect(client.query('select pg_sleep(60)')).rejects.toThrow('Query read timeout')
})

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

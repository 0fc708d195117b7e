import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withoutTimeout } from '../../src/db/database.ts'
import { PreparedClient } from '../../src/db/prepared-client.ts'
import { isDatabaseUnavailable, isPassing } from '../../src/db/unavailable.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

async function readStatementTimeout(db: TestDatabase['db']): Promise<string | undefined> {
  const { rows } = await sql<{ statement_timeout: string }>`show statement_timeout`.execute(db)
  return rows[0]?.statement_timeout
}

test('the server ends a statement before we stop waiting for it, unless it may take its time', async () => {
  const usual = database.url === undefined ? '0' : '8s'
  expect(await readStatementTimeout(database.db)).toBe(usual)

  await database.db.connection().execute(async (connection) => {
    expect(await withoutTimeout(connection, () => readStatementTimeout(connection))).toBe('0')
    expect(await readStatementTimeout(connection)).toBe(usual)
  })
})

test('a connection whose statement was not answered in time goes to nobody else', async (context) => {
  if (database.url === undefined) return context.skip()
  const pool = new pg.Pool({ Client: PreparedClient, connectionString: database.url, max: 1, query_timeout: 200 })
  pool.on('connect', (client) => client.on('error', () => {}))
  const client = await pool.connect()
  const unanswered = await client.query('select pg_sleep(3)', []).catch((error: unknown) => error)
  expect(isDatabaseUnavailable(unanswered)).toBe(true)
  const afterwards = await client.query('rollback').catch((error: unknown) => error)
  expect(isDatabaseUnavailable(afterwards)).toBe(true)
  client.release()

  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await pool.end()
})

test('what may take its time is waited for', async (context) => {
  if (database.url === undefined) return context.skip()
  const client = new PreparedClient({ connectionString: database.url, query_timeout: 200 })
  await client.connect()
  await client.query('set statement_timeout = 0')
  await client.query('select pg_sleep(0.5)')
  await client.query('reset statement_timeout')

  await expect(client.query('select pg_sleep(0.5)')).rejects.toThrow('Query read timeout')
})

test.each([
  { code: '40P01', passing: true },
  { code: '40001', passing: true },
  { code: '55P03', passing: true },
  { code: '57014', passing: true },
  { code: '23505', passing: false },
])('$code is passing: $passing', ({ code, passing }) => {
  expect(isPassing(Object.assign(new Error('x'), { code }))).toBe(passing)
})

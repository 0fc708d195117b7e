import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/database.ts'
import { listPendingMigrations, migrate } from '../../src/db/migrate.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

test('a migrated database has nothing left to migrate', async () => {
  expect(await listPendingMigrations(database.db)).toEqual([])
  expect(await migrate(database.db)).toEqual([])
})

test('who waits for another process to migrate waits longer than any statement may take', async (context) => {
  if (database.url === undefined) return context.skip()
  const other = new pg.Client({ connectionString: database.url })
  await other.connect()
  await other.query('select pg_advisory_lock(9292455)')
  const url = `${database.url}?statement_timeout=200&query_timeout=400`
  const db = openDatabase({ kind: 'postgres', url }, pino({ level: 'silent' }))

  const migrated = migrate(db)
  await other.query('select pg_sleep(1)')
  await other.end()

  expect(await migrated).toEqual([])
  await db.destroy()
})

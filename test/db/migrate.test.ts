import { afterAll, beforeAll, expect, test } from 'vitest'
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

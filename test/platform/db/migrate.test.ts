import { type Kysely, sql } from 'kysely'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { listPendingMigrations, migrate } from '../../../src/platform/db/migrate.ts'
import * as send from '../../../src/platform/db/migrations/0001-send.ts'
import * as status from '../../../src/platform/db/migrations/0002-status.ts'
import * as settings from '../../../src/platform/db/migrations/0003-settings.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { undoHotUpdates } from '../../support/earlier-schema.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

test('applies nothing to a migrated database', async () => {
  expect(await listPendingMigrations(database.db)).toEqual([])
  expect(await migrate(database.db)).toEqual([])
})

test("waits for another process's migration longer than the statement timeout", async (context) => {
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

test('recognizes a database that applied 0004 and 0005 as one migration', async () => {
  const { db, close } = await openTestDatabase()
  for (const statement of [
    ...undoHotUpdates,
    `delete from waybill_migrations where name = '0004-dashboard'`,
    `update waybill_migrations set name = '0004-counts' where name = '0005-counts'`,
  ])
    await sql.raw(statement).execute(db)

  expect(await migrate(db)).toEqual(expect.arrayContaining(['0006-hot-updates', '0007-narrow-keys']))

  expect(await listPendingMigrations(db)).toEqual([])
  await close()
})

test('recognizes a database that applied 0012 under its earlier number', async () => {
  const { db, close } = await openTestDatabase()
  const rename = `update waybill_migrations set name = '0013-whatsapp-health' where name = '0012-whatsapp-health'`
  await sql.raw(rename).execute(db)

  expect(await migrate(db)).toEqual([])

  await close()
})

test('adds constraints on passwords and links and keeps the newer of duplicates', async () => {
  const { db, close } = await openTestDatabase()
  await sql`drop schema public cascade`.execute(db)
  await sql`create schema public`.execute(db)
  for (const migration of [send, status, settings]) await migration.up(db as unknown as Kysely<unknown>)
  for (const statement of [
    'create table waybill_migrations (name varchar(255) primary key, timestamp varchar(255) not null)',
    `insert into waybill_migrations values ('0001-send', '2026-11-20T08:00:00.000Z'), ('0002-status', '2026-11-20T08:00:00.001Z'), ('0003-settings', '2026-11-20T08:00:00.002Z')`,
    `insert into owners (id, name, email, "emailVerified") values ('o', 'Ada', 'ada@example.com', true)`,
    `insert into owner_credentials (id, "accountId", "providerId", "userId", password, "idToken", "updatedAt") values
      ('a', 'o', 'credential', 'o', 'newer', 'plain', now()), ('b', 'o', 'credential', 'o', 'older', null, now() - interval '1 hour')`,
    `insert into accounts (id, name) values ('acc_1', 'Shop')`,
    `insert into owner_invitations (token_hash, account_id, email, role, created_at, expires_at) values
      ('\\x02', 'acc_1', 'ada@example.com', 'viewer', now(), now()),
      ('\\x01', 'acc_1', 'ada@example.com', 'owner', now() - interval '1 hour', now())`,
  ])
    await sql.raw(statement).execute(db)

  expect(await migrate(db)).toContain('0004-dashboard')

  const { rows: credentials } = await sql`select password, "idToken" from owner_credentials`.execute(db)
  expect(credentials).toEqual([{ password: 'newer', idToken: null }])
  expect(await db.selectFrom('owner_invitations').select('role').execute()).toEqual([{ role: 'viewer' }])
  await close()
})

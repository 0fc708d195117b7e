import { type Kysely, sql } from 'kysely'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
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

test.skipIf(inject('database').kind === 'pglite')('does not block reads while it waits for a lock', async () => {
  const { db, url, close } = await openTestDatabase()
  for (const statement of undoHotUpdates) await sql.raw(statement).execute(db)
  const backup = new pg.Client({ connectionString: url })
  await backup.connect()
  await backup.query('begin')
  await backup.query('select from messages')

  let isDone = false
  const migrated = migrate(db).finally(() => (isDone = true))
  const reader = new pg.Client({ connectionString: url })
  await reader.connect()
  const waits = async () => {
    const { rows } = await reader.query<{ waits: boolean }>(
      `select exists (select from pg_locks where not granted and relation = 'messages'::regclass) as waits`,
    )
    return rows[0]?.waits
  }
  await expect.poll(waits, { interval: 20 }).toBe(true)
  // Queues behind the migration until that gives up.
  await reader.query('select from messages')
  expect(isDone).toBe(false)

  await backup.query('commit')
  expect(await migrated).toContain('0006-hot-updates')
  await backup.end()
  await reader.end()
  await close()
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

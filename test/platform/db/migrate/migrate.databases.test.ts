import { type Kysely, sql } from 'kysely'
import pg from 'pg'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import type { Database } from '../../../../src/platform/db/schema.ts'
import { openDatabase } from '../../../../src/platform/db/database.ts'
import { updateMessageCounts } from '../../../../src/platform/db/message-counts.ts'
import { listPendingMigrations, migrate, type MigrationProgress } from '../../../../src/platform/db/migrate/migrate.ts'
import { allMigrations, baselineName, type Migration } from '../../../../src/platform/db/migrate/migrations.ts'
import { openTestDatabase, type TestDatabase } from '../../../support/database.ts'

/**
 * Lists everything that a schema consists of, one line for each part: tables with their storage and partitions, columns,
 * constraints, indexes, triggers, functions and comments. Equal schemas have equal lists.
 */
async function listCatalog(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    with relations as (
      select c.* from pg_class c where c.relnamespace = current_schema()::regnamespace
        and c.relname not like 'waybill_migrations%'
    )
    select format('relation %s kind=%s persistence=%s options=%s access=%s partition=%s parent=%s key=%s replica=%s',
      c.relname, c.relkind, c.relpersistence, c.reloptions, m.amname, pg_get_expr(c.relpartbound, c.oid),
      i.inhparent::regclass, pg_get_partkeydef(c.oid), c.relreplident) as line
    from relations c left join pg_am m on m.oid = c.relam left join pg_inherits i on i.inhrelid = c.oid
    union all
    select format('column %s.%s %s type=%s null=%s default=%s collation=%s storage=%s generated=%s identity=%s', c.relname,
      row_number() over (partition by c.oid order by a.attnum), a.attname, format_type(a.atttypid, a.atttypmod),
      not a.attnotnull, pg_get_expr(d.adbin, d.adrelid), n.collname, a.attstorage, a.attgenerated, a.attidentity)
    from relations c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    left join pg_collation n on n.oid = a.attcollation
    where c.relkind in ('r', 'p')
    union all
    select format('constraint %s.%s %s validated=%s', c.relname, x.conname, pg_get_constraintdef(x.oid), x.convalidated)
    from pg_constraint x join relations c on c.oid = x.conrelid
    union all
    select format('index %s valid=%s', pg_get_indexdef(x.indexrelid), x.indisvalid)
    from pg_index x join relations c on c.oid = x.indrelid
    union all
    select format('trigger %s %s', c.relname, pg_get_triggerdef(t.oid))
    from pg_trigger t join relations c on c.oid = t.tgrelid where not t.tgisinternal
    union all
    select format('function %s', pg_get_functiondef(p.oid)) from pg_proc p
    where p.pronamespace = current_schema()::regnamespace
    union all
    select format('comment %s.%s %s', c.relname, d.objsubid, d.description)
    from pg_description d join relations c on c.oid = d.objoid and d.classoid = 'pg_class'::regclass
    order by 1`.execute(db)
  return rows.map(({ line }) => line)
}

const onPostgres = inject('database').kind === 'postgres'

let database: TestDatabase
beforeEach(async () => {
  database = await openTestDatabase()
})
afterEach(() => database.close())

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  return client
}

function addColumn(table: string, column: string): Migration {
  return {
    up: (trx) =>
      sql
        .raw(`alter table ${table} add column ${column}`)
        .execute(trx)
        .then(() => undefined),
  }
}

const failing: Migration = { up: (trx) => sql`select 1 / 0`.execute(trx).then(() => undefined) }

async function hasColumn(table: string, column: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_attribute where attrelid = ${table}::regclass and attname = ${column}`.execute(database.db)
  return rows.length === 1
}

async function forgetMigrations(recorded: readonly string[]): Promise<void> {
  await sql`delete from waybill_migrations`.execute(database.db)
  for (const name of recorded)
    await sql`insert into waybill_migrations (name, timestamp) values (${name}, '')`.execute(database.db)
}

test('applies nothing to a migrated database', async () => {
  expect(await listPendingMigrations(database.db)).toEqual([])
  expect(await migrate(database.db)).toEqual([])
})

test('reports no single migration to an operator whose database is empty', async () => {
  await sql`drop schema public cascade`.execute(database.db)
  await sql`create schema public`.execute(database.db)
  const states: MigrationProgress[] = []

  expect(await migrate(database.db, { onProgress: (progress) => states.push(progress) })).toContain(baselineName)

  expect(states).toEqual([])
})

test('applies a migration while a backup reads its table', async (context) => {
  if (database.url === undefined) return context.skip('PGlite has one connection')
  const migrations = { [baselineName]: allMigrations[baselineName], '0033-note': addColumn('accounts', 'note text') }
  await forgetMigrations([baselineName])

  await database.db.transaction().execute(async (backup) => {
    await sql`lock table waybill_migrations in access share mode`.execute(backup)
    expect(await migrate(database.db, { migrations })).toEqual(['0033-note'])
  })
})

test('opens a database of commit 12e9a9b4 without running the baseline', async () => {
  await sql`alter table waybill_migrations drop column version`.execute(database.db)
  await forgetMigrations(['0001-send', '0031-failure-rate-minimum', '0032-status-alerts'])
  const before = await listCatalog(database.db)

  const migrations = { [baselineName]: allMigrations[baselineName], '0033-note': addColumn('accounts', 'note text') }
  expect(await migrate(database.db, { migrations })).toEqual(['0033-note'])

  const added = (await listCatalog(database.db)).filter((line) => !before.includes(line))
  expect(added).toEqual([expect.stringContaining(' note type=text')])
})

test('rejects a database of an older version and names the commit to go through', async () => {
  await forgetMigrations(['0001-send', '0002-status'])
  const before = await listCatalog(database.db)

  await expect(migrate(database.db)).rejects.toThrow(/last migrations of Waybill 0.1.0: check out commit 12e9a9b4/)
  await expect(listPendingMigrations(database.db)).rejects.toThrow('12e9a9b4')
  expect(await listCatalog(database.db)).toEqual(before)
})

test('rejects a database of a newer version and names the version to install', async () => {
  await sql`insert into waybill_migrations values ('0901-future', '', '9.1.0'), ('0902-future', '', '9.2.0')`.execute(
    database.db,
  )

  await expect(migrate(database.db)).rejects.toThrow(
    /0902-future, which this version does not know: install Waybill 9\.2\.0 or newer/,
  )

  await sql`update waybill_migrations set version = null`.execute(database.db)
  await expect(migrate(database.db)).rejects.toThrow('install the version of Waybill that added it')
})

test('keeps the migrations before one that fails, and continues there', async () => {
  const first = { '0901-first': addColumn('accounts', 'first text') }
  const third = { '0903-third': addColumn('accounts', 'third text') }
  const states: MigrationProgress[] = []

  await expect(
    migrate(database.db, {
      migrations: { ...allMigrations, ...first, '0902-second': failing, ...third },
      onProgress: (progress) => states.push(progress),
    }),
  ).rejects.toThrow('the migration 0902-second failed: division by zero')
  expect(states).toEqual([
    { state: 'applying', migration: '0901-first' },
    { state: 'applied', migration: '0901-first' },
    { state: 'applying', migration: '0902-second' },
  ])
  expect(await hasColumn('accounts', 'first')).toBe(true)
  expect(await hasColumn('accounts', 'third')).toBe(false)

  const second = { '0902-second': addColumn('accounts', 'second text') }
  expect(await migrate(database.db, { migrations: { ...allMigrations, ...first, ...second, ...third } })).toEqual([
    '0902-second',
    '0903-third',
  ])
})

test('restores the trigger function that counts messages if it has other calling codes', async () => {
  const before = await listCatalog(database.db)
  const earlier = before.find((line) => line.includes('FUNCTION public.note_message_counts'))?.replace('"34":"ES",', '')
  await sql.raw(earlier?.replace(/^function /, '') ?? '').execute(database.db)
  expect(await listCatalog(database.db)).not.toEqual(before)

  expect(await migrate(database.db)).toEqual([])

  expect(await listCatalog(database.db)).toEqual(before)
  await updateMessageCounts(database.db)
  expect(await listCatalog(database.db)).toEqual(before)
})

test.runIf(onPostgres)("waits for another process's migration longer than the statement timeout", async () => {
  const other = await connect()
  await other.query('select pg_advisory_lock(9292455)')
  const url = `${database.url}?statement_timeout=1000&query_timeout=1500`
  const db = openDatabase({ kind: 'postgres', url, maxWaitSeconds: 60 }, pino({ level: 'silent' }))

  const states: MigrationProgress[] = []
  const migrated = migrate(db, { onProgress: (progress) => states.push(progress) })
  await expect.poll(() => states).toEqual([{ state: 'waiting for another process' }])
  // Longer than both timeouts, whichever of them would end the wait.
  await other.query('select pg_sleep(2)')
  await other.end()

  expect(await migrated).toEqual([])
  expect(states).toEqual([{ state: 'waiting for another process' }])
  await db.destroy()
})

test.runIf(onPostgres)('does not block reads while it waits for a lock', async () => {
  const backup = await connect()
  await backup.query('begin')
  await backup.query('select from messages')
  const states: MigrationProgress[] = []
  const migrated = migrate(database.db, {
    migrations: { ...allMigrations, '0901-note': addColumn('messages', 'note text') },
    onProgress: (progress) => states.push(progress),
  })
  const reader = await connect()
  await expect.poll(() => waitsFor(reader, 'messages')).toBe(true)

  // Queues behind the migration until that gives up.
  await reader.query('select from messages')
  expect(await hasColumn('messages', 'note')).toBe(false)

  await backup.query('commit')
  expect(await migrated).toEqual(['0901-note'])
  expect(states).toContainEqual({ state: 'waiting for a lock', migration: '0901-note', attempt: 2 })
  await backup.end()
  await reader.end()
})

test.runIf(onPostgres)('lets a transaction continue that waits for the migration and blocks it', async () => {
  const old = await connect()
  await old.query('begin')
  await old.query('lock table messages in row exclusive mode')
  const order: Migration = {
    up: async (trx) => {
      await sql`alter table accounts add column note text`.execute(trx)
      await sql`alter table messages add column note text`.execute(trx)
    },
  }
  const migrated = migrate(database.db, { migrations: { ...allMigrations, '0901-order': order } })
  const observer = await connect()
  await expect.poll(() => waitsFor(observer, 'messages')).toBe(true)

  // PostgreSQL would end this transaction if it found the deadlock first.
  await old.query('select from accounts')
  await old.query('commit')

  expect(await migrated).toEqual(['0901-order'])
  const { rows } = await observer.query<{ deadlocks: string }>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  )
  expect(rows).toEqual([{ deadlocks: '0' }])
  await old.end()
  await observer.end()
})

async function waitsFor(client: pg.Client, table: string): Promise<boolean | undefined> {
  const { rows } = await client.query<{ waits: boolean }>(
    `select exists (
      select from pg_locks join pg_database on pg_database.oid = pg_locks.database
      where datname = current_database() and not granted and relation = $1::regclass
    ) as waits`,
    [table],
  )
  return rows[0]?.waits
}

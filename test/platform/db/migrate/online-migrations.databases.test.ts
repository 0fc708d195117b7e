import { sql } from 'kysely'
import pg from 'pg'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { createIndexOnline, fillInBatches } from '../../../../src/platform/db/migrate/online.ts'
import { migrate } from '../../../../src/platform/db/migrate/migrate.ts'
import { allMigrations, type Migrations } from '../../../../src/platform/db/migrate/migrations.ts'
import { openTestDatabase, type TestDatabase } from '../../../support/database.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await openTestDatabase()
})
afterEach(() => database.close())

const fill = { table: 'idempotency_keys', set: `note = 'from ' || message_id`, where: 'note is null' }

async function insertKeys(count: number): Promise<void> {
  await sql`
    insert into idempotency_keys (account_id, key, request_hash, message_id)
    select 'acc_' || i % 3, 'key ' || i, '', 'msg_' || i from generate_series(1, ${count}::integer) i`.execute(
    database.db,
  )
  await sql`alter table idempotency_keys add column note text`.execute(database.db)
}

async function countUnfilled(): Promise<number> {
  const { rows } = await sql`
    select from idempotency_keys where note is distinct from 'from ' || message_id`.execute(database.db)
  return rows.length
}

test('fills a column in batches and continues after a failure', async () => {
  await insertKeys(2_500)
  const progress: number[] = []
  const fails: Migrations = {
    ...allMigrations,
    '0901-fill': {
      run: (db, onProgress) =>
        fillInBatches(db, fill, (rows) => {
          if (rows > 1_000) throw new Error('the process ended')
          onProgress(rows)
        }),
    },
  }
  await expect(migrate(database.db, { migrations: fails })).rejects.toThrow('0901-fill failed: the process ended')
  expect(await countUnfilled()).toBe(500)

  const migrations: Migrations = {
    ...allMigrations,
    '0901-fill': { run: (db, onProgress) => fillInBatches(db, fill, onProgress) },
  }
  const applied = await migrate(database.db, {
    migrations,
    onProgress: (state) => 'rows' in state && progress.push(state.rows),
  })

  expect(applied).toEqual(['0901-fill'])
  expect(progress).toEqual([500])
  expect(await countUnfilled()).toBe(0)
})

test.runIf(inject('database').kind === 'postgres')('waits for no row while it fills a column', async () => {
  await insertKeys(10)
  const other = new pg.Client({ connectionString: database.url })
  await other.connect()
  await other.query('begin')
  await other.query(`select from idempotency_keys where key = 'key 3' for update`)

  const filled = fillInBatches(database.db, fill, () => {})
  await expect.poll(countUnfilled).toBe(1)
  // A statement that waited for the row would end this one with a deadlock.
  await other.query(`update idempotency_keys set created_at = now() where key <> 'key 3'`)
  await other.query('commit')

  await filled
  expect(await countUnfilled()).toBe(0)
  await other.end()
})

async function listIndexes(name: string): Promise<{ name: string; isValid: boolean }[]> {
  const { rows } = await sql<{ name: string; isValid: boolean }>`
    select relname as name, indisvalid as "isValid" from pg_class join pg_index on indexrelid = oid
    where relname like ${`${name}%`} order by relname`.execute(database.db)
  return rows
}

test('builds an index of a partitioned table on all its partitions', async () => {
  const index = { name: 'messages_failed', table: 'messages', definition: `(account_id, id) where status = 'failed'` }

  await createIndexOnline(database.db, index)
  await createIndexOnline(database.db, index)

  const indexes = await listIndexes('messages_failed')
  const { rows: partitions } = await sql`select from pg_inherits where inhparent = 'messages'::regclass`.execute(
    database.db,
  )
  expect(indexes).toHaveLength(partitions.length + 1)
  expect(indexes.every(({ isValid }) => isValid)).toBe(true)
})

test('builds an index on a partition that was created when it began', async () => {
  const index = { name: 'messages_failed', table: 'messages', definition: `(account_id, id) where status = 'failed'` }
  const { db } = database
  // After it has listed the partitions, and before it creates the index of the table.
  const slow = new Proxy(db, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (name !== 'transaction') return typeof value === 'function' ? (value.bind(target) as unknown) : value
      return () => ({
        execute: async (run: Parameters<ReturnType<typeof db.transaction>['execute']>[0]) => {
          await sql`
            create table if not exists messages_added partition of messages for values from ('a') to ('b')`.execute(db)
          return db.transaction().execute(run)
        },
      })
    },
  })

  await createIndexOnline(slow, index)

  const indexes = await listIndexes(index.name)
  expect(indexes.map(({ name }) => name)).toContain('messages_failed_added')
  expect(indexes.every(({ isValid }) => isValid)).toBe(true)
})

test('builds an index again that a failure left invalid', async () => {
  await insertKeys(2)
  await sql`update idempotency_keys set message_id = 'msg_1'`.execute(database.db)
  const index = {
    name: 'idempotency_keys_message',
    table: 'idempotency_keys',
    definition: '(message_id)',
    unique: true,
  }
  await expect(createIndexOnline(database.db, index)).rejects.toThrow('could not create unique index')
  expect(await listIndexes(index.name)).toEqual([{ name: index.name, isValid: false }])

  await sql`delete from idempotency_keys where key = 'key 1'`.execute(database.db)
  await createIndexOnline(database.db, index)

  expect(await listIndexes(index.name)).toEqual([{ name: index.name, isValid: true }])
})

import fs from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { NotStartedError } from '../../../../src/platform/batch.ts'
import { isReady, openPGlite } from '../../../../src/platform/db/database.ts'
import { hasCluster } from '../../../../src/platform/db/embedded/cluster.ts'
import { createCluster } from '../../../../src/platform/db/embedded/open-folder.ts'
import { ConnectionLock } from '../../../../src/platform/db/embedded/embedded.ts'
import { migrate } from '../../../../src/platform/db/migrate/migrate.ts'
import type { Database } from '../../../../src/platform/db/schema.ts'
import { isDatabaseUnavailable, mayHaveCommitted } from '../../../../src/platform/db/errors.ts'
import { vacuumEmbedded } from '../../../../src/platform/db/vacuum.ts'
import { openTestDatabase } from '../../../support/database.ts'

describe('PGlite in a folder', () => {
  let folder: string
  let db: Kysely<Database>
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'waybill-embedded-'))
    db = openPGlite(path.join(folder, 'pgdata'))
    await migrate(db)
    await sql`create table notes (id integer primary key, text text)`.execute(db)
  })
  afterAll(async () => {
    await db.destroy()
    await rm(folder, { recursive: true, force: true })
  })

  test('is created by another process, and reports why that failed', async () => {
    const file = path.join(folder, 'file')
    fs.writeFileSync(file, '')
    await expect(createCluster(path.join(file, 'pgdata'))).rejects.toThrow(/ENOTDIR|EEXIST|not a directory/i)
    expect(hasCluster(path.join(folder, 'pgdata'))).toBe(true)
  })

  test('flushes with fsync, which the file system layer passes on', async () => {
    const { rows } = await sql`
    select current_setting('fsync') as fsync, current_setting('wal_sync_method') as method,
      current_setting('full_page_writes') as pages`.execute(db)
    expect(rows).toEqual([{ fsync: 'on', method: 'fsync', pages: 'on' }])
  })

  test('flushes the write-ahead log before a data file that depends on it', async () => {
    using flushes = vi.spyOn(fs, 'fdatasyncSync')
    // Uses one connection, so that no other statement waits for a flush in between.
    await db.connection().execute(async (connection) => {
      await sql`insert into notes values (-1, 'in the log')`.execute(connection)
      expect(flushes).not.toHaveBeenCalled()
      await sql`checkpoint`.execute(connection)
      expect(flushes).toHaveBeenCalled()
    })
    await sql`delete from notes`.execute(db)
  })

  /** Holds the only connection until the end of the block. */
  async function occupy(): Promise<AsyncDisposable> {
    const begun = Promise.withResolvers<void>()
    const over = Promise.withResolvers<void>()
    const transaction = db.transaction().execute(async (trx) => {
      await sql`select 1`.execute(trx)
      begun.resolve()
      await over.promise
    })
    await begun.promise
    return {
      [Symbol.asyncDispose]: async () => {
        over.resolve()
        await transaction
      },
    }
  }

  test('rejects a statement that cannot start in time and never runs it', async () => {
    {
      await using _occupied = await occupy()
      const insert = sql`insert into notes values (1, 'late')`.execute(db)
      const failure: unknown = await insert.then(
        () => undefined,
        (error: unknown) => error,
      )
      expect(failure).toBeInstanceOf(NotStartedError)
      expect(isDatabaseUnavailable(failure)).toBe(true)
      expect(mayHaveCommitted(failure)).toBe(false)
      expect(await isReady(db)).toBe(false)
    }
    expect(await isReady(db)).toBe(true)
    expect((await sql`select * from notes`.execute(db)).rows).toEqual([])
  })

  test('responds to readiness checks and runs other work in the process while statements wait', async () => {
    const { db, close } = await openTestDatabase()
    await sql`create table notes (id integer primary key, text text)`.execute(db)
    const order: string[] = []
    const statements = Array.from({ length: 400 }, (_, index) =>
      sql`insert into notes values (${index}, repeat('x', 100))`.execute(db).then(() => order.push('insert')),
    )
    const timer = new Promise<void>((resolve) => setTimeout(resolve, 1)).then(() => order.push('timer'))
    const ready = isReady(db).then((response) => order.push(response ? 'ready' : 'not ready'))
    await Promise.all([...statements, timer, ready])
    expect(order.indexOf('ready')).toBeLessThan(100)
    expect(order.indexOf('timer')).toBeLessThan(200)
    await close()
  })

  test('keeps concurrent statements out of a transaction and its rollback', async () => {
    await sql`delete from notes`.execute(db)
    const inserted = Promise.withResolvers<unknown>()
    await db
      .transaction()
      .execute(async (trx) => {
        await sql`insert into notes values (1, 'rolled back')`.execute(trx)
        inserted.resolve(sql`insert into notes values (2, 'kept')`.execute(db))
        throw new Error('no')
      })
      .catch(() => {})
    await inserted.promise
    expect((await sql`select id from notes`.execute(db)).rows).toEqual([{ id: 2 }])
  })

  test('finishes the running statement on close and rejects waiting ones', async () => {
    const lock = new ConnectionLock()
    await lock.acquire()
    const waiting = lock.acquire()
    const closed = lock.close().then(() => 'closed')
    await expect(waiting).rejects.toThrow(NotStartedError)
    await expect(lock.acquire()).rejects.toThrow(NotStartedError)
    expect(await Promise.race([closed, new Promise((resolve) => setImmediate(resolve, 'open'))])).toBe('open')
    lock.release()
    expect(await closed).toBe('closed')
  })

  test('vacuums dead rows', async () => {
    await sql`insert into notes select n, 'old' from generate_series(1000, 1999) n`.execute(db)
    for (let round = 0; round < 5; round++) await sql`update notes set text = 'new'`.execute(db)
    const use = async () => {
      const { rows } = await sql<{ dead: number; vacuums: number }>`
      select n_dead_tup::integer as dead, vacuum_count::integer as vacuums
      from pg_stat_user_tables where relname = 'notes'`.execute(db)
      return rows[0]
    }
    // Otherwise, PostgreSQL adds to its statistics once a second at most, and could add these rows after the vacuum.
    await sql`select pg_stat_force_next_flush()`.execute(db)
    await expect.poll(async () => (await use())?.dead).toBeGreaterThan(1_000)
    await expect.poll(async () => (await vacuumEmbedded(db)).includes('notes')).toBe(true)
    await expect.poll(use).toEqual({ dead: 0, vacuums: 1 })

    const size = async () =>
      (await sql<{ size: number }>`select pg_relation_size('notes')::integer as size`.execute(db)).rows[0]?.size
    const before = await size()
    await sql`update notes set text = 'newer'`.execute(db)
    expect(await size()).toBe(before)
  })

  test('checkpoints a large write-ahead log', async () => {
    const redo = async () => {
      const { rows } = await sql<{ lsn: string }>`select redo_lsn::text as lsn from pg_control_checkpoint()`.execute(db)
      return rows[0]?.lsn
    }
    const before = await redo()
    await vacuumEmbedded(db)
    expect(await redo()).toBe(before)
    await vacuumEmbedded(db, { checkpointBytes: 1_000 })
    expect(await redo()).not.toBe(before)
  })
})

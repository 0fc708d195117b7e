import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { readDatabaseClock } from '../../../src/platform/db/clock.ts'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { migrate } from '../../../src/platform/db/migrate/migrate.ts'
import { adminUrl } from '../../support/database.ts'
import { run, withDatabase } from '../../support/postgres.ts'

/** Runs `use` on an empty database of its own. */
async function withNewDatabase<Result>(
  { options = '', settings = [], search = '' }: { options?: string; settings?: readonly string[]; search?: string },
  use: (db: ReturnType<typeof openDatabase>, name: string) => Promise<Result>,
): Promise<Result> {
  const name = `waybill_session_${randomBytes(6).toString('hex')}`
  await run(adminUrl(), `create database ${name} ${options}`)
  for (const setting of settings) await run(adminUrl(), `alter database ${name} set ${setting}`)
  const url = new URL(withDatabase(adminUrl(), name))
  for (const [parameter, value] of new URLSearchParams(search)) url.searchParams.set(parameter, value)
  const db = openDatabase({ kind: 'postgres', url: url.href, maxWaitSeconds: 60 }, pino({ level: 'silent' }))
  try {
    return await use(db, name)
  } finally {
    await db.destroy()
    await run(adminUrl(), `drop database ${name} with (force)`)
  }
}

describe('settings of the database', () => {
  test.each(['German', 'SQL, DMY', 'Postgres, MDY', 'ISO, YMD'])('do not change times: DateStyle %s', async (style) => {
    await withNewDatabase({ settings: [`datestyle to '${style}'`] }, async (db) => {
      await migrate(db)
      expect(Math.abs(Number(await readDatabaseClock(db)) - Date.now())).toBeLessThan(3_600_000)
    })
  })

  test('do not change what statements return', async () => {
    const settings = [
      "intervalstyle to 'iso_8601'",
      "timezone to 'Asia/Kathmandu'",
      "bytea_output to 'escape'",
      'extra_float_digits to -10',
      'array_nulls to off',
      'transform_null_equals to on',
      'standard_conforming_strings to off',
      "default_transaction_isolation to 'serializable'",
      'default_transaction_deferrable to on',
      'exit_on_error to on',
      "idle_session_timeout to '1s'",
      "idle_in_transaction_session_timeout to '1s'",
      'synchronous_commit to off',
      "statement_timeout to '1ms'",
      "lock_timeout to '1ms'",
    ]
    const read = sql`select '1 day 2 hours'::interval::text as interval, '2026-11-25T12:00:00Z'::timestamptz::text as time,
      '\\x00ff'::bytea::text as bytes, (1.0::float8 / 3)::text as float, ('{NULL}'::text[])[1] is null as "null",
      (select count(*)::int from (values (null::int)) row (value) where value = null) as equals,
      length('a\\b') as length, current_setting('transaction_isolation') as isolation,
      current_setting('transaction_deferrable') as deferrable, current_setting('idle_session_timeout') as idle,
      current_setting('idle_in_transaction_session_timeout') as idle_in_transaction,
      current_setting('exit_on_error') as exit, current_setting('synchronous_commit') as commit, current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock`
    const readAll = async (db: ReturnType<typeof openDatabase>) => {
      await migrate(db)
      return (await read.execute(db)).rows
    }
    const changed = await withNewDatabase({ settings }, readAll)

    expect(changed).toEqual(await withNewDatabase({}, readAll))
    expect(changed).toEqual([
      {
        interval: '1 day 02:00:00',
        time: '2026-11-25 12:00:00+00',
        bytes: '\\x00ff',
        float: '0.3333333333333333',
        null: true,
        equals: 0,
        length: 3,
        isolation: 'read committed',
        deferrable: 'off',
        idle: '0',
        idle_in_transaction: '0',
        exit: 'off',
        commit: 'on',
        statement: '8s',
        lock: '1s',
      },
    ])
  })

  test('are not taken from the URL, which would replace the settings of Waybill', async () => {
    const search = 'statement_timeout=0&lock_timeout=0&query_timeout=1&idle_in_transaction_session_timeout=1'
    await withNewDatabase({ search }, async (db) => {
      await migrate(db)
      const { rows } = await sql`select current_setting('statement_timeout') as statement,
        current_setting('lock_timeout') as lock, current_setting('idle_in_transaction_session_timeout') as idle,
        pg_sleep(0.01)`.execute(db)
      expect(rows).toMatchObject([{ statement: '8s', lock: '1s', idle: '0' }])
    })
  })

  test('that a standby waits for are kept', async () => {
    await withNewDatabase({ settings: ['synchronous_commit to remote_apply'] }, async (db) => {
      const { rows } = await sql`select current_setting('synchronous_commit') as commit`.execute(db)
      expect(rows).toEqual([{ commit: 'remote_apply' }])
    })
  })

  test.each([
    { options: "template template0 encoding 'LATIN1' locale 'C'", says: /has the encoding LATIN1.*needs UTF8/ },
    { options: "template template0 encoding 'SQL_ASCII' locale 'C'", says: /has the encoding SQL_ASCII.*needs UTF8/ },
    { settings: ['search_path to nowhere'], says: /search_path .* names no schema that exists/ },
    { settings: ['default_transaction_read_only to on'], says: /default_transaction_read_only is on/ },
    { settings: ['session_replication_role to replica'], says: /session_replication_role is replica/ },
  ])('prevent the start if they cannot be used: $says', async ({ says, ...database }) => {
    await withNewDatabase(database, async (db) => {
      await expect(migrate(db)).rejects.toThrow(says)
    })
  })

  test('names the grant that a user without the right to create tables needs', async () => {
    await withNewDatabase({}, async (db, name) => {
      const role = `${name}_user`
      await run(adminUrl(), `create role ${role} login password 'secret'`)
      const url = new URL(withDatabase(adminUrl(), name))
      Object.assign(url, { username: role, password: 'secret' })
      const own = openDatabase({ kind: 'postgres', url: url.href, maxWaitSeconds: 60 }, pino({ level: 'silent' }))
      try {
        await expect(migrate(own)).rejects.toThrow(
          `The database user may not create tables in the schema public. Run as its owner or a superuser: grant create on schema public to ${role}.`,
        )
        await sql`grant create on schema public to ${sql.id(role)}`.execute(db)
        expect(await migrate(own)).not.toEqual([])
      } finally {
        await own.destroy()
        await sql`drop owned by ${sql.id(role)}`.execute(db)
        await run(adminUrl(), `drop role ${role}`)
      }
    })
  })

  test('a migrator that is stopped does not wait for another one', async () => {
    await withNewDatabase({}, async (db) => {
      await db.connection().execute(async (other) => {
        await sql`select pg_advisory_lock(9292455)`.execute(other)
        const stopping = new AbortController()
        const migrated = migrate(db, { onProgress: () => stopping.abort(), signal: stopping.signal })
        await expect(migrated).rejects.toMatchObject({ name: 'AbortError' })
      })
    })
  })
})

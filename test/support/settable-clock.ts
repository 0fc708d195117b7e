import { type Kysely, sql } from 'kysely'
import { pino } from 'pino'
import { openDatabase } from '../../src/platform/db/database.ts'
import type { Database } from '../../src/platform/db/schema.ts'
import { patientSeconds, type TestDatabase } from './database.ts'

/** Functions that shadow PostgreSQL's own, so that statements and column defaults see the time that a test sets. */
const statements = [
  `create table clock_shift (seconds float8 not null)`,
  `insert into clock_shift values (0)`,
  `create function public.now() returns timestamptz language sql stable
    as 'select pg_catalog.now() + seconds * interval ''1 second'' from public.clock_shift'`,
  ...['clock_timestamp', 'statement_timestamp'].map(
    (name) => `create function public.${name}() returns timestamptz language sql volatile
      as 'select pg_catalog.${name}() + seconds * interval ''1 second'' from public.clock_shift'`,
  ),
  `set search_path = public, pg_catalog`,
  `do $$ begin execute format('alter database %I set search_path = public, pg_catalog', current_database()); end $$`,
  `alter table messages alter column recorded_at set default now()`,
  `alter table idempotency_keys alter column created_at set default now()`,
]

/** Lets `shiftClock` set the clock of a database for all connections opened afterwards. */
export async function makeClockSettable(db: Kysely<Database>): Promise<void> {
  await db.connection().execute(async (connection) => {
    for (const statement of statements) await sql.raw(statement).execute(connection)
  })
}

/** Sets the clock forward, or back if negative. */
export async function shiftClock(db: Kysely<Database>, seconds: number): Promise<void> {
  await sql`update clock_shift set seconds = seconds + ${seconds}::float8`.execute(db)
}

/** Returns the same database with a settable clock. Close the returned one. */
export async function withSettableClock(database: TestDatabase): Promise<TestDatabase> {
  await makeClockSettable(database.db)
  const { url } = database
  // PGlite has a single connection, which is already set up.
  if (url === undefined) return database
  const db = openDatabase({ kind: 'postgres', url, ...patientSeconds }, pino({ level: 'silent' }))
  return {
    db,
    url,
    close: async () => {
      await db.destroy()
      await database.close()
    },
  }
}

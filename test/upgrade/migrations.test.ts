import { sql } from 'kysely'
import { expect, test } from 'vitest'
import {
  allMigrations,
  baselineName,
  type Migration,
  type Migrations,
} from '../../src/platform/db/migrate/migrations.ts'
import { findProblems } from './beside.ts'

function runs(...statements: string[]): Migration {
  return {
    up: async (trx) => {
      for (const statement of statements) await sql.raw(statement).execute(trx)
    },
  }
}

/** In another order than a send or a status takes its locks. */
const harmless: Migrations = {
  '0901-columns': runs(
    'alter table webhook_endpoints add column note text',
    `alter table accounts add column note text not null default ''`,
    'alter table messages add column note text',
    'alter table webhook_deliveries add column note integer',
  ),
  '0902-table': runs('create table notes (account_id text references accounts on delete cascade, note text)'),
}

const later = Object.fromEntries(Object.entries(allMigrations).filter(([name]) => name !== baselineName))
const migrations = { ...later, ...harmless }

test(
  'applies each migration after the baseline beside the version before',
  // Longer than a migration retries, so that its error is seen: `0901-columns` gets its locks late on a busy machine.
  { timeout: Object.keys(migrations).length * 20_000 },
  async () => {
    // On a busy machine, a lock that is held for a moment is held for longer than a second.
    expect(await findProblems(migrations, { DATABASE_LOCK_TIMEOUT: '8s' })).toEqual([])
  },
)

test.each([
  {
    kind: 'takes away what the version before uses',
    migration: runs('alter table messages rename column external_id to reference'),
    problem: /^a send was answered with 50/,
  },
  {
    kind: 'holds a lock for longer than a statement waits for it',
    migration: runs('alter table messages add column note text', 'select pg_sleep(1.5)'),
    problem: /^a send was answered with 503|a request waited too long for a lock of the database \(55P03\)$/,
  },
  {
    kind: 'rewrites a table',
    migration: runs('alter table messages add column drawn float8 default random()'),
    problem: /rewrites the table messages/,
  },
  {
    kind: 'reads a whole table',
    migration: runs(`alter table events add constraint named check (type <> '')`),
    problem: /^reads the whole table events_\d+$/,
  },
])('fails for a migration that $kind', async ({ migration, problem }) => {
  expect(await findProblems({ '0901-bad': migration })).toContainEqual(expect.stringMatching(problem))
})

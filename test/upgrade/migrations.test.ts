import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import pg from 'pg'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openDatabase } from '../../src/platform/db/database.ts'
import { migrate } from '../../src/platform/db/migrate/migrate.ts'
import {
  allMigrations,
  baselineName,
  type Migration,
  type Migrations,
} from '../../src/platform/db/migrate/migrations.ts'
import { type Running, startRunning } from './running.ts'
import { startTraffic, type Traffic } from './traffic.ts'

/** Tables whose size has no bound. A migration must not read them as a whole. */
const growing =
  /^(messages|message_contents|wa_message_ids|events|idempotency_keys|webhook_\w+|api_requests)(_\d+|_rest)?$/

/**
 * Applies migrations while the version before serves traffic, and returns what went wrong. Each one meets transactions of
 * the version before that hold their locks, and is then held before its commit until others wait for it.
 */
async function findProblems(migrations: Migrations, environment?: Record<string, string>): Promise<string[]> {
  await using running = await startRunning(environment)
  running.letRecover()
  const db = openDatabase({ kind: 'postgres', url: running.databaseUrl }, pino({ level: 'silent' }))
  const observer = new pg.Client({ connectionString: running.databaseUrl })
  await observer.connect()
  const traffic = startTraffic('beside', running.old)
  try {
    await forbidRewrites(observer)
    await expect.poll(() => traffic.sent.length).toBeGreaterThan(20)
    const problems: string[] = []
    for (const name of Object.keys(migrations).toSorted())
      problems.push(...(await applyOne({ db, observer, running, traffic, migrations, name })))
    const applied = traffic.sent.length
    await expect.poll(() => traffic.sent.length).toBeGreaterThan(applied + 40)
    await traffic.stop()
    return [...problems, ...(await findTroubles(observer, running, traffic))]
  } finally {
    await traffic.stop()
    await observer.end()
    await db.destroy()
  }
}

/** PostgreSQL reports each change that copies a table. */
async function forbidRewrites(client: pg.Client): Promise<void> {
  await client.query(`
    create function forbid_rewrite() returns event_trigger language plpgsql as $$
      begin raise exception 'rewrites the table %', pg_event_trigger_table_rewrite_oid()::regclass; end $$`)
  await client.query('create event trigger forbid_rewrite on table_rewrite execute function forbid_rewrite()')
}

interface Scene {
  db: ReturnType<typeof openDatabase>
  observer: pg.Client
  running: Running
  traffic: Traffic
  migrations: Migrations
  name: string
}

async function applyOne(scene: Scene): Promise<string[]> {
  const { db, migrations, name } = scene
  const known = Object.fromEntries(Object.entries(migrations).filter(([other]) => other < name))
  const problems: string[] = []
  const state = { pid: 0, hasWaited: false, isHeld: false, isDone: false }
  const blocker = await blockTransactions(scene)
  const migrated = migrate(db, {
    migrations: { ...known, [name]: hold(scene, state, problems) },
    onProgress: (progress) => {
      if (progress.state === 'waiting for a lock') state.hasWaited = true
    },
  })
    .catch((error: unknown) => problems.push(error instanceof Error ? error.message : String(error)))
    .finally(() => (state.isDone = true))
  await waitUntil(
    async () => state.hasWaited || state.isHeld || state.isDone || (await waits(scene.observer, state.pid)),
  )
  await blocker.end()
  await migrated
  return problems
}

/** Keeps transactions open that settle sends and apply statuses, and those that record attempts, until the client ends. */
async function blockTransactions({ running, observer }: Scene): Promise<pg.Client> {
  const blocker = new pg.Client({ connectionString: running.databaseUrl })
  await blocker.connect()
  await blocker.query('begin')
  await blocker.query('select from event_clocks for update')
  await blocker.query('lock table webhook_attempts in share mode')
  await waitUntil(async () => {
    const { rows } = await observer.query(
      `select from pg_stat_activity where application_name = 'waybill' and wait_event_type = 'Lock'
        and datname = current_database()`,
    )
    return rows.length > 0
  })
  return blocker
}

interface State {
  pid: number
  isHeld: boolean
}

/** The migration, held before its commit until the version before waits for it, or does not need to. */
function hold({ migrations, name, observer, traffic }: Scene, state: State, problems: string[]): Migration {
  const migration = migrations[name]
  if (!migration) throw new Error(`there is no migration ${name}`)
  if (!('up' in migration)) return migration
  return {
    up: async (trx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
      state.pid = rows[0]?.pid ?? 0
      const earlier = await countScans(trx)
      await migration.up(trx)
      for (const [table, scans] of await countScans(trx))
        if (scans > (earlier.get(table) ?? 0)) problems.push(`reads the whole table ${table}`)
      state.isHeld = true
      const before = traffic.sent.length
      await waitUntil(async () => traffic.sent.length > before + 8 || (await blocksOthers(observer, state.pid)))
    },
  }
}

/**
 * How often growing tables were read as a whole. PostgreSQL counts for a transaction also what earlier ones of its
 * connection did within the last second, such as the migration before.
 */
async function countScans(trx: Kysely<unknown>): Promise<Map<string, number>> {
  const { rows } = await sql<{ table: string; scans: number }>`
    select relname::text as table, seq_scan::integer as scans from pg_stat_xact_user_tables where seq_scan > 0`.execute(
    trx,
  )
  return new Map(rows.flatMap(({ table, scans }) => (growing.test(table) ? [[table, scans] as const] : [])))
}

async function waits(client: pg.Client, pid: number): Promise<boolean> {
  const { rows } = await client.query(`select from pg_stat_activity where pid = $1 and wait_event_type = 'Lock'`, [pid])
  return rows.length > 0
}

async function blocksOthers(client: pg.Client, pid: number): Promise<boolean> {
  const { rows } = await client.query(
    `select from pg_stat_activity where wait_event_type = 'Lock' and $1 = any(pg_blocking_pids(pid))`,
    [pid],
  )
  return rows.length > 0
}

/** Shorter than a statement of the version before waits for a lock. */
const maxHeldMilliseconds = 400

async function waitUntil(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + maxHeldMilliseconds
  while (!(await isTrue()) && performance.now() < deadline) await delay(5)
}

/** What clients, the version before and PostgreSQL noticed. */
async function findTroubles(observer: pg.Client, { old }: Running, { sent }: Traffic): Promise<string[]> {
  const failed = sent.filter(({ statusCode }) => statusCode !== 200)
  const unread = () => observer.query(`select from messages where status <> 'read'`).then(({ rows }) => rows.length)
  if (failed.length === 0) await expect.poll(unread).toBe(0)
  const { rows } = await observer.query<{ deadlocks: string }>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  )
  return [
    ...new Set(failed.map(({ statusCode, error }) => `a send was answered with ${statusCode}: ${error}`)),
    ...new Set(old.output.flatMap(describeError)),
    ...rows.flatMap(({ deadlocks }) => (deadlocks === '0' ? [] : [`${deadlocks} deadlocks`])),
  ]
}

/** The errors in the log of the version before. */
function describeError(line: string): string[] {
  if (!line.includes('"level":"error"')) return []
  const { msg, err } = JSON.parse(line) as { msg: string; err?: { code?: string } }
  return [`the version before logged: ${msg} (${err?.code})`]
}

function runs(...statements: string[]): Migration {
  return {
    up: async (trx) => {
      for (const statement of statements) await sql.raw(statement).execute(trx)
    },
  }
}

const harmless: Migrations = {
  // In another order than deliveries take their locks. Each table more would make an attempt succeed less often.
  '0901-columns': runs(
    'alter table webhook_deliveries add column note integer',
    'alter table messages add column note text',
  ),
  '0902-default': runs(`alter table accounts add column note text not null default ''`),
  '0903-table': runs('create table notes (account_id text references accounts on delete cascade, note text)'),
}

const later = Object.fromEntries(Object.entries(allMigrations).filter(([name]) => name !== baselineName))
const migrations = { ...later, ...harmless }

test(
  'applies each migration after the baseline beside the version before',
  // Longer than a migration retries, so that its error is seen.
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

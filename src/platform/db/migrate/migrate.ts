import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { ServiceError } from '../../../../contracts/errors.ts'
import packageJson from '../../../../package.json' with { type: 'json' }
import { readDatabaseClock } from '../clock.ts'
import { rejectMissingPrivilege, rejectPooler, rejectUnusableSettings } from '../connect/session.ts'
import { withoutTimeout } from '../database.ts'
import { isDeadlock, isLockTimeout } from '../errors.ts'
import { updateMessageCounts } from '../message-counts.ts'
import { createPartitions } from '../partitions.ts'
import type { Database } from '../schema.ts'
import { allMigrations, baselineName, type Migration, type Migrations } from './migrations.ts'
import { limitLockWait } from './online.ts'

/** What the runner is doing, for an operator who waits for it. */
export type MigrationProgress =
  | { state: 'waiting for another process' }
  | { state: 'applying' | 'applied'; migration: string }
  | { state: 'waiting for a lock'; migration: string; attempt: number }
  | { state: 'filling'; migration: string; rows: number }

export function describeProgress(progress: MigrationProgress): string {
  switch (progress.state) {
    case 'waiting for another process':
      return 'Another process is migrating the database. Waiting for it.'
    case 'applying':
      return `Applying ${progress.migration}.`
    case 'waiting for a lock':
      return `${progress.migration}: a table is locked. Trying again (attempt ${progress.attempt}).`
    case 'filling':
      return `${progress.migration}: ${progress.rows} rows.`
    case 'applied':
      return `Applied ${progress.migration}.`
  }
}

export interface MigrateOptions {
  migrations?: Migrations
  onProgress?: (progress: MigrationProgress) => void
  /** Ends the wait for another process, with an AbortError. A migration that runs is finished. */
  signal?: AbortSignal
}

/**
 * Applies pending migrations and returns their names. If several processes start together, one migrates while the others
 * wait. Each migration is recorded as soon as it is applied, so a failure keeps the migrations before it.
 */
export async function migrate(
  db: Kysely<Database>,
  { migrations = allMigrations, onProgress = () => {}, signal }: MigrateOptions = {},
): Promise<string[]> {
  await rejectPooler(db)
  await rejectUnusableSettings(db)
  return db.connection().execute(async (connection) => {
    await acquireLock(connection, onProgress, signal)
    try {
      const pending = findPending(await readApplied(connection), Object.keys(migrations))
      await withoutTimeout(connection, () => applyAll(connection, pending, migrations, onProgress))
      await updateMessageCounts(connection)
      // A partition that cannot be created now must not prevent the start: housekeeping retries every hour and logs a
      // warning.
      await createPartitions(connection, await readDatabaseClock(connection))
      return pending
    } finally {
      await sql`select pg_advisory_unlock(${advisoryLock})`.execute(connection)
    }
  })
}

export async function listPendingMigrations(db: Kysely<Database>): Promise<string[]> {
  return findPending(await readApplied(db), Object.keys(allMigrations))
}

/** An arbitrary key that no other user of the database locks: "waybill" on a phone keypad. */
const advisoryLock = 9_292_455
const lockPollMilliseconds = 200

/**
 * Polls for the lock of the migrators. A statement that waits for it would hold a snapshot, and the other migrator could
 * wait for the end of that snapshot (`create index concurrently`).
 */
async function acquireLock(
  db: Kysely<Database>,
  onProgress: (progress: MigrationProgress) => void,
  signal?: AbortSignal,
): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    const { rows } = await sql<{ locked: boolean }>`
      select pg_try_advisory_lock(${advisoryLock}) as locked`.execute(db)
    if (rows[0]?.locked) return
    if (isFirst) onProgress({ state: 'waiting for another process' })
    await delay(lockPollMilliseconds, undefined, { signal })
  }
}

async function applyAll(
  db: Kysely<Database>,
  pending: readonly string[],
  migrations: Migrations,
  onProgress: (progress: MigrationProgress) => void,
): Promise<void> {
  if (pending.length > 0) {
    await rejectMissingPrivilege(db)
    await prepareAppliedTable(db, onProgress)
  }
  // A new schema is there in a moment.
  const report = pending.includes(baselineName) ? () => {} : onProgress
  for (const name of pending) {
    const migration = migrations[name]
    if (!migration) continue
    report({ state: 'applying', migration: name })
    await withRetries(name, report, () => apply(db, name, migration, report))
    report({ state: 'applied', migration: name })
  }
}

async function apply(
  db: Kysely<Database>,
  name: string,
  migration: Migration,
  onProgress: (progress: MigrationProgress) => void,
): Promise<void> {
  if ('up' in migration)
    return db.transaction().execute(async (trx) => {
      await limitLockWait(trx)
      // A migration sees the schema of its time, not today's types.
      await migration.up(trx as unknown as Kysely<unknown>)
      await recordApplied(trx, name)
    })
  await migration.run(db, (rows) => onProgress({ state: 'filling', migration: name, rows }))
  await recordApplied(db, name)
}

const maxAttempts = 150
const maxPauseMilliseconds = 2_000

async function withRetries(
  name: string,
  onProgress: (progress: MigrationProgress) => void,
  run: () => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (!isLockTimeout(error) && !isDeadlock(error)) throw describeFailure(name, error)
      if (attempt === maxAttempts) throw new ServiceError('SERVICE_UNAVAILABLE', describeBlocked(name))
    }
    onProgress({ state: 'waiting for a lock', migration: name, attempt: attempt + 1 })
    await delay(Math.min(100 * attempt, maxPauseMilliseconds))
  }
}

function describeFailure(name: string, error: unknown): Error {
  const reason = error instanceof Error ? error.message : String(error)
  return new Error(`the migration ${name} failed: ${reason}`, { cause: error })
}

function describeBlocked(name: string): string {
  return `The migration ${name} could not run because another program, such as a backup, holds a lock on a table. Migrations before it are applied, and both versions can use the database. Start again when that program has finished.`
}

/** A migration that the database has recorded. */
interface AppliedMigration {
  name: string
  /** The version of Waybill that applied it; null for versions that did not record it. */
  version: string | null
}

/** The last migration of commit 12e9a9b4, which built the same schema in 32 steps. */
const lastBeforeBaseline = '0032-status-alerts'

/**
 * Returns the names of the migrations that the database lacks. Throws if it belongs to a version of which this one knows
 * no way on.
 */
function findPending(applied: readonly AppliedMigration[], known: readonly string[]): string[] {
  if (applied.length === 0) return known.toSorted()
  const names = new Set(applied.map(({ name }) => name))
  if (!names.has(baselineName) && !names.has(lastBeforeBaseline)) throw new ServiceError('SETTING_REFUSED', tooOld)
  const newer = applied.filter(({ name }) => name > lastBeforeBaseline && !known.includes(name))
  if (newer.length > 0) throw new ServiceError('SETTING_REFUSED', describeNewer(newer))
  return known.filter((name) => name !== baselineName && !names.has(name)).toSorted()
}

const tooOld =
  'The database lacks the last migrations of Waybill 0.1.0: check out commit 12e9a9b4 of 0.1.0, run `npm ci` and `npm run waybill -- migrate` in it, and then start this version again.'

function describeNewer(newer: readonly AppliedMigration[]): string {
  const last = newer.toSorted((a, b) => (a.name < b.name ? -1 : 1)).at(-1)
  const version = last?.version ? `Waybill ${last.version} or newer` : 'the version of Waybill that added it'
  return `The database has the migration ${last?.name}, which this version does not know: install ${version}, or restore a backup from before the upgrade.`
}

/** Reads the migrations that the database has recorded; none if it is empty. */
async function readApplied(db: Kysely<Database>): Promise<AppliedMigration[]> {
  const table = await describeAppliedTable(db)
  if (!table.exists) return []
  const { rows } = await sql<AppliedMigration>`
    select name, ${table.hasVersion ? sql`version` : sql`null`} as version from waybill_migrations order by name`.execute(
    db,
  )
  return rows
}

async function describeAppliedTable(db: Kysely<Database>): Promise<{ exists: boolean; hasVersion: boolean }> {
  const { rows } = await sql<{ exists: boolean; hasVersion: boolean }>`
    select to_regclass('waybill_migrations') is not null as exists, exists (
      select from pg_attribute where attrelid = to_regclass('waybill_migrations') and attname = 'version'
    ) as "hasVersion"`.execute(db)
  return rows[0] ?? { exists: false, hasVersion: false }
}

/** Prepares the table of applied migrations, which Kysely created in databases of earlier versions. */
async function prepareAppliedTable(
  db: Kysely<Database>,
  onProgress: (progress: MigrationProgress) => void,
): Promise<void> {
  await sql`
    create table if not exists waybill_migrations (
      name varchar(255) primary key,
      timestamp varchar(255) not null,
      version text
    )`.execute(db)
  // Even if the column exists, `alter table` waits for every reader of the table, such as a backup.
  if ((await describeAppliedTable(db)).hasVersion) return
  await withRetries('waybill_migrations', onProgress, () =>
    db.transaction().execute(async (trx) => {
      await limitLockWait(trx)
      await sql`alter table waybill_migrations add column version text`.execute(trx)
    }),
  )
}

async function recordApplied(trx: Kysely<Database>, name: string): Promise<void> {
  await sql`
    insert into waybill_migrations (name, timestamp, version)
    values (${name}, ${new Date().toISOString()}, ${packageJson.version})`.execute(trx)
}

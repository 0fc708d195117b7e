import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { type Migration, type MigrationResult, Migrator } from 'kysely/migration'
import { readDatabaseClock } from './clock.ts'
import { withoutTimeout } from './database.ts'
import * as send from './migrations/0001-send.ts'
import * as status from './migrations/0002-status.ts'
import * as settings from './migrations/0003-settings.ts'
import * as dashboard from './migrations/0004-dashboard.ts'
import * as counts from './migrations/0005-counts.ts'
import * as hotUpdates from './migrations/0006-hot-updates.ts'
import * as narrowKeys from './migrations/0007-narrow-keys.ts'
import * as switchedOff from './migrations/0008-switched-off.ts'
import * as outcomeUnknown from './migrations/0009-outcome-unknown.ts'
import * as clocks from './migrations/0010-clocks.ts'
import * as auditChain from './migrations/0011-audit-chain.ts'
import * as whatsappHealth from './migrations/0012-whatsapp-health.ts'
import * as media from './migrations/0013-media.ts'
import * as replies from './migrations/0014-replies.ts'
import * as codes from './migrations/0015-codes.ts'
import * as templateMaking from './migrations/0016-template-making.ts'
import * as alerts from './migrations/0017-alerts.ts'
import * as people from './migrations/0018-people.ts'
import * as alertChannels from './migrations/0019-alert-channels.ts'
import * as endpointLimits from './migrations/0020-endpoint-limits.ts'
import * as apiRequests from './migrations/0021-api-requests.ts'
import * as alertRecipients from './migrations/0022-alert-recipients.ts'
import * as savedViews from './migrations/0023-saved-views.ts'
import * as countBuckets from './migrations/0024-count-buckets.ts'
import * as attemptCounts from './migrations/0025-attempt-counts.ts'
import * as operators from './migrations/0026-operators.ts'
import * as pricing from './migrations/0027-pricing.ts'
import * as traceContext from './migrations/0028-trace-context.ts'
import * as messageContents from './migrations/0029-message-contents.ts'
import * as allMessages from './migrations/0030-all-messages.ts'
import * as failureRateMinimum from './migrations/0031-failure-rate-minimum.ts'
import * as statusAlerts from './migrations/0032-status-alerts.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import { createPartitions } from './partitions.ts'
import { rejectPooler } from './connect/pooler.ts'
import type { Database } from './schema.ts'
import { isLockTimeout } from './errors.ts'

/** Migrations run forward only, in this order. A released migration is never edited. */
const migrations: Record<string, Migration> = {
  '0001-send': send,
  '0002-status': status,
  '0003-settings': settings,
  '0004-dashboard': dashboard,
  '0005-counts': counts,
  '0006-hot-updates': hotUpdates,
  '0007-narrow-keys': narrowKeys,
  '0008-switched-off': switchedOff,
  '0009-outcome-unknown': outcomeUnknown,
  '0010-clocks': clocks,
  '0011-audit-chain': auditChain,
  '0012-whatsapp-health': whatsappHealth,
  '0013-media': media,
  '0014-replies': replies,
  '0015-codes': codes,
  '0016-template-making': templateMaking,
  '0017-alerts': alerts,
  '0018-people': people,
  '0019-alert-channels': alertChannels,
  '0020-endpoint-limits': endpointLimits,
  '0021-api-requests': apiRequests,
  '0022-alert-recipients': alertRecipients,
  '0023-saved-views': savedViews,
  '0024-count-buckets': countBuckets,
  '0025-attempt-counts': attemptCounts,
  '0026-operators': operators,
  '0027-pricing': pricing,
  '0028-trace-context': traceContext,
  '0029-message-contents': messageContents,
  '0030-all-messages': allMessages,
  '0031-failure-rate-minimum': failureRateMinimum,
  '0032-status-alerts': statusAlerts,
}

/** An arbitrary key that no other user of the database locks: "waybill" on a phone keypad. */
const advisoryLock = 9_292_455

/**
 * Applies pending migrations and returns their names. If several processes start together, one migrates while the
 * others wait. The advisory lock also covers the creation of the migration table, which Kysely's own lock does not.
 */
export async function migrate(db: Kysely<Database>): Promise<string[]> {
  await rejectPooler(db)
  return db.connection().execute(async (connection) => {
    await withoutTimeout(connection, () => sql`select pg_advisory_lock(${advisoryLock})`.execute(connection))
    try {
      await renameMigrations(connection)
      const results = await withoutTimeout(connection, () => migrateWithRetries(connection))
      // A partition that cannot be created now must not prevent the start: housekeeping retries every hour and logs a
      // warning.
      await createPartitions(connection, await readDatabaseClock(connection))
      return results.map((result) => result.migrationName)
    } finally {
      await sql`select pg_advisory_unlock(${advisoryLock})`.execute(connection)
    }
  })
}

const lockTimeout = '1s'
const pauseMilliseconds = 2_000
const maxAttempts = 150

/**
 * While a migration waits for a table lock, all other statements on that table wait behind it. So a migration gives up
 * after a second and retries. All pending migrations run in one transaction, so a failed attempt changes nothing.
 */
async function migrateWithRetries(connection: Kysely<Database>): Promise<MigrationResult[]> {
  for (let attempts = 1; ; attempts++) {
    await sql`select set_config('lock_timeout', ${lockTimeout}, false)`.execute(connection)
    const { error, results } = await createMigrator(connection).migrateToLatest()
    if (error === undefined) return results ?? []
    if (!isLockTimeout(error)) throw error as Error
    if (attempts === maxAttempts)
      throw new ServiceError(
        'SERVICE_UNAVAILABLE',
        'The migration could not run because another program, such as a backup, holds a lock on a table. Nothing was changed. Start again when that program has finished.',
      )
    await delay(pauseMilliseconds)
  }
}

export async function listPendingMigrations(db: Kysely<Database>): Promise<string[]> {
  const all = await createMigrator(db).getMigrations()
  return all.filter((migration) => migration.executedAt === undefined).map((migration) => migration.name)
}

function createMigrator(db: Kysely<Database>): Migrator {
  return new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(migrations) },
    migrationTableName: 'waybill_migrations',
    migrationLockTableName: 'waybill_migrations_lock',
  })
}

/**
 * Renames migrations in databases of versions of 2026-11-21 and 2026-11-22. The first did the work of 0004-dashboard in
 * 0003 and called 0005-counts 0004-counts; the second called 0012-whatsapp-health 0013-whatsapp-health.
 */
async function renameMigrations(db: Kysely<Database>): Promise<void> {
  const { rows } = await sql<{ isNew: boolean }>`
    select to_regclass('waybill_migrations') is null as "isNew"`.execute(db)
  if (rows[0]?.isNew) return
  await sql`
    with renamed as (
      update waybill_migrations set name = '0005-counts' where name = '0004-counts' returning timestamp
    )
    insert into waybill_migrations (name, timestamp) select '0004-dashboard', timestamp from renamed`.execute(db)
  await sql`
    update waybill_migrations set name = '0012-whatsapp-health' where name = '0013-whatsapp-health'`.execute(db)
}

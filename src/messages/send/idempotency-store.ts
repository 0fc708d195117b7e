import { type Kysely, sql } from 'kysely'
import { fieldsOf } from '../../platform/db/columns.ts'
import type { Database } from '../../platform/db/schema.ts'
import { messageColumns, type StoredMessage } from '../message.ts'
import { type EarlierRequest, maxSendSeconds } from './idempotency.ts'

/** As a PostgreSQL interval. */
export const idempotencyKeyLifetime = `interval '24 hours'`
/** As a PostgreSQL interval. */
export const maxSendDuration = `interval '${maxSendSeconds} seconds'`

/** Finds the first request of this account with this key, unless the key has expired. */
export async function findEarlierRequest(
  db: Kysely<Database>,
  accountId: string,
  key: string,
): Promise<EarlierRequest | undefined> {
  // A key that is further in the future than `maxSendDuration` was stored before the clock was set back.
  const { rows } = await sql<StoredMessage & { requestHash: Uint8Array; runningSeconds: number | null }>`
    select ${sql.raw(fieldsOf(messageColumns, 'm'))}, i.request_hash as "requestHash",
      case when i.created_at > now() - ${sql.raw(maxSendDuration)} and i.created_at <= now() + ${sql.raw(maxSendDuration)}
        then extract(epoch from now() - i.created_at)::float8 end as "runningSeconds"
    from idempotency_keys i
    join messages m on m.account_id = i.account_id and m.id = i.message_id
    where i.account_id = ${accountId} and i.key = ${key} and i.created_at > now() - ${sql.raw(idempotencyKeyLifetime)}`.execute(
    db,
  )
  const row = rows[0]
  return row && { requestHash: row.requestHash, runningSeconds: row.runningSeconds ?? undefined, message: row }
}

/** Maximum number of keys per statement, so that none runs long. */
const defaultBatchSize = 5_000

/** Deletes expired keys, and returns how many. Covers all accounts, because only the age of a key matters. */
export async function deleteExpiredIdempotencyKeys(
  db: Kysely<Database>,
  now: Date,
  batchSize: number = defaultBatchSize,
): Promise<number> {
  let deleted = 0
  for (;;) {
    // The age is checked again, because a key can be claimed again after the subquery found it.
    const { numAffectedRows } = await sql`
      delete from idempotency_keys
      where created_at <= ${now}::timestamptz - ${sql.raw(idempotencyKeyLifetime)} and ctid = any(array(
        select ctid from idempotency_keys where created_at <= ${now}::timestamptz - ${sql.raw(idempotencyKeyLifetime)}
        limit ${sql.lit(batchSize)}
      ))`.execute(db)
    deleted += Number(numAffectedRows ?? 0)
    if (Number(numAffectedRows ?? 0) < batchSize) return deleted
  }
}

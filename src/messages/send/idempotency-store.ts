import { type Kysely, sql } from 'kysely'
import { fieldsOf } from '../../platform/db/columns.ts'
import type { Database } from '../../platform/db/schema.ts'
import { messageColumns, type StoredMessage } from '../columns.ts'
import type { EarlierRequest } from './idempotency.ts'

/** How long a key is kept, as PostgreSQL writes it. */
export const idempotencyKept = `interval '24 hours'`
/** How long a send can take at the most (deadline upstream, and slack). A key far ahead is of before the clock was set back. */
export const longestSend = `interval '60 seconds'`

/** The first request of this account with this key, unless the key has expired. */
export async function findEarlierRequest(
  db: Kysely<Database>,
  accountId: string,
  key: string,
): Promise<EarlierRequest | undefined> {
  const { rows } = await sql<StoredMessage & { request_hash: Uint8Array; may_be_running: boolean }>`
    select ${sql.raw(fieldsOf(messageColumns, 'm'))}, i.request_hash, i.created_at > now() - ${sql.raw(longestSend)} and i.created_at <= now() + ${sql.raw(longestSend)} as may_be_running
    from idempotency_keys i
    join messages m on m.account_id = i.account_id and m.id = i.message_id
    where i.account_id = ${accountId} and i.key = ${key} and i.created_at > now() - ${sql.raw(idempotencyKept)}`.execute(
    db,
  )
  const row = rows[0]
  return row && { requestHash: row.request_hash, mayBeRunning: row.may_be_running, message: row }
}

/** A statement deletes this many keys at most, so that none of them is long. */
const expiredKeysAtOnce = 5_000

/** Deletes keys past their day; returns how many. Reads all accounts: time alone ends a key. */
export async function deleteExpiredIdempotencyKeys(
  db: Kysely<Database>,
  batchSize: number = expiredKeysAtOnce,
): Promise<number> {
  let deleted = 0
  for (;;) {
    // Asked of the row again: a key that was claimed anew since it was looked for is no longer expired.
    const { numAffectedRows } = await sql`
      delete from idempotency_keys
      where created_at <= now() - ${sql.raw(idempotencyKept)} and ctid = any(array(
        select ctid from idempotency_keys where created_at <= now() - ${sql.raw(idempotencyKept)}
        limit ${sql.lit(batchSize)}
      ))`.execute(db)
    deleted += Number(numAffectedRows ?? 0)
    if (Number(numAffectedRows ?? 0) < batchSize) return deleted
  }
}

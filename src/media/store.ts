import { type Insertable, type Kysely, type Selectable, sql } from 'kysely'
import type { Database, MediaTable } from '../platform/db/schema.ts'

export type MediaRow = Selectable<MediaTable>

/** What makes two files of an account the same. */
type Identity = Pick<MediaRow, 'account_id' | 'sha256' | 'type'>

/** Files that can be used: stored whole, and neither deleted nor expired. */
function selectUsable(db: Kysely<Database>, accountId: string, now: Date) {
  return db
    .selectFrom('media')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('stored_at', 'is not', null)
    .where('deleted_at', 'is', null)
    .where('expires_at', '>', now)
}

export function findMedia(
  db: Kysely<Database>,
  accountId: string,
  ids: readonly string[],
  now: Date,
): Promise<MediaRow[]> {
  return selectUsable(db, accountId, now).where('id', 'in', ids).execute()
}

export async function hasSameBytes(db: Kysely<Database>, file: Identity, now: Date): Promise<boolean> {
  const row = await selectUsable(db, file.account_id, now)
    .where('sha256', '=', file.sha256)
    .where('type', '=', file.type)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Renews the file with the same bytes and the same name; undefined if there is none. */
export async function renewSame(
  db: Kysely<Database>,
  file: Identity & Pick<MediaRow, 'filename' | 'expires_at'>,
  now: Date,
): Promise<MediaRow | undefined> {
  const same = await selectUsable(db, file.account_id, now)
    .where('sha256', '=', file.sha256)
    .where('type', '=', file.type)
    .where('filename', 'is not distinct from', file.filename)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  if (!same) return undefined
  return db
    .updateTable('media')
    .set({ expires_at: sql<Date>`greatest(expires_at, ${file.expires_at})` })
    .where('id', '=', same.id)
    .where('account_id', '=', file.account_id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
}

/** Uploads of an account take turns for what follows. Sends do not wait: they never lock the row this way. */
async function lockAccount(db: Kysely<Database>, accountId: string): Promise<void> {
  await db.selectFrom('accounts').select('id').where('id', '=', accountId).forNoKeyUpdate().execute()
}

/** Reserves room in the quota of the account for a file. Returns false if there is not enough. */
export async function reserve(db: Kysely<Database>, row: Insertable<MediaTable>, quotaBytes: number): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    await lockAccount(trx, row.account_id)
    // Files that are being stored or deleted take their room too.
    const { bytes } = await trx
      .selectFrom('media')
      .select(sql<number>`coalesce(sum(size_bytes), 0)::float8`.as('bytes'))
      .where('account_id', '=', row.account_id)
      .executeTakeFirstOrThrow()
    if (bytes + row.size_bytes > quotaBytes) return false
    await trx.insertInto('media').values(row).execute()
    return true
  })
}

/** Makes a stored file usable, unless the same file has become so in the meantime: then that one is returned. */
export async function finish(db: Kysely<Database>, row: MediaRow, now: Date): Promise<MediaRow> {
  return db.transaction().execute(async (trx) => {
    await lockAccount(trx, row.account_id)
    const same = await renewSame(trx, row, now)
    if (same) return same
    return trx
      .updateTable('media')
      .set({ stored_at: now })
      .where('id', '=', row.id)
      .where('account_id', '=', row.account_id)
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

/** Returns undefined if the account has no such file. */
export async function markDeleted(
  db: Kysely<Database>,
  accountId: string,
  id: string,
  now: Date,
): Promise<MediaRow | undefined> {
  return db
    .updateTable('media')
    .set({ deleted_at: now })
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()
}

export async function removeRow(db: Kysely<Database>, { account_id, id }: Pick<MediaRow, 'account_id' | 'id'>) {
  await db.deleteFrom('media').where('account_id', '=', account_id).where('id', '=', id).execute()
}

/** Reads all accounts: one process cleans up for all of them. */
export async function markExpired(db: Kysely<Database>, now: Date): Promise<void> {
  await db
    .updateTable('media')
    .set({ deleted_at: now })
    .where('expires_at', '<=', now)
    .where('deleted_at', 'is', null)
    .execute()
}

/** Returns files of all accounts that are deleted, or whose upload stopped in the middle before `startedBefore`. */
export function findUnfinished(
  db: Kysely<Database>,
  { startedBefore, after, limit }: { startedBefore: Date; after: string; limit: number },
): Promise<Pick<MediaRow, 'id' | 'account_id'>[]> {
  return db
    .selectFrom('media')
    .select(['id', 'account_id'])
    .where('id', '>', after)
    .where((eb) =>
      eb.or([
        eb('deleted_at', 'is not', null),
        eb.and([eb('stored_at', 'is', null), eb('created_at', '<', startedBefore)]),
      ]),
    )
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Returns files of removed accounts, which have no row any more. */
export function findRemoved(db: Kysely<Database>, limit: number): Promise<{ id: string }[]> {
  return db.selectFrom('removed_media').select('id').limit(limit).execute()
}

export async function forgetRemoved(db: Kysely<Database>, id: string): Promise<void> {
  await db.deleteFrom('removed_media').where('id', '=', id).execute()
}

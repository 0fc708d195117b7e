import { type Kysely, type Selection, sql } from 'kysely'
import { isUniqueViolation } from '../platform/db/errors.ts'
import { columnsOf } from '../platform/db/names.ts'
import type { Database } from '../platform/db/schema.ts'

export const mediaColumns = [
  ...columnsOf('id account_id sha256 type'),
  'size_bytes as size',
  ...columnsOf('filename created_at expires_at'),
] as const

export type MediaRow = Selection<Database, 'media', (typeof mediaColumns)[number]>

/** What makes two files of an account the same. */
type Identity = Pick<MediaRow, 'accountId' | 'sha256' | 'type'>

/** Files that can be used: stored whole, and neither deleted nor expired. */
function selectUsable(db: Kysely<Database>, accountId: string, now: Date) {
  return db
    .selectFrom('media')
    .select(mediaColumns)
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

export async function hasUsableDuplicate(db: Kysely<Database>, file: Identity, now: Date): Promise<boolean> {
  const row = await selectUsable(db, file.accountId, now)
    .where('sha256', '=', file.sha256)
    .where('type', '=', file.type)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Renews the file with the same bytes and the same name, even if it has just expired; undefined if there is none. */
export async function renewDuplicate(
  db: Kysely<Database>,
  file: Identity & Pick<MediaRow, 'filename' | 'expiresAt'>,
): Promise<MediaRow | undefined> {
  return db
    .updateTable('media')
    .set({ expires_at: sql<Date>`greatest(expires_at, ${file.expiresAt})` })
    .where('account_id', '=', file.accountId)
    .where('sha256', '=', file.sha256)
    .where('type', '=', file.type)
    .where(sql<string>`coalesce(filename, '')`, '=', file.filename ?? '')
    .where('stored_at', 'is not', null)
    .where('deleted_at', 'is', null)
    .returning(mediaColumns)
    .executeTakeFirst()
}

/**
 * Reserves part of the account's quota for a file. Returns false if there is not enough left. Uses a single statement,
 * because uploads that wait for each other in transactions would occupy all connections.
 */
export async function insertWithinQuota(db: Kysely<Database>, row: MediaRow, quotaBytes: number): Promise<boolean> {
  const { rows } = await sql`
    with reserved as (
      insert into media_usage as u (account_id, size_bytes)
      select ${row.accountId}, ${row.size}::bigint where ${row.size}::bigint <= ${quotaBytes}::bigint
      on conflict (account_id) do update set size_bytes = u.size_bytes + excluded.size_bytes
        where u.size_bytes + excluded.size_bytes <= ${quotaBytes}::bigint
      returning 1
    )
    insert into media (id, account_id, sha256, type, size_bytes, filename, created_at, expires_at)
    select ${row.id}, ${row.accountId}, ${row.sha256}, ${row.type}, ${row.size}::integer, ${row.filename},
      ${row.createdAt}::timestamptz, ${row.expiresAt}::timestamptz
    from reserved
    returning id`.execute(db)
  return rows.length > 0
}

/** Makes a stored file usable. If the same file was stored in the meantime, returns that one instead. */
export async function completeUpload(db: Kysely<Database>, row: MediaRow, now: Date): Promise<MediaRow> {
  for (;;) {
    const kept = (await markStored(db, row, now)) ?? (await renewDuplicate(db, row))
    if (kept) return kept
  }
}

/** Undefined if the same file exists. */
async function markStored(db: Kysely<Database>, row: MediaRow, now: Date): Promise<MediaRow | undefined> {
  try {
    return await db
      .updateTable('media')
      .set({ stored_at: now })
      .where('id', '=', row.id)
      .where('account_id', '=', row.accountId)
      .returning(mediaColumns)
      .executeTakeFirstOrThrow()
  } catch (error) {
    if (isUniqueViolation(error)) return undefined
    throw error
  }
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
    .returning(mediaColumns)
    .executeTakeFirst()
}

export async function removeRow(db: Kysely<Database>, { accountId, id }: Pick<MediaRow, 'accountId' | 'id'>) {
  await db.deleteFrom('media').where('account_id', '=', accountId).where('id', '=', id).execute()
}

/** Covers all accounts, because one process cleans up for all of them. */
export async function markExpired(db: Kysely<Database>, now: Date): Promise<void> {
  await db
    .updateTable('media')
    .set({ deleted_at: now })
    .where('expires_at', '<=', now)
    .where('deleted_at', 'is', null)
    .execute()
}

/** At most `limit` rows, in the order of their IDs. */
export interface Page {
  after: string
  limit: number
}

/** Returns files of all accounts that are deleted, or whose upload stopped in the middle before `startedBefore`. */
export function findDeletable(
  db: Kysely<Database>,
  startedBefore: Date,
  { after, limit }: Page,
): Promise<Pick<MediaRow, 'id' | 'accountId'>[]> {
  return db
    .selectFrom('media')
    .select(['id', 'account_id as accountId'])
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

/** Returns files of removed accounts, whose rows no longer exist. */
export function findFilesOfRemovedAccounts(db: Kysely<Database>, { after, limit }: Page): Promise<{ id: string }[]> {
  return db.selectFrom('removed_media').select('id').where('id', '>', after).orderBy('id').limit(limit).execute()
}

export async function deleteRemovedMediaRow(db: Kysely<Database>, id: string): Promise<void> {
  await db.deleteFrom('removed_media').where('id', '=', id).execute()
}

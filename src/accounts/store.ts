import { type InferResult, type Kysely, sql } from 'kysely'
import { toRow } from '../platform/db/names.ts'
import type { Database } from '../platform/db/schema.ts'

export type AccountRow = InferResult<ReturnType<typeof selectAccounts>>[number]

export interface AccountChanges {
  apiEnabled?: boolean | undefined
  rateLimit?: number | undefined
  templateChangesEnabled?: boolean | undefined
  mcpEnabled?: boolean | undefined
  timeZone?: string | undefined
  suspendedAt?: null
  /** `since`: when contents start to be stored; ignored if they already are. */
  contents?: { keptDays: number | null; since: Date } | undefined
}

export async function insertAccount(
  db: Kysely<Database>,
  { id, name, createdAt }: { id: string; name: string; createdAt: Date },
): Promise<void> {
  await db.insertInto('accounts').values({ id, name, created_at: createdAt }).execute()
}

export function findAccount(db: Kysely<Database>, accountId: string): Promise<AccountRow | undefined> {
  return selectAccounts(db).where('accounts.id', '=', accountId).executeTakeFirst()
}

/** Reads all accounts, for operators only. IDs sort by time, so the oldest account comes first. */
export function findAccounts(db: Kysely<Database>): Promise<AccountRow[]> {
  return selectAccounts(db).orderBy('accounts.id').execute()
}

/** Returns whether the account exists. */
export async function changeAccount(
  db: Kysely<Database>,
  accountId: string,
  { rateLimit, contents, ...changes }: AccountChanges,
): Promise<boolean> {
  const row = await db
    .updateTable('accounts')
    .set({
      ...toRow(changes),
      rate_limit_per_minute: rateLimit,
      ...(contents && setContents(contents)),
    })
    .where('id', '=', accountId)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Returns false if there is no such account, or if its list is not `from` any more. */
export async function replaceAllowList(
  db: Kysely<Database>,
  accountId: string,
  { from, to }: { from: string[] | undefined; to: string[] },
): Promise<boolean> {
  const row = await db
    .updateTable('accounts')
    .set({ allow_list: to })
    .where('id', '=', accountId)
    .$if(from !== undefined, (query) => query.where('allow_list', '=', sql<string[]>`${from}::text[]`))
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

function setContents({ keptDays, since }: NonNullable<AccountChanges['contents']>) {
  if (keptDays === null) return { contents_kept_days: null, contents_since: null }
  return { contents_kept_days: keptDays, contents_since: sql<Date>`coalesce(contents_since, ${since}::timestamptz)` }
}

/** Keeps the time of an earlier suspension. Returns whether the account exists. */
export async function markSuspended(db: Kysely<Database>, accountId: string): Promise<boolean> {
  const row = await db
    .updateTable('accounts')
    .set({ suspended_at: sql<Date>`coalesce(suspended_at, now())` })
    .where('id', '=', accountId)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

export interface KeyRow {
  accountId: string
  keyHash: Uint8Array
  start: string
  createdAt: Date
}

/** Returns false if the account already has a key; of two concurrent calls, one succeeds. */
export async function insertKey(db: Kysely<Database>, key: KeyRow): Promise<boolean> {
  const row = await db
    .insertInto('api_keys')
    .values(toRow(key))
    .onConflict((conflict) => conflict.column('account_id').doNothing())
    .returning('account_id')
    .executeTakeFirst()
  return row !== undefined
}

/** A single statement, so that no request sees the account without a key. */
export async function replaceKey(db: Kysely<Database>, key: KeyRow): Promise<void> {
  const values = toRow(key)
  await db
    .insertInto('api_keys')
    .values(values)
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(values))
    .execute()
}

/** Returns whether there was a key. */
export async function deleteKey(db: Kysely<Database>, accountId: string): Promise<boolean> {
  const row = await db
    .deleteFrom('api_keys')
    .where('account_id', '=', accountId)
    .returning('account_id')
    .executeTakeFirst()
  return row !== undefined
}

function selectAccounts(db: Kysely<Database>) {
  return db
    .selectFrom('accounts')
    .leftJoin('api_keys', 'api_keys.account_id', 'accounts.id')
    .select([
      'accounts.id',
      'accounts.name',
      'accounts.api_enabled as apiEnabled',
      'accounts.rate_limit_per_minute as rateLimit',
      'accounts.allow_list as allowList',
      'accounts.template_changes_enabled as templateChangesEnabled',
      'accounts.mcp_enabled as mcpEnabled',
      'accounts.time_zone as timeZone',
      'accounts.suspended_at as suspendedAt',
      'accounts.contents_kept_days as messageContentsDays',
      'accounts.created_at as createdAt',
      'api_keys.start as keyStart',
    ])
}

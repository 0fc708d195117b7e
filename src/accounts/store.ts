import { type Kysely, type Selectable, sql } from 'kysely'
import type { AccountsTable, Database } from '../platform/db/schema.ts'

export type AccountRow = Selectable<AccountsTable> & { key_start: string | null }

export interface AccountChanges {
  api_enabled?: boolean
  rate_limit_per_minute?: number
  allow_list?: string[]
  template_changes_enabled?: boolean
  mcp_enabled?: boolean
  time_zone?: string
  suspended_at?: null
  /** `since`: when contents start to be stored; ignored if they already are. */
  contents?: { keptDays: number | null; since: Date }
}

export async function insertAccount(db: Kysely<Database>, account: { id: string; name: string; created_at: Date }) {
  await db.insertInto('accounts').values(account).execute()
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
  { contents, ...changes }: AccountChanges,
): Promise<boolean> {
  const row = await db
    .updateTable('accounts')
    .set({ ...changes, ...(contents && setContents(contents)) })
    .where('id', '=', accountId)
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
  account_id: string
  key_hash: Uint8Array
  start: string
  created_at: Date
}

/** Returns false if the account already has a key; of two concurrent calls, one succeeds. */
export async function insertKey(db: Kysely<Database>, key: KeyRow): Promise<boolean> {
  const row = await db
    .insertInto('api_keys')
    .values(key)
    .onConflict((conflict) => conflict.column('account_id').doNothing())
    .returning('account_id')
    .executeTakeFirst()
  return row !== undefined
}

/** A single statement, so that no request sees the account without a key. */
export async function replaceKey(db: Kysely<Database>, { account_id, ...key }: KeyRow): Promise<void> {
  await db
    .insertInto('api_keys')
    .values({ account_id, ...key })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(key))
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
    .selectAll('accounts')
    .select('api_keys.start as key_start')
}

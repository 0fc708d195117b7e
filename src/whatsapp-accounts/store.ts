import { type Kysely, type RawBuilder, type Selection, sql } from 'kysely'
import type { Fact } from '../../contracts/facts/fact.ts'
import { columnsOf, toRow } from '../platform/db/names.ts'
import type { Database } from '../platform/db/schema.ts'
import { toReasonColumns } from './inactive-reason.ts'

/** Identifies a WhatsApp account and the account that it belongs to. */
export interface WhatsAppAccountRef {
  accountId: string
  whatsAppAccountId: string
}

const columns = columnsOf(
  'id account_id phone_number_id waba_id access_token_encrypted app_secret_encrypted is_default switched_off',
  'inactive_reason inactive_fact active quality_rating throughput_level display_phone_number verified_name',
  'portfolio_id marketing_onboarding_status marketing_off_cloud_api marketing_setting messaging_account_setting',
  'created_at',
)

export type WhatsAppAccountRow = Selection<Database, 'whatsapp_accounts', (typeof columns)[number]>

/** An account with the token that was used, so that a change does not affect its replacement. */
export type UsedToken = Pick<WhatsAppAccountRow, 'accountId' | 'id' | 'accessTokenEncrypted'>

export type WhatsAppAccountChanges = Partial<
  Omit<WhatsAppAccountRow, 'id' | 'accountId' | 'phoneNumberId' | 'active' | 'createdAt'>
> & {
  /** Callbacks from before this time do not make the account inactive. */
  activityReportedAt?: Date
}

/** Locks an account, so that changes to its WhatsApp accounts run one after another: one of them is the default. */
export async function lockAccount(db: Kysely<Database>, accountId: string): Promise<boolean> {
  const row = await db.selectFrom('accounts').select('id').where('id', '=', accountId).forUpdate().executeTakeFirst()
  return row !== undefined
}

/**
 * Locks a WhatsApp account until the end of the transaction. Returns false if it was removed or its token was replaced
 * since the row was read, so that what WhatsApp said about an old token is not stored for a new one.
 */
export async function lockUnchanged(trx: Kysely<Database>, read: UsedToken): Promise<boolean> {
  const row = await trx
    .selectFrom('whatsapp_accounts')
    .select('access_token_encrypted as accessTokenEncrypted')
    .where('account_id', '=', read.accountId)
    .where('id', '=', read.id)
    .forUpdate()
    .executeTakeFirst()
  return row?.accessTokenEncrypted === read.accessTokenEncrypted
}

type NewRow = WhatsAppAccountChanges &
  Pick<
    WhatsAppAccountRow,
    | 'id'
    | 'accountId'
    | 'phoneNumberId'
    | 'wabaId'
    | 'accessTokenEncrypted'
    | 'appSecretEncrypted'
    | 'isDefault'
    | 'createdAt'
  >

/** Returns false if another account has the phone number; of two concurrent calls, one succeeds. */
export async function insertWhatsAppAccount(db: Kysely<Database>, row: NewRow): Promise<boolean> {
  const inserted = await db
    .insertInto('whatsapp_accounts')
    .values(toRow(row))
    .onConflict((conflict) => conflict.column('phone_number_id').doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** IDs sort by time, so the oldest comes first. */
export function findWhatsAppAccounts(db: Kysely<Database>, accountId: string): Promise<WhatsAppAccountRow[]> {
  return db.selectFrom('whatsapp_accounts').select(columns).where('account_id', '=', accountId).orderBy('id').execute()
}

export function findWhatsAppAccount(
  db: Kysely<Database>,
  accountId: string,
  id: string,
): Promise<WhatsAppAccountRow | undefined> {
  return db
    .selectFrom('whatsapp_accounts')
    .select(columns)
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Reads several accounts: the caller names the account of each. */
export function findWhatsAppAccountsById(
  db: Kysely<Database>,
  refs: readonly WhatsAppAccountRef[],
): Promise<WhatsAppAccountRow[]> {
  return db
    .selectFrom('whatsapp_accounts')
    .select(columns)
    .where(sql<boolean>`(account_id, id) in (${pairsOf(refs)})`)
    .orderBy('id')
    .execute()
}

/** Reads all accounts, in the order of their IDs. */
export function findWhatsAppAccountsAfter(
  db: Kysely<Database>,
  afterId: string,
  limit: number,
): Promise<WhatsAppAccountRow[]> {
  return db
    .selectFrom('whatsapp_accounts')
    .select(columns)
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Selects the IDs of accounts with those of their WhatsApp accounts. */
export function pairsOf(refs: readonly WhatsAppAccountRef[]): RawBuilder<unknown> {
  return sql`select * from unnest(
    ${refs.map(({ accountId }) => accountId)}::text[], ${refs.map(({ whatsAppAccountId }) => whatsAppAccountId)}::text[]
  )`
}

/** Counts those of all accounts, up to `limit`. */
export async function countWhatsAppAccounts(db: Kysely<Database>, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from (select from whatsapp_accounts limit ${limit}) w`.execute(db)
  return rows[0]?.count ?? 0
}

/** Reads all accounts, for operators only. */
export function findAllWhatsAppAccounts(db: Kysely<Database>): Promise<WhatsAppAccountRow[]> {
  return db.selectFrom('whatsapp_accounts').select(columns).orderBy('id').execute()
}

/** Reads all accounts, because operators pass a WhatsApp account ID without its account. */
export async function findAccountOfWhatsAppAccount(
  db: Kysely<Database>,
  whatsAppAccountId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('whatsapp_accounts')
    .select('account_id as accountId')
    .where('id', '=', whatsAppAccountId)
    .executeTakeFirst()
  return row?.accountId
}

/** Reads all accounts: a phone number belongs to at most one of them. */
export function findByPhoneNumberId(
  db: Kysely<Database>,
  phoneNumberId: string,
): Promise<WhatsAppAccountRow | undefined> {
  return db
    .selectFrom('whatsapp_accounts')
    .select(columns)
    .where('phone_number_id', '=', phoneNumberId)
    .executeTakeFirst()
}

export function changeWhatsAppAccount(
  db: Kysely<Database>,
  accountId: string,
  id: string,
  changes: WhatsAppAccountChanges,
): Promise<WhatsAppAccountRow | undefined> {
  return db
    .updateTable('whatsapp_accounts')
    .set(toRow(changes))
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirst()
}

/** Returns false if the account was already inactive, or if its token is no longer the one that WhatsApp rejected. */
export async function markRejected(db: Kysely<Database>, rejected: UsedToken, reason: Fact): Promise<boolean> {
  const row = await db
    .updateTable('whatsapp_accounts')
    .set(toRow(toReasonColumns(reason)))
    .where('account_id', '=', rejected.accountId)
    .where('id', '=', rejected.id)
    .where('access_token_encrypted', '=', rejected.accessTokenEncrypted)
    .where('inactive_reason', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

export async function clearDefault(db: Kysely<Database>, accountId: string): Promise<void> {
  await db
    .updateTable('whatsapp_accounts')
    .set({ is_default: false })
    .where('account_id', '=', accountId)
    .where('is_default', '=', true)
    .execute()
}

export async function deleteWhatsAppAccount(db: Kysely<Database>, accountId: string, id: string): Promise<void> {
  await db.deleteFrom('whatsapp_accounts').where('account_id', '=', accountId).where('id', '=', id).execute()
}

/** Deletes the templates of a WABA that the account no longer sends from. */
export async function deleteTemplates(db: Kysely<Database>, accountId: string, wabaId: string): Promise<void> {
  await db.deleteFrom('templates').where('account_id', '=', accountId).where('waba_id', '=', wabaId).execute()
}

/** Marks the stored templates of a WABA as outdated; the next sync reads them. */
export async function scheduleSync(db: Kysely<Database>, accountId: string, wabaId: string): Promise<void> {
  await db
    .updateTable('whatsapp_accounts')
    .set({ next_sync_at: sql<Date>`now()` })
    .where('account_id', '=', accountId)
    .where('waba_id', '=', wabaId)
    .execute()
}

/** The interval of syncs. WhatsApp allows 200 such calls per hour and WABA (reference, section 5); a sync takes a few. */
export const syncSeconds = 30 * 60

/**
 * Claims WABAs whose sync is due, so that only one of several nodes reads each. A crashed node releases its claims
 * without doing anything. Reads all accounts: the sync serves them all.
 */
export async function claimDueSyncs(
  db: Kysely<Database>,
  { limit }: { limit: number },
): Promise<{ accountId: string; wabaId: string }[]> {
  const { rows } = await sql<{ accountId: string; wabaId: string }>`
    with due as (
      select account_id, waba_id from whatsapp_accounts
      where next_sync_at <= now() and active
      order by next_sync_at
      limit ${limit}
    ), locked as (
      -- All numbers of a WABA, in a fixed order: two nodes that began with different ones would deadlock.
      select account_id, waba_id, next_sync_at, active from whatsapp_accounts
      where (account_id, waba_id) in (select * from due)
      order by id
      for update
    ), claimed as (
      -- As they are now: another node may have claimed them meanwhile.
      select distinct account_id, waba_id from locked where next_sync_at <= now() and active
    )
    update whatsapp_accounts w set next_sync_at = now() + ${syncSeconds} * interval '1 second'
    from claimed
    where w.account_id = claimed.account_id and w.waba_id = claimed.waba_id
    returning w.account_id as "accountId", w.waba_id as "wabaId"`.execute(db)
  return [...new Map(rows.map((row) => [`${row.accountId} ${row.wabaId}`, row])).values()]
}

/** Shifts due syncs back after the clock was set back. Reads all accounts: they share a clock. */
export async function shiftSyncs(db: Kysely<Database>, seconds: number): Promise<void> {
  await sql`
    update whatsapp_accounts set next_sync_at = next_sync_at - make_interval(secs => ${seconds})
    where next_sync_at > now()`.execute(db)
}

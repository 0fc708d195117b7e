import { type Insertable, type Kysely, type RawBuilder, type Selectable, sql } from 'kysely'
import type { MarketingSetting, MessagingAccountSetting } from '../../contracts/api/account.ts'
import type { Fact } from '../../contracts/facts/fact.ts'
import type { Database, WhatsAppAccountsTable } from '../platform/db/schema.ts'
import { toReasonColumns } from './inactive-reason.ts'

/** Identifies a WhatsApp account and the account that it belongs to. */
export interface WhatsAppAccountRef {
  accountId: string
  whatsAppAccountId: string
}

export type WhatsAppAccountRow = Selectable<WhatsAppAccountsTable>

/** Locks an account, so that changes to its WhatsApp accounts run one after another: one of them is the default. */
export async function lockAccount(db: Kysely<Database>, accountId: string): Promise<boolean> {
  const row = await db.selectFrom('accounts').select('id').where('id', '=', accountId).forUpdate().executeTakeFirst()
  return row !== undefined
}

/**
 * Locks a WhatsApp account until the end of the transaction. Returns false if it was removed or its token was replaced
 * since the row was read, so that what WhatsApp said about an old token is not stored for a new one.
 */
export async function lockUnchanged(
  trx: Kysely<Database>,
  read: Pick<WhatsAppAccountRow, 'account_id' | 'id' | 'access_token_encrypted'>,
): Promise<boolean> {
  const row = await trx
    .selectFrom('whatsapp_accounts')
    .select('access_token_encrypted')
    .where('account_id', '=', read.account_id)
    .where('id', '=', read.id)
    .forUpdate()
    .executeTakeFirst()
  return row?.access_token_encrypted === read.access_token_encrypted
}

/** Returns false if another account has the phone number; of two concurrent calls, one succeeds. */
export async function insertWhatsAppAccount(
  db: Kysely<Database>,
  row: Insertable<WhatsAppAccountsTable>,
): Promise<boolean> {
  const inserted = await db
    .insertInto('whatsapp_accounts')
    .values(row)
    .onConflict((conflict) => conflict.column('phone_number_id').doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** IDs sort by time, so the oldest comes first. */
export function findWhatsAppAccounts(db: Kysely<Database>, accountId: string): Promise<WhatsAppAccountRow[]> {
  return db.selectFrom('whatsapp_accounts').selectAll().where('account_id', '=', accountId).orderBy('id').execute()
}

export function findWhatsAppAccount(
  db: Kysely<Database>,
  accountId: string,
  id: string,
): Promise<WhatsAppAccountRow | undefined> {
  return db
    .selectFrom('whatsapp_accounts')
    .selectAll()
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
    .selectAll()
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
  return db.selectFrom('whatsapp_accounts').selectAll().where('id', '>', afterId).orderBy('id').limit(limit).execute()
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
  return db.selectFrom('whatsapp_accounts').selectAll().orderBy('id').execute()
}

/** Reads all accounts, because operators pass a WhatsApp account ID without its account. */
export async function findAccountOfWhatsAppAccount(
  db: Kysely<Database>,
  whatsAppAccountId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('whatsapp_accounts')
    .select('account_id')
    .where('id', '=', whatsAppAccountId)
    .executeTakeFirst()
  return row?.account_id
}

/** Reads all accounts: a phone number belongs to at most one of them. */
export function findByPhoneNumberId(
  db: Kysely<Database>,
  phoneNumberId: string,
): Promise<WhatsAppAccountRow | undefined> {
  return db.selectFrom('whatsapp_accounts').selectAll().where('phone_number_id', '=', phoneNumberId).executeTakeFirst()
}

export interface WhatsAppAccountChanges {
  switched_off?: boolean
  inactive_reason?: string | null
  inactive_fact?: string | null
  is_default?: boolean
  access_token_encrypted?: string
  waba_id?: string
  app_secret_encrypted?: string | null
  quality_rating?: string | null
  throughput_level?: string | null
  display_phone_number?: string | null
  verified_name?: string | null
  portfolio_id?: string | null
  marketing_onboarding_status?: string | null
  marketing_off_cloud_api?: boolean | null
  marketing_setting?: MarketingSetting
  messaging_account_setting?: MessagingAccountSetting
}

export function changeWhatsAppAccount(
  db: Kysely<Database>,
  accountId: string,
  id: string,
  changes: WhatsAppAccountChanges,
): Promise<WhatsAppAccountRow | undefined> {
  return db
    .updateTable('whatsapp_accounts')
    .set(changes)
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/** Returns false if the account was already inactive, or if its token is no longer the one that WhatsApp rejected. */
export async function markRejected(
  db: Kysely<Database>,
  rejected: Pick<WhatsAppAccountRow, 'account_id' | 'id' | 'access_token_encrypted'>,
  reason: Fact,
): Promise<boolean> {
  const row = await db
    .updateTable('whatsapp_accounts')
    .set(toReasonColumns(reason))
    .where('account_id', '=', rejected.account_id)
    .where('id', '=', rejected.id)
    .where('access_token_encrypted', '=', rejected.access_token_encrypted)
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

/**
 * Returns whether the secret was still the one that the caller read, so that a concurrent change is not overwritten.
 */
export async function replaceSecret(
  db: Kysely<Database>,
  row: { account_id: string; id: string },
  column: 'access_token_encrypted' | 'app_secret_encrypted',
  { from, to }: { from: string; to: string },
): Promise<boolean> {
  const changed = await db
    .updateTable('whatsapp_accounts')
    .set({ [column]: to })
    .where('account_id', '=', row.account_id)
    .where('id', '=', row.id)
    .where(column, '=', from)
    .returning('id')
    .executeTakeFirst()
  return changed !== undefined
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

/**
 * Claims WABAs whose sync is due, so that only one of several nodes reads each. A crashed node releases its claims
 * without doing anything. Reads all accounts: the sync serves them all.
 */
export async function claimDueSyncs(
  db: Kysely<Database>,
  { limit, nextSeconds }: { limit: number; nextSeconds: number },
): Promise<{ accountId: string; wabaId: string }[]> {
  const { rows } = await sql<{ account_id: string; waba_id: string }>`
    with due as (
      select id, account_id, waba_id from whatsapp_accounts
      where next_sync_at <= now() and active
      order by next_sync_at
      limit ${limit}
      for update skip locked
    )
    update whatsapp_accounts w set next_sync_at = now() + ${nextSeconds} * interval '1 second'
    from due
    where w.account_id = due.account_id and w.waba_id = due.waba_id
    returning w.account_id, w.waba_id`.execute(db)
  return [
    ...new Map(
      rows.map((row) => [`${row.account_id} ${row.waba_id}`, { accountId: row.account_id, wabaId: row.waba_id }]),
    ).values(),
  ]
}

/** Shifts due syncs back after the clock was set back. Reads all accounts: they share a clock. */
export async function shiftSyncs(db: Kysely<Database>, seconds: number): Promise<void> {
  await sql`
    update whatsapp_accounts set next_sync_at = next_sync_at - make_interval(secs => ${seconds})
    where next_sync_at > now()`.execute(db)
}

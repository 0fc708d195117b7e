import { type Kysely, type Selectable, sql, type Updateable } from 'kysely'
import type { Database, WhatsAppAccountHealthTable } from '../../../platform/db/schema.ts'

export type HealthRow = Selectable<WhatsAppAccountHealthTable>

export interface HealthOwner {
  accountId: string
  whatsAppAccountId: string
}

/** What a check can change. */
export type HealthChanges = Omit<
  Updateable<WhatsAppAccountHealthTable>,
  | 'whatsapp_account_id'
  | 'account_id'
  | 'last_callback_at'
  | 'last_status_at'
  | 'next_check_at'
  | 'announced_active'
  | 'announced_findings'
  | 'announced_expiry_days'
>

export async function insertHealth(
  db: Kysely<Database>,
  { accountId, whatsAppAccountId }: HealthOwner,
  facts: HealthChanges,
): Promise<void> {
  await db
    .insertInto('whatsapp_account_health')
    .values({ whatsapp_account_id: whatsAppAccountId, account_id: accountId, ...facts })
    .execute()
}

/** Changes nothing if the account was removed meanwhile. */
export async function saveHealth(
  db: Kysely<Database>,
  { accountId, whatsAppAccountId }: HealthOwner,
  changes: HealthChanges,
): Promise<void> {
  // WhatsApp may have said nothing, and PostgreSQL rejects an empty update.
  if (Object.keys(changes).length === 0) return
  await db
    .updateTable('whatsapp_account_health')
    .set(changes)
    .where('account_id', '=', accountId)
    .where('whatsapp_account_id', '=', whatsAppAccountId)
    .execute()
}

export function findHealth(
  db: Kysely<Database>,
  { accountId, whatsAppAccountId }: HealthOwner,
): Promise<HealthRow | undefined> {
  return db
    .selectFrom('whatsapp_account_health')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('whatsapp_account_id', '=', whatsAppAccountId)
    .executeTakeFirst()
}

/** Returns the deleted row, in its last state: whoever announces changes of the account waits or is done. */
export function deleteHealth(
  trx: Kysely<Database>,
  { accountId, whatsAppAccountId }: HealthOwner,
): Promise<HealthRow | undefined> {
  return trx
    .deleteFrom('whatsapp_account_health')
    .where('account_id', '=', accountId)
    .where('whatsapp_account_id', '=', whatsAppAccountId)
    .returningAll()
    .executeTakeFirst()
}

/** Reads one account, or all accounts, for operators and metrics. */
export function findHealthRows(db: Kysely<Database>, accountId?: string): Promise<HealthRow[]> {
  const all = db.selectFrom('whatsapp_account_health').selectAll()
  return (accountId === undefined ? all : all.where('account_id', '=', accountId)).execute()
}

/**
 * Claims accounts whose check is due, so that only one of several nodes checks each. Accounts that a user deactivated
 * are not checked. Reads all accounts: the check serves them all.
 */
export async function claimDueChecks(
  db: Kysely<Database>,
  { limit, nextSeconds }: { limit: number; nextSeconds: number },
): Promise<HealthOwner[]> {
  const { rows } = await sql<HealthOwner>`
    with due as (
      select h.whatsapp_account_id from whatsapp_account_health h
      join whatsapp_accounts w on w.id = h.whatsapp_account_id
      where h.next_check_at <= now() and not w.switched_off
      order by h.next_check_at
      limit ${limit}
      for update of h skip locked
    )
    update whatsapp_account_health h set next_check_at = now() + ${nextSeconds} * interval '1 second'
    from due
    where h.whatsapp_account_id = due.whatsapp_account_id
    returning h.account_id as "accountId", h.whatsapp_account_id as "whatsAppAccountId"`.execute(db)
  return rows
}

/** The next check runs within seconds, because WhatsApp reported a change. */
export async function scheduleCheck(
  db: Kysely<Database>,
  { accountId, whatsAppAccountId }: HealthOwner,
): Promise<void> {
  await db
    .updateTable('whatsapp_account_health')
    .set({ next_check_at: sql<Date>`now()` })
    .where('account_id', '=', accountId)
    .where('whatsapp_account_id', '=', whatsAppAccountId)
    .execute()
}

/** Records that callbacks arrived. Reads all accounts: one callback can concern several. */
export async function recordCallbacks(
  db: Kysely<Database>,
  whatsAppAccountIds: readonly string[],
  { withStatuses }: { withStatuses: boolean },
): Promise<void> {
  await sql`
    insert into whatsapp_account_health (whatsapp_account_id, account_id, last_callback_at, last_status_at)
    select id, account_id, now(), case when ${withStatuses}::boolean then now() end
    from whatsapp_accounts where id = any (${sql.val([...whatsAppAccountIds])}::text[])
    on conflict (whatsapp_account_id) do update set
      last_callback_at = excluded.last_callback_at,
      last_status_at = coalesce(excluded.last_status_at, whatsapp_account_health.last_status_at)`.execute(db)
}

export interface HourCounts {
  sent: number
  failed: number
  /** Error codes with their counts, most frequent first. */
  failures: { code: string; count: number }[]
}

/** More messages of the hour than this are not counted, so that the query stays fast. */
const maxCounted = 50_000
const maxFailureCodes = 5

/**
 * Counts the newest messages of the last hour by WhatsApp account. `firstId` is the first message ID of that hour. The
 * limit covers all numbers together, because no index leads to the messages of one number.
 */
export async function countLastHour(
  db: Kysely<Database>,
  accountId: string,
  firstId: string,
): Promise<Map<string, HourCounts>> {
  const { rows } = await sql<{ whatsAppAccountId: string; failed: boolean; code: string | null; count: number }>`
    select whatsapp_account_id as "whatsAppAccountId", failed, code, count(*)::integer as count from (
      select whatsapp_account_id, status = 'failed' as failed, error_code as code from messages
      where account_id = ${accountId} and id >= ${firstId}
      order by id desc limit ${maxCounted}
    ) m group by whatsapp_account_id, failed, code order by count desc`.execute(db)
  const counts = new Map<string, HourCounts>()
  for (const { whatsAppAccountId, failed, code, count } of rows) {
    const known = counts.get(whatsAppAccountId) ?? { sent: 0, failed: 0, failures: [] }
    counts.set(whatsAppAccountId, known)
    if (!failed) known.sent += count
    else {
      known.failed += count
      if (known.failures.length < maxFailureCodes) known.failures.push({ code: code ?? 'UNKNOWN', count })
    }
  }
  return counts
}

/** Returns false if another node has announced the change. */
export async function replaceAnnouncedFindings(
  db: Kysely<Database>,
  { accountId, whatsAppAccountId }: HealthOwner,
  { from, to }: { from: string[]; to: string[] },
): Promise<boolean> {
  const row = await db
    .updateTable('whatsapp_account_health')
    .set({ announced_findings: to })
    .where('account_id', '=', accountId)
    .where('whatsapp_account_id', '=', whatsAppAccountId)
    .where('announced_findings', '=', sql<string[]>`${sql.val(from)}::text[]`)
    .returning('whatsapp_account_id')
    .executeTakeFirst()
  return row !== undefined
}

/** Adds the rows of accounts that a node of an earlier version added. Reads all accounts. */
export async function addMissingHealth(db: Kysely<Database>): Promise<void> {
  await sql`
    insert into whatsapp_account_health (whatsapp_account_id, account_id)
    select id, account_id from whatsapp_accounts w
    where not exists (select from whatsapp_account_health h where h.whatsapp_account_id = w.id)
    on conflict do nothing`.execute(db)
}

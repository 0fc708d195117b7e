import { type Kysely, type Selection, sql } from 'kysely'
import { columnsOf, toRow } from '../../platform/db/names.ts'
import type { Database } from '../../platform/db/schema.ts'
import type { AlertCode } from '../../../contracts/dashboard/alert.ts'
import { alertFacts } from '../../../contracts/facts/alerts.ts'
import type { FactParam } from '../../../contracts/facts/fact.ts'

/** What alerts call the number of the WhatsApp account `w`. */
export const nameOfNumber = sql<FactParam>`coalesce(to_jsonb('+' || regexp_replace(w.display_phone_number, '\\D', '', 'g')), jsonb_build_object(
  'code', ${alertFacts.phoneNumberId({ phoneNumberId: '' }).code}::text,
  'params', jsonb_build_object('phoneNumberId', w.phone_number_id)))`

const columns = columnsOf(
  'account_id id code subject_id severity title body recovery_title recovery_body opened_at sent_at due_at',
  'acknowledged_at acknowledged_by recovered_at facts',
)

export type AlertRow = Selection<Database, 'alerts', (typeof columns)[number]>

interface AlertKey {
  accountId: string
  code: AlertCode
  subjectId: string
}

/** Locks and returns the open alert about a subject; undefined if there is none. */
export function lockOpenAlert(
  trx: Kysely<Database>,
  { accountId, code, subjectId }: AlertKey,
): Promise<AlertRow | undefined> {
  return trx
    .selectFrom('alerts')
    .select(columns)
    .where('account_id', '=', accountId)
    .where('code', '=', code)
    .where('subject_id', '=', subjectId)
    .where('recovered_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()
}

/**
 * Quiet hours hold the news that a problem is over. If it begins again, the news would be wrong. Returns when members were
 * told of the problem; null if no news was held.
 */
export async function dropHeldRecoveries(
  trx: Kysely<Database>,
  { accountId, code, subjectId }: AlertKey,
): Promise<Date | null> {
  const dropped = await trx
    .updateTable('alerts')
    .set({ due_at: null })
    .where('account_id', '=', accountId)
    .where('code', '=', code)
    .where('subject_id', '=', subjectId)
    .where('recovered_at', 'is not', null)
    .where('due_at', 'is not', null)
    .returning('sent_at')
    .execute()
  return dropped[0]?.sent_at ?? null
}

type NewAlertRow = Omit<AlertRow, 'acknowledgedAt' | 'acknowledgedBy' | Recovery> & Partial<Pick<AlertRow, Recovery>>

type Recovery = 'recoveryTitle' | 'recoveryBody' | 'recoveredAt'

/** Returns false if another node has just opened the same alert. */
export async function insertAlert(trx: Kysely<Database>, row: NewAlertRow): Promise<boolean> {
  const inserted = await trx
    .insertInto('alerts')
    .values(toRow(row))
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Changes that are undefined stay as they are. */
export async function changeAlert(
  trx: Kysely<Database>,
  { accountId, id }: Pick<AlertRow, 'accountId' | 'id'>,
  changes: Partial<Omit<AlertRow, 'accountId' | 'id' | 'code' | 'subjectId' | 'openedAt'>>,
): Promise<AlertRow | undefined> {
  return trx
    .updateTable('alerts')
    .set(toRow(changes))
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirst()
}

const maxShown = 100

/** Returns open alerts first, then resolved ones, newest first. */
export function findAlerts(db: Kysely<Database>, accountId: string): Promise<AlertRow[]> {
  return db
    .selectFrom('alerts')
    .select(columns)
    .where('account_id', '=', accountId)
    .orderBy(sql`recovered_at is not null`)
    .orderBy('opened_at', 'desc')
    .limit(maxShown)
    .execute()
}

export function lockAlert(trx: Kysely<Database>, accountId: string, id: string): Promise<AlertRow | undefined> {
  return trx
    .selectFrom('alerts')
    .select(columns)
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

/**
 * Schedules the repetition of open alerts that were sent anew, after another number of hours or never. An alert that is
 * due at another time waits for the end of quiet hours, and so stays due then.
 */
export async function rescheduleRepeats(
  trx: Kysely<Database>,
  accountId: string,
  { from, to }: { from: number | null; to: number | null },
): Promise<void> {
  await trx
    .updateTable('alerts')
    .set({ due_at: repeatedAfter(to) })
    .where('account_id', '=', accountId)
    .where('recovered_at', 'is', null)
    .where('acknowledged_at', 'is', null)
    .where('sent_at', 'is not', null)
    .where('due_at', 'is not distinct from', repeatedAfter(from))
    .execute()
}

/** Null without a number of hours. */
function repeatedAfter(hours: number | null) {
  return sql<Date>`sent_at + ${hours}::integer * interval '1 hour'`
}

const maxDue = 200

/** Locks due alerts, so that only one node sends each. Reads all accounts. */
export function lockDueAlerts(trx: Kysely<Database>, now: Date): Promise<AlertRow[]> {
  return trx
    .selectFrom('alerts')
    .select(columns)
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .limit(maxDue)
    .forUpdate()
    .skipLocked()
    .execute()
}

/** Reads all accounts. */
export async function hasDueAlerts(db: Kysely<Database>, now: Date): Promise<boolean> {
  const row = await db.selectFrom('alerts').select('id').where('due_at', '<=', now).limit(1).executeTakeFirst()
  return row !== undefined
}

/** Returns open alerts with these codes. Reads all accounts. */
export function findOpenAlerts(db: Kysely<Database>, codes: readonly AlertCode[]): Promise<AlertRow[]> {
  return db.selectFrom('alerts').select(columns).where('recovered_at', 'is', null).where('code', 'in', codes).execute()
}

/** Marks open alerts, about one subject or about all, as resolved without notifying anyone. */
export async function closeAlerts(
  trx: Kysely<Database>,
  { accountId, code, subjectId }: Pick<AlertKey, 'accountId' | 'code'> & Partial<AlertKey>,
): Promise<void> {
  await trx
    .updateTable('alerts')
    .set({ recovered_at: sql<Date>`now()`, due_at: null })
    .where('account_id', '=', accountId)
    .where('code', '=', code)
    .where('recovered_at', 'is', null)
    .$if(subjectId !== undefined, (query) => query.where('subject_id', '=', subjectId ?? ''))
    .execute()
}

const keptDays = 30

/**
 * Closes alerts whose subject was removed or disabled by a user, because they would never recover. Deletes resolved
 * alerts after 30 days. Reads all accounts.
 */
export async function cleanUpAlerts(db: Kysely<Database>): Promise<void> {
  await sql`
    update alerts a set recovered_at = now(), due_at = null
    where recovered_at is null and case
      when code in ('whatsapp_account_inactive', 'token_expiring', 'quality_low', 'failure_rate') then not exists (
        select from whatsapp_accounts w where w.account_id = a.account_id and w.id = a.subject_id)
      when code = 'no_statuses' then not exists (
        select from whatsapp_accounts w
        where w.account_id = a.account_id and w.id = a.subject_id and not w.switched_off)
      when code = 'account_notice' then not exists (
        select from whatsapp_accounts w where w.account_id = a.account_id and w.waba_id = a.subject_id)
      when code = 'messaging_limit' then not exists (
        select from whatsapp_accounts w
        where w.account_id = a.account_id and coalesce(w.portfolio_id, w.waba_id) = a.subject_id
          and not w.switched_off)
      when code = 'endpoint_failing' then not exists (
        select from webhook_endpoints e
        where e.account_id = a.account_id and e.id = a.subject_id and e.announced_failing)
      when code = 'template_stopped' then not exists (
        select from templates t
        where t.account_id = a.account_id and t.whatsapp_template_id = a.subject_id
          and (t.status in ('REJECTED', 'PAUSED', 'DISABLED', 'PENDING', 'IN_APPEAL')
            or (t.status = 'APPROVED' and t.announced_status is distinct from t.status)))
      when code = 'template_category_changing' then not exists (
        select from templates t
        where t.account_id = a.account_id and t.whatsapp_template_id = a.subject_id and t.upcoming_category is not null
          and t.status <> 'DELETED')
      when code = 'delivery_lag' then not exists (
        select from webhook_endpoints e where e.account_id = a.account_id)
      else false
    end`.execute(db)
  await sql`
    delete from alerts where recovered_at < now() - ${keptDays} * interval '1 day' and due_at is null`.execute(db)
}

import { type Kysely, type Selection, sql } from 'kysely'
import { inEnglish, type Sentence } from '../../../contracts/facts/fact.ts'
import type { Deps } from '../../deps.ts'
import { readFactColumn, toFactColumn } from '../../platform/db/columns.ts'
import { columnsOf, toRow } from '../../platform/db/names.ts'
import type { Database } from '../../platform/db/schema.ts'
import type { NumberDetails } from '../../whatsapp/onboarding.ts'
import type { ReportedChange } from '../account-changes.ts'
import { type Advice, describeAdvice } from '../connect/advice.ts'
import { pairsOf, type WhatsAppAccountRef } from '../store.ts'
import { mergeNotices } from './notices.ts'

/** What a check can change. */
const checkedColumns = columnsOf(
  'app_id token_checked_at token_expires_at token_problem token_problem_fact missing_permissions number_checked_at',
  'number_status name_status messaging_limit on_business_app health subscription_checked_at subscribed',
  'subscription_problem subscription_advice callback_checked_at callback_url callback_fields callback_problem',
  'callback_advice marketing_checked_at has_marketing_templates has_payment_method token_refresh_due_at',
  'token_refreshed_at token_refresh_problem token_refresh_problem_fact callback_override',
)

const columns = [
  ...checkedColumns,
  'whatsapp_account_id as whatsAppAccountId',
  ...columnsOf(
    'upcoming_categories notices reach last_callback_at last_status_at last_standby_at announced_active',
    'inactive_since announced_findings findings_since traffic missing_statuses missing_at missing_sent_from',
    'missing_sent_until',
  ),
] as const

export type HealthRow = Selection<Database, 'whatsapp_account_health', (typeof columns)[number]>

/** The values of `checkedColumns` that a check has. `health` is JSON. */
export type HealthChanges = Partial<
  Omit<Selection<Database, 'whatsapp_account_health', (typeof checkedColumns)[number]>, 'health'>
> & { health?: string }

/**
 * The columns of a problem: its English text, which the version before reads, and its facts with that text. Undefined: there
 * is no problem.
 */
export function toAdviceColumns(of: 'subscription' | 'callback', advice: Advice | undefined): HealthChanges {
  const english = advice ? describeAdvice(advice) : null
  return {
    [`${of}Problem`]: english,
    [`${of}Advice`]: advice ? JSON.stringify({ ...advice, english }) : null,
  }
}

/** The text alone if the version before has stored it. */
export function readAdvice(of: 'subscription' | 'callback', row: HealthRow): Advice | string | undefined {
  const text = row[`${of}Problem`]
  const stored = row[`${of}Advice`]
  if (text === null) return undefined
  if (stored === null) return text
  // Written by `toAdviceColumns`.
  const { english, ...advice } = JSON.parse(stored) as Advice & { english: string }
  return english === text ? advice : text
}

type Problem = 'tokenProblem' | 'tokenRefreshProblem'

/** Null: there is no problem. */
export function toProblemColumns(of: Problem, problem: Sentence | null): HealthChanges {
  return { [of]: problem && inEnglish(problem), [`${of}Fact`]: toFactColumn(problem) }
}

export function readProblem(of: Problem, row: HealthRow): Sentence | undefined {
  return readFactColumn(row[of], row[`${of}Fact`]) ?? undefined
}

/** Converts WhatsApp's description of a number to columns. */
export function toNumberHealth(number: NumberDetails, now: Date) {
  return {
    numberCheckedAt: now,
    numberStatus: number.status ?? null,
    nameStatus: number.nameStatus ?? null,
    messagingLimit: number.messagingLimit ?? null,
    callbackOverride: number.callbackOverride ?? null,
    // What cannot be read stays.
    ...(number.onBusinessApp !== undefined && { onBusinessApp: number.onBusinessApp }),
    health: JSON.stringify(number.health ?? []),
  } satisfies HealthChanges
}

export async function insertHealth(
  db: Kysely<Database>,
  { accountId, whatsAppAccountId }: WhatsAppAccountRef,
  facts: HealthChanges,
): Promise<void> {
  await db
    .insertInto('whatsapp_account_health')
    .values({ whatsapp_account_id: whatsAppAccountId, account_id: accountId, ...toRow(facts) })
    .execute()
}

/** Changes nothing if the account was removed in the meantime. */
export async function saveHealth(
  db: Kysely<Database>,
  { accountId, whatsAppAccountId }: WhatsAppAccountRef,
  changes: HealthChanges,
): Promise<void> {
  // A check may have read nothing, and PostgreSQL rejects an empty update.
  if (Object.keys(changes).length === 0) return
  await db
    .updateTable('whatsapp_account_health')
    .set(toRow(changes))
    .where('account_id', '=', accountId)
    .where('whatsapp_account_id', '=', whatsAppAccountId)
    .execute()
}

export function findHealth(
  db: Kysely<Database>,
  { accountId, whatsAppAccountId }: WhatsAppAccountRef,
): Promise<HealthRow | undefined> {
  return db
    .selectFrom('whatsapp_account_health')
    .select(columns)
    .where('account_id', '=', accountId)
    .where('whatsapp_account_id', '=', whatsAppAccountId)
    .executeTakeFirst()
}

/** Reads several accounts: the caller names the account of each. */
export function findHealthOf(db: Kysely<Database>, refs: readonly WhatsAppAccountRef[]): Promise<HealthRow[]> {
  return db
    .selectFrom('whatsapp_account_health')
    .select(columns)
    .where(sql<boolean>`(account_id, whatsapp_account_id) in (${pairsOf(refs)})`)
    .execute()
}

/** Returns the deleted row in its final state, because the delete waits for a concurrent announcement. */
export function deleteHealth(
  trx: Kysely<Database>,
  { accountId, whatsAppAccountId }: WhatsAppAccountRef,
): Promise<HealthRow | undefined> {
  return trx
    .deleteFrom('whatsapp_account_health')
    .where('account_id', '=', accountId)
    .where('whatsapp_account_id', '=', whatsAppAccountId)
    .returning(columns)
    .executeTakeFirst()
}

/** Reads one account, or all accounts, for operators and metrics. */
export function findHealthRows(db: Kysely<Database>, accountId?: string): Promise<HealthRow[]> {
  const all = db.selectFrom('whatsapp_account_health').select(columns)
  return (accountId === undefined ? all : all.where('account_id', '=', accountId)).execute()
}

/**
 * Claims accounts whose check is due, so that only one of several nodes checks each. Accounts that a user deactivated
 * are not checked. Reads all accounts: the check serves them all.
 */
export async function claimDueChecks(
  db: Kysely<Database>,
  { limit, nextSeconds }: { limit: number; nextSeconds: number },
): Promise<WhatsAppAccountRef[]> {
  const { rows } = await sql<WhatsAppAccountRef>`
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

export async function hasApprovedMarketingTemplates(
  db: Kysely<Database>,
  accountId: string,
  wabaId: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('templates')
    .select('name')
    .where((eb) => eb.and({ account_id: accountId, waba_id: wabaId, status: 'APPROVED', category: 'MARKETING' }))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Makes the next check run within seconds, for example because WhatsApp reported a change. */
export async function scheduleCheck(
  db: Kysely<Database>,
  { accountId, whatsAppAccountId }: WhatsAppAccountRef,
): Promise<void> {
  await db
    .updateTable('whatsapp_account_health')
    .set({ next_check_at: sql<Date>`now()` })
    .where('account_id', '=', accountId)
    .where('whatsapp_account_id', '=', whatsAppAccountId)
    .execute()
}

/** Checks at most this often because of refusals, which a campaign can get for each message. */
const secondsBetweenRefusals = 300

/** Makes a check run early because WhatsApp rejected a message. Writes nothing if one is due by then. */
export async function scheduleCheckAfterRefusal(
  db: Kysely<Database>,
  { accountId, whatsAppAccountId }: WhatsAppAccountRef,
): Promise<void> {
  const due = sql<Date>`greatest(now(), marketing_checked_at + ${sql.lit(secondsBetweenRefusals)} * interval '1 second')`
  await db
    .updateTable('whatsapp_account_health')
    .set({ next_check_at: due })
    .where('account_id', '=', accountId)
    .where('whatsapp_account_id', '=', whatsAppAccountId)
    .where('next_check_at', '>', due)
    .execute()
}

/** What a callback was about: statuses of messages, conversations that another app answers, or something else. */
export type CallbackKind = 'statuses' | 'standby' | 'other'

/** Records that callbacks arrived. Reads all accounts: one callback can concern several. */
export async function recordCallbacks(
  db: Kysely<Database>,
  whatsAppAccountIds: readonly string[],
  kind: CallbackKind,
): Promise<void> {
  await sql`
    insert into whatsapp_account_health (whatsapp_account_id, account_id, last_callback_at, last_status_at, last_standby_at)
    select id, account_id, now(), case when ${kind === 'statuses'}::boolean then now() end,
      case when ${kind === 'standby'}::boolean then now() end
    from whatsapp_accounts where id = any (${sql.val([...whatsAppAccountIds])}::text[]) order by id
    on conflict (whatsapp_account_id) do update set
      last_callback_at = excluded.last_callback_at,
      last_status_at = coalesce(excluded.last_status_at, whatsapp_account_health.last_status_at),
      last_standby_at = coalesce(excluded.last_standby_at, whatsapp_account_health.last_standby_at)`.execute(db)
}

/** Returns false if another node has already announced the change. */
export async function replaceAnnouncedFindings(
  db: Kysely<Database>,
  { accountId, whatsAppAccountId }: WhatsAppAccountRef,
  { from, to, since }: { from: string[]; to: string[]; since: Record<string, string> },
): Promise<boolean> {
  const row = await db
    .updateTable('whatsapp_account_health')
    .set({ announced_findings: to, findings_since: JSON.stringify(since) })
    .where('account_id', '=', accountId)
    .where('whatsapp_account_id', '=', whatsAppAccountId)
    .where('announced_findings', '=', sql<string[]>`${sql.val(from)}::text[]`)
    .returning('whatsapp_account_id')
    .executeTakeFirst()
  return row !== undefined
}

/** Adds rows for accounts that a node of an earlier version added. Reads all accounts. */
export async function addMissingHealth(db: Kysely<Database>): Promise<void> {
  await sql`
    insert into whatsapp_account_health (whatsapp_account_id, account_id)
    select id, account_id from whatsapp_accounts w
    where not exists (select from whatsapp_account_health h where h.whatsapp_account_id = w.id)
    on conflict do nothing`.execute(db)
}

/**
 * After the clock was set back, shifts due times back and limits callback times to the current time. Reads all
 * accounts: they share a clock.
 */
export async function shiftChecks(db: Kysely<Database>, seconds: number): Promise<void> {
  const shift = sql`make_interval(secs => ${seconds})`
  await sql`
    update whatsapp_account_health set
      next_check_at = case when next_check_at > now() then next_check_at - ${shift} else next_check_at end,
      next_traffic_at = case when next_traffic_at > now() then next_traffic_at - ${shift} else next_traffic_at end,
      next_reach_at = case when next_reach_at > now() then next_reach_at - ${shift} else next_reach_at end,
      token_refresh_due_at = case
        when token_refresh_due_at > now() then token_refresh_due_at - ${shift} else token_refresh_due_at end,
      last_callback_at = least(last_callback_at, now()),
      last_status_at = least(last_status_at, now()),
      last_standby_at = least(last_standby_at, now())
    where greatest(next_check_at, next_traffic_at, next_reach_at, token_refresh_due_at, last_callback_at, last_status_at,
      last_standby_at) > now()`.execute(db)
}

type ReportDeps = Pick<Deps, 'db' | 'log' | 'now'>

interface Row extends WhatsAppAccountRef {
  notices: ReturnType<typeof mergeNotices>
  limit: string | null
}

/** Stores what WhatsApp reported about accounts: restrictions, warnings, alerts and the messaging limit. */
export async function applyReports(deps: ReportDeps, changes: readonly ReportedChange[]): Promise<void> {
  const reported = changes.filter(({ change }) => change.notices.size > 0 || change.messagingLimit !== undefined)
  if (reported.length === 0) return
  const changeOf = new Map(reported.map(({ whatsAppAccountId, change }) => [whatsAppAccountId, change]))
  const now = deps.now()
  const logged = await deps.db.transaction().execute(async (trx) => {
    const logged: { ref: WhatsAppAccountRef; messagingLimit: string; previous: string | null }[] = []
    for (const { notices, limit, ...ref } of await lockReports(trx, reported)) {
      const change = changeOf.get(ref.whatsAppAccountId)
      if (!change) continue
      const merged = mergeNotices(notices, [...change.notices.values()], now)
      const messagingLimit = change.messagingLimit ?? limit
      await saveReport(trx, ref, { notices: JSON.stringify(merged), messagingLimit })
      if (messagingLimit !== null && messagingLimit !== limit) logged.push({ ref, messagingLimit, previous: limit })
    }
    return logged
  })
  for (const { ref, messagingLimit, previous } of logged)
    deps.log.info({ ...ref, messagingLimit, previous }, 'WhatsApp changed the messaging limit')
}

/** Rows are locked in the order of callbacks. Each pair names its account. */
async function lockReports(trx: Kysely<Database>, refs: readonly WhatsAppAccountRef[]): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select account_id as "accountId", whatsapp_account_id as "whatsAppAccountId", notices, messaging_limit as "limit"
    from whatsapp_account_health
    where (account_id, whatsapp_account_id) in (${pairsOf(refs)})
    order by whatsapp_account_id
    for update`.execute(trx)
  return rows
}

async function saveReport(
  trx: Kysely<Database>,
  { accountId, whatsAppAccountId }: WhatsAppAccountRef,
  { notices, messagingLimit }: { notices: string; messagingLimit: string | null },
): Promise<void> {
  await trx
    .updateTable('whatsapp_account_health')
    .set({ notices, messaging_limit: messagingLimit })
    .where('account_id', '=', accountId)
    .where('whatsapp_account_id', '=', whatsAppAccountId)
    .execute()
}

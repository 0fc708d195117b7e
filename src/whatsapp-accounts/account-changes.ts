import type { Kysely } from 'kysely'
import { inactiveReasons } from '../../contracts/facts/findings.ts'
import { arraysOf, type Columns, type Lists, listsOf, namesOf } from '../platform/db/columns.ts'
import { readDatabaseClock } from '../platform/db/clock.ts'
import type { Database } from '../platform/db/schema.ts'
import { unnamedStatement } from '../platform/db/statement.ts'
import type { ReportedAccount, ReportedNotice } from '../whatsapp/callbacks/read-account.ts'
import { disabledCode, earlierDisabled, toReasonColumns } from './inactive-reason.ts'
import { syncSeconds, type WhatsAppAccountRef } from './store.ts'

/** What several updates of a WhatsApp Business Account change together. */
export interface AccountChange {
  /** Why WhatsApp disabled the account, if it did. */
  disabledFor?: string
  /** Whether WhatsApp reinstated the account, after it disabled it if it did both. */
  reinstated: boolean
  /** When WhatsApp did the last of these; undefined also if it gave no time. */
  activityAt?: Date | undefined
  messagingLimit?: string
  /** The latest report of each kind. */
  notices: ReadonlyMap<string, ReportedNotice>
}

export function toAccountChange({ change, reason, at, messagingLimit, notices }: ReportedAccount): AccountChange {
  return {
    ...(change === 'disabled' && { disabledFor: reason }),
    reinstated: change === 'reinstated',
    ...(change !== 'recheck' && { activityAt: at }),
    ...(messagingLimit !== undefined && { messagingLimit }),
    notices: new Map(notices.map((notice) => [notice.key, notice])),
  }
}

/** WhatsApp reports few kinds of problems. More would be stored. */
const maxNotices = 20

export function mergeAccountChanges(earlier: AccountChange | undefined, later: AccountChange): AccountChange {
  if (!earlier) return later
  const notices = mergeNotices(earlier.notices, later.notices)
  const messagingLimit = later.messagingLimit ?? earlier.messagingLimit
  return { ...mergeActivity(earlier, later), notices, ...(messagingLimit !== undefined && { messagingLimit }) }
}

/** WhatsApp repeats callbacks and sends them out of order, so the times decide: a late report must not replace a newer one. */
function mergeActivity(earlier: AccountChange, later: AccountChange): AccountChange {
  const { activityAt: at } = later
  const [first, last] = at && at < (earlier.activityAt ?? at) ? [later, earlier] : [earlier, later]
  if (last.disabledFor !== undefined) return last
  const activityAt = last.reinstated ? last.activityAt : first.activityAt
  return { ...first, reinstated: first.reinstated || last.reinstated, activityAt }
}

/** Like `mergeActivity`: an earlier report of a problem must not replace its end. */
function mergeNotices(earlier: AccountChange['notices'], later: AccountChange['notices']): AccountChange['notices'] {
  const newer = [...later].filter(([key, { at }]) => !(at && at < (earlier.get(key)?.at ?? at)))
  return new Map([...earlier, ...newer].slice(-maxNotices))
}

interface ActivityChange extends WhatsAppAccountRef {
  /** Null if WhatsApp did not disable the account. */
  inactiveReason: string | null
  inactiveFact: string | null
  reinstated: string
  reportedAt: Date | undefined
}

const activityColumns: Columns<ActivityChange> = {
  accountId: { name: 'account_id', type: 'word' },
  whatsAppAccountId: { name: 'id', type: 'word' },
  inactiveReason: { name: 'disabled_for', type: 'text' },
  inactiveFact: { name: 'disabled_fact', type: 'text' },
  reinstated: { name: 'reinstated', type: 'word' },
  reportedAt: { name: 'reported_at', type: 'timestamptz' },
}

/**
 * Ignores a report that is older than the last one. A time that is absent or ahead becomes the current one, or it would
 * outlast later reports. Rows are locked in order, so that concurrent batches cannot deadlock.
 */
const changeActivity = unnamedStatement<
  Lists<ActivityChange> & { code: string; earlier: string },
  WhatsAppAccountRef & { reason: string | null }
>(
  ($) => `with change as (
    select * from unnest(${arraysOf($, activityColumns)}) as c (${namesOf(activityColumns)})
  ), changed as (
    select w.account_id, w.id, case
      when c.disabled_for is not null then case when c.reinstated = 'yes' then null else c.disabled_for end
      when case when w.inactive_fact::json->>'english' = w.inactive_reason then w.inactive_fact::json->>'code' = ${$.code}
        else starts_with(w.inactive_reason, ${$.earlier}) end then null
      else w.inactive_reason end as inactive_reason,
      coalesce(c.disabled_fact, w.inactive_fact) as inactive_fact,
      w.inactive_reason as previous_reason, least(c.reported_at, now()) as reported_at
    from whatsapp_accounts w join change c on c.account_id = w.account_id and c.id = w.id
    where w.activity_reported_at is null or least(w.activity_reported_at, now()) <= least(c.reported_at, now())
    order by w.id
    for update of w
  )
  update whatsapp_accounts w set inactive_reason = changed.inactive_reason, inactive_fact = changed.inactive_fact,
    activity_reported_at = changed.reported_at
  from changed
  where w.account_id = changed.account_id and w.id = changed.id
    and (w.inactive_reason, w.activity_reported_at) is distinct from (changed.inactive_reason, changed.reported_at)
  returning w.account_id as "accountId", w.id as "whatsAppAccountId",
    nullif(w.inactive_reason, changed.previous_reason) as "reason"`,
)

/** The time of a user's change, to compare with those of callbacks: by the same clock, and in whole seconds as theirs. */
export async function readActivityTime(db: Kysely<Database>): Promise<Date> {
  const now = await readDatabaseClock(db)
  return new Date(now.getTime() - (now.getTime() % 1000))
}

/** What WhatsApp reported for the WhatsApp Business Account of a WhatsApp account. */
export interface ReportedChange extends WhatsAppAccountRef {
  change: AccountChange
}

/** Applies the changes of many WhatsApp accounts, one for each; returns the accounts that this disabled. */
export async function changeAccounts(
  db: Kysely<Database>,
  changes: readonly ReportedChange[],
): Promise<(WhatsAppAccountRef & { reason: string })[]> {
  const items = changes
    .filter(({ change }) => change.disabledFor !== undefined || change.reinstated)
    .map(({ accountId, whatsAppAccountId, change }) => {
      const { disabledFor: event, reinstated, activityAt: reportedAt } = change
      return {
        accountId,
        whatsAppAccountId,
        ...toReasonColumns(event === undefined ? null : inactiveReasons.disabled({ event })),
        reinstated: reinstated ? 'yes' : 'no',
        reportedAt,
      }
    })
  if (items.length === 0) return []
  const rows = await changeActivity(db, {
    ...listsOf(activityColumns, items),
    code: disabledCode,
    earlier: earlierDisabled,
  })
  return rows.flatMap(({ reason, ...ref }) => (reason === null ? [] : [{ ...ref, reason }]))
}

interface WabaOfAccount {
  accountId: string
  wabaId: string
}

const wabaColumns: Columns<WabaOfAccount> = {
  accountId: { name: 'account_id', type: 'word' },
  wabaId: { name: 'waba_id', type: 'text' },
}

/**
 * The next sync follows the last one after a minute at the earliest, because WhatsApp allows 200 calls per hour. A
 * row whose sync is due by then is not changed: WhatsApp can report thousands of changes before the sync runs.
 */
const markSyncsDue = unnamedStatement<Lists<WabaOfAccount>>(
  ($) => `with due as (
    select w.id from whatsapp_accounts w
    where (w.account_id, w.waba_id) in (select * from unnest(${arraysOf($, wabaColumns)})) and w.next_sync_at > now() + interval '1 minute'
    order by w.id
    for update
  )
  update whatsapp_accounts w
  set next_sync_at = greatest(
    now(), least(now(), w.next_sync_at - interval '${syncSeconds} seconds') + interval '1 minute')
  from due where w.id = due.id`,
)

/** Marks the stored templates of WABAs as outdated; the next sync reads them. */
export async function scheduleSyncs(db: Kysely<Database>, wabas: readonly WabaOfAccount[]): Promise<void> {
  if (wabas.length > 0) await markSyncsDue(db, listsOf(wabaColumns, wabas))
}

const refColumns: Columns<WhatsAppAccountRef> = {
  accountId: { name: 'account_id', type: 'word' },
  whatsAppAccountId: { name: 'whatsapp_account_id', type: 'word' },
}

/** Like `markSyncsDue`, for checks. */
const markChecksDue = unnamedStatement<Lists<WhatsAppAccountRef>>(
  ($) => `with due as (
    select h.whatsapp_account_id as id from whatsapp_account_health h
    where (h.account_id, h.whatsapp_account_id) in (select * from unnest(${arraysOf($, refColumns)}))
      and h.next_check_at > now()
    order by h.whatsapp_account_id
    for update
  )
  update whatsapp_account_health h set next_check_at = now() from due where h.whatsapp_account_id = due.id`,
)

/** Makes the next checks run within seconds. */
export async function scheduleChecks(db: Kysely<Database>, refs: readonly WhatsAppAccountRef[]): Promise<void> {
  if (refs.length > 0) await markChecksDue(db, listsOf(refColumns, refs))
}

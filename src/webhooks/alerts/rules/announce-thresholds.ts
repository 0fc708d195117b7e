import { type Kysely, sql } from 'kysely'
import type { AlertRules } from '../../../../contracts/dashboard/alert.ts'
import { lockAccount } from '../../../whatsapp-accounts/store.ts'
import type { Deps } from '../../../deps.ts'
import type { Database, StoredTraffic } from '../../../platform/db/schema.ts'
import { type AlertChange, type ReportDeps, reportChanges, toSeverity } from '../report.ts'
import { oldestDue } from '../../queue/store.ts'
import { findRules } from '../../../accounts/alert-rules.ts'
import { wakeSenders } from '../send.ts'
import { findOpenAlerts } from '../store.ts'
import {
  compareFailureRate,
  compareLag,
  compareStatuses,
  type FindOpen,
  type LagFacts,
  type StatusFacts,
  thresholdCodes,
  type TrafficFacts,
} from './thresholds.ts'

/**
 * Alerts about failure rates, late deliveries and missing statuses, each once across all nodes. Returns the number of
 * changes.
 */
export async function announceThresholds(deps: ReportDeps & Pick<Deps, 'db' | 'announcements'>): Promise<number> {
  const facts = await readFacts(deps.db)
  const found = await findChanges(deps.db, facts)
  let changes = 0
  for (const accountId of new Set(found.map((change) => change.accountId)))
    changes += await deps.db.transaction().execute(async (trx) => {
      // Another node may have found the same changes. It holds this lock until its alerts are stored.
      await lockAccount(trx, accountId)
      const confirmed = await findChanges(trx, ofAccount(facts, accountId))
      await reportChanges(deps, trx, confirmed)
      return confirmed.length
    })
  if (changes > 0) wakeSenders(deps)
  return changes
}

interface Facts {
  traffic: TrafficFacts[]
  lags: LagFacts[]
  statuses: StatusFacts[]
}

function ofAccount({ traffic, lags, statuses }: Facts, accountId: string): Facts {
  return {
    traffic: traffic.filter((facts) => facts.accountId === accountId),
    lags: lags.filter((facts) => facts.accountId === accountId),
    statuses: statuses.filter((facts) => facts.accountId === accountId),
  }
}

async function findChanges(db: Kysely<Database>, { traffic, lags, statuses }: Facts): Promise<AlertChange[]> {
  const accountIds = [...traffic, ...lags, ...statuses].map(({ accountId }) => accountId)
  if (accountIds.length === 0) return []
  const rulesOf: (accountId: string) => AlertRules = await findRules(db, accountIds)
  const findOpen = await readOpen(db)
  return [
    ...traffic.flatMap((facts) => compareFailureRate(facts, rulesOf(facts.accountId), findOpen) ?? []),
    ...lags.flatMap((facts) => compareLag(facts, rulesOf(facts.accountId), findOpen) ?? []),
    ...statuses.flatMap((facts) => compareStatuses(facts, rulesOf(facts.accountId), findOpen) ?? []),
  ]
}

async function readOpen(db: Kysely<Database>): Promise<FindOpen> {
  const rows = await findOpenAlerts(db, thresholdCodes)
  return (code, accountId, subjectId) => {
    const open = rows.find((row) => row.code === code && row.account_id === accountId && row.subject_id === subjectId)
    return open && toSeverity(open)
  }
}

/** Reads all accounts with failures, late deliveries or missing statuses, and those with an open alert. */
async function readFacts(db: Kysely<Database>): Promise<Facts> {
  const [traffic, lags, statuses] = await Promise.all([readTraffic(db), readLags(db), readStatuses(db)])
  return { traffic, lags, statuses }
}

async function readTraffic(db: Kysely<Database>): Promise<TrafficFacts[]> {
  const { rows } = await sql<{
    accountId: string
    whatsAppAccountId: string
    name: string
    traffic: StoredTraffic
  }>`
    select w.account_id as "accountId", w.id as "whatsAppAccountId", h.traffic,
      coalesce(w.display_phone_number, 'phone number ID ' || w.phone_number_id) as name
    from whatsapp_account_health h
    join whatsapp_accounts w on w.id = h.whatsapp_account_id
    where h.traffic is not null and ((h.traffic->>'failed')::integer > 0 or exists (
      select from alerts a
      where a.account_id = w.account_id and a.code = 'failure_rate' and a.subject_id = w.id and a.recovered_at is null
    ))`.execute(db)
  return rows
}

/** Reads how long the oldest delivery has been due, like `readQueueState`, but for each account. */
async function readLags(db: Kysely<Database>): Promise<LagFacts[]> {
  const { rows } = await sql<LagFacts>`
    select late.account_id as "accountId", late.seconds
    from (
      select e.account_id, coalesce(max(greatest(0, extract(epoch from now() - first.due_at))), 0)::float8 as seconds
      from webhook_endpoints e
      left join lateral ${oldestDue} first on e.enabled
      group by e.account_id
    ) late
    where late.seconds > 1 or exists (
      select from alerts a
      where a.account_id = late.account_id and a.code = 'delivery_lag' and a.recovered_at is null
    )`.execute(db)
  return rows
}

/** Also considers statuses that arrived after the messages were counted. Deactivated accounts raise no new alert. */
async function readStatuses(db: Kysely<Database>): Promise<StatusFacts[]> {
  const { rows } = await sql<StatusFacts>`
    select w.account_id as "accountId", w.id as "whatsAppAccountId",
      coalesce(w.display_phone_number, 'phone number ID ' || w.phone_number_id) as name,
      case when w.switched_off or h.last_status_at >= (h.traffic->'withoutStatus'->>'since')::timestamptz then 0
        else coalesce((h.traffic->'withoutStatus'->>'count')::integer, 0) end as "withoutStatus",
      coalesce(h.last_status_at > a.opened_at, false) as resumed
    from whatsapp_account_health h
    join whatsapp_accounts w on w.id = h.whatsapp_account_id
    left join alerts a on a.account_id = w.account_id and a.code = 'no_statuses' and a.subject_id = w.id
      and a.recovered_at is null
    where h.traffic ? 'withoutStatus' or a.id is not null`.execute(db)
  return rows
}

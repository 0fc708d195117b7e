import { type Kysely, sql } from 'kysely'
import type { AlertRules } from '../../../../contracts/dashboard/alert.ts'
import type { Deps } from '../../../deps.ts'
import type { Database } from '../../../platform/db/schema.ts'
import { type AlertChange, reportByAccount, type ReportDeps, toSeverity } from '../report.ts'
import { oldestDue } from '../../queue/store.ts'
import { limitedPattern, nearPercent } from '../../../whatsapp-accounts/health/messaging-limit.ts'
import { findRules } from '../../../accounts/alert-rules.ts'
import { findOpenAlerts, nameOfNumber } from '../store.ts'
import {
  compareFailureRate,
  compareLag,
  compareReach,
  compareStatuses,
  type FindOpen,
  type LagFacts,
  type ReachFacts,
  type StatusFacts,
  thresholdCodes,
  type TrafficFacts,
} from './thresholds.ts'

/**
 * Alerts about failure rates, late deliveries and missing statuses, each once across all nodes. Returns the number of
 * changes.
 */
export async function announceThresholds(deps: ReportDeps & Pick<Deps, 'db' | 'notifications'>): Promise<number> {
  const facts = await readFacts(deps.db)
  const found = await findChanges(deps.db, facts)
  return reportByAccount(deps, found, (trx, accountId) => findChanges(trx, ofAccount(facts, accountId)))
}

interface Facts {
  traffic: TrafficFacts[]
  lags: LagFacts[]
  statuses: StatusFacts[]
  reaches: ReachFacts[]
}

function ofAccount({ traffic, lags, statuses, reaches }: Facts, accountId: string): Facts {
  return {
    traffic: traffic.filter((facts) => facts.accountId === accountId),
    lags: lags.filter((facts) => facts.accountId === accountId),
    statuses: statuses.filter((facts) => facts.accountId === accountId),
    reaches: reaches.filter((facts) => facts.accountId === accountId),
  }
}

async function findChanges(db: Kysely<Database>, { traffic, lags, statuses, reaches }: Facts): Promise<AlertChange[]> {
  const accountIds = [...traffic, ...lags, ...statuses, ...reaches].map(({ accountId }) => accountId)
  if (accountIds.length === 0) return []
  const rulesOf: (accountId: string) => AlertRules = await findRules(db, accountIds)
  const findOpen = await readOpen(db)
  return [
    ...traffic.flatMap((facts) => compareFailureRate(facts, rulesOf(facts.accountId), findOpen) ?? []),
    ...lags.flatMap((facts) => compareLag(facts, rulesOf(facts.accountId), findOpen) ?? []),
    ...statuses.flatMap((facts) => compareStatuses(facts, rulesOf(facts.accountId), findOpen) ?? []),
    ...reaches.flatMap((facts) => compareReach(facts, findOpen) ?? []),
  ]
}

async function readOpen(db: Kysely<Database>): Promise<FindOpen> {
  const rows = await findOpenAlerts(db, thresholdCodes)
  return (code, accountId, subjectId) => {
    const open = rows.find((row) => row.code === code && row.accountId === accountId && row.subjectId === subjectId)
    return open && toSeverity(open)
  }
}

/** Reads all accounts with failures, late deliveries, missing statuses or a messaging limit, and those with an open alert. */
async function readFacts(db: Kysely<Database>): Promise<Facts> {
  const [traffic, lags, statuses, reaches] = await Promise.all([
    readTraffic(db),
    readLags(db),
    readStatuses(db),
    readReaches(db),
  ])
  return { traffic, lags, statuses, reaches }
}

/** One row for each portfolio that is near its limit or has an open alert. The latest check knows the limit best. */
async function readReaches(db: Kysely<Database>): Promise<ReachFacts[]> {
  const { rows } = await sql<ReachFacts>`
    select w.account_id as "accountId", coalesce(w.portfolio_id, w.waba_id) as "portfolioId",
      jsonb_agg(${nameOfNumber} order by w.id) as names,
      (array_agg(h.messaging_limit order by h.number_checked_at desc nulls last))[1] as "messagingLimit",
      (array_agg(h.reach order by h.number_checked_at desc nulls last))[1] as reach
    from whatsapp_account_health h
    join whatsapp_accounts w on w.id = h.whatsapp_account_id
    where not w.switched_off and h.reach is not null and (
      case when h.messaging_limit ~ ${limitedPattern}
        then (h.reach->>'people')::integer * 100.0
          >= replace(substr(h.messaging_limit, 6), 'K', '000')::bigint * ${nearPercent}
        else false end
      or exists (
        select from alerts a
        where a.account_id = w.account_id and a.code = 'messaging_limit' and a.recovered_at is null
          and a.subject_id = coalesce(w.portfolio_id, w.waba_id)
      ))
    group by 1, 2`.execute(db)
  return rows
}

async function readTraffic(db: Kysely<Database>): Promise<TrafficFacts[]> {
  const { rows } = await sql<TrafficFacts>`
    select w.account_id as "accountId", w.id as "whatsAppAccountId", h.traffic,
      ${nameOfNumber} as name
    from whatsapp_account_health h
    join whatsapp_accounts w on w.id = h.whatsapp_account_id
    where h.traffic is not null and ((h.traffic->>'failed')::integer > 0 or exists (
      select from alerts a
      where a.account_id = w.account_id and a.code = 'failure_rate' and a.subject_id = w.id and a.recovered_at is null
    ))`.execute(db)
  return rows
}

/**
 * Reads how long the oldest delivery of each account has been due. Unlike `readQueueState`, which is for the operator, it
 * counts the time that a delivery waits for a failing or limited endpoint, because members can change that.
 */
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
      ${nameOfNumber} as name,
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

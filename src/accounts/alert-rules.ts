import type { Kysely, Selection } from 'kysely'
import { type AlertRules, defaultAlertRules } from '../../contracts/dashboard/alert.ts'
import type { Database } from '../platform/db/schema.ts'

const columns = [
  'failure_rate_percent as failureRatePercent',
  'failure_rate_min_messages as failureRateMinMessages',
  'delivery_lag_seconds as deliveryLagSeconds',
  'no_status_min_messages as noStatusMinMessages',
  'quiet_time_zone as timeZone',
  'quiet_from as from',
  'quiet_until as until',
  'quiet_except_critical as exceptCritical',
  'repeat_hours as repeatHours',
] as const

function toRuleColumns({ quietHours, ...rules }: AlertRules) {
  return {
    failure_rate_percent: rules.failureRatePercent,
    failure_rate_min_messages: rules.failureRateMinMessages,
    delivery_lag_seconds: rules.deliveryLagSeconds,
    no_status_min_messages: rules.noStatusMinMessages,
    quiet_time_zone: quietHours?.timeZone ?? null,
    quiet_from: quietHours?.from ?? null,
    quiet_until: quietHours?.until ?? null,
    quiet_except_critical: quietHours?.exceptCritical ?? null,
    repeat_hours: rules.repeatHours,
  }
}

export const defaultRuleColumns = toRuleColumns(defaultAlertRules)

function toRules({
  timeZone,
  from,
  until,
  exceptCritical,
  repeatHours,
  ...rules
}: Selection<Database, 'alert_settings', (typeof columns)[number]>): AlertRules {
  return {
    ...rules,
    quietHours:
      timeZone !== null && from !== null && until !== null
        ? { timeZone, from, until, exceptCritical: exceptCritical === true }
        : null,
    repeatHours,
  }
}

/** Returns the percentage of messages that failed; 0 if there are too few messages to judge. */
export function toFailurePercent(
  { sent, failed }: { sent: number; failed: number },
  { failureRateMinMessages }: Pick<AlertRules, 'failureRateMinMessages'>,
): number {
  const total = sent + failed
  return total < failureRateMinMessages ? 0 : (100 * failed) / total
}

/** Returns a function that finds the rules of each account; accounts without settings have the defaults. */
export async function findRules(
  db: Kysely<Database>,
  accountIds: readonly string[],
): Promise<(accountId: string) => AlertRules> {
  if (accountIds.length === 0) return () => defaultAlertRules
  const rows = await db
    .selectFrom('alert_settings')
    .select(['account_id as accountId', ...columns])
    .where('account_id', 'in', [...new Set(accountIds)])
    .execute()
  const rules = new Map(rows.map(({ accountId, ...row }) => [accountId, toRules(row)]))
  return (accountId) => rules.get(accountId) ?? defaultAlertRules
}

export async function saveRules(db: Kysely<Database>, accountId: string, rules: AlertRules): Promise<void> {
  const values = toRuleColumns(rules)
  await db
    .insertInto('alert_settings')
    .values({ account_id: accountId, ...values })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(values))
    .execute()
}

/** Returns the page where members turn alert emails on and off. */
export function emailSettingsUrl(publicUrl: string, accountId: string): string {
  return new URL(`/settings/${accountId}/alerts#email`, publicUrl).href
}

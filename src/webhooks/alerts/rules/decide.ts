import type { AlertRules, AlertSeverity } from '../../../../contracts/dashboard/alert.ts'
import { findQuietEnd } from './quiet-hours.ts'

/** What is known of an alert when something changes, or when it is due. */
export interface AlertFacts {
  now: Date
  /**
   * `raised`: its problem began, or is announced again, such as when fewer days are left. `recovered`: its problem is
   * solved. `due`: quiet hours have ended, or it is to be repeated.
   */
  change: 'raised' | 'recovered' | 'due'
  severity: AlertSeverity
  /** The severity that was sent or acknowledged before; undefined for a new alert. */
  previousSeverity: AlertSeverity | undefined
  wasSent: boolean
  acknowledged: boolean
  /** Whether the problem is solved: what is due is the recovery then. */
  recovered: boolean
  rules: Pick<AlertRules, 'quietHours' | 'repeatHours'>
}

export interface AlertDecision {
  send: boolean
  /** When to decide again. */
  dueAt: Date | undefined
}

const nothing: AlertDecision = { send: false, dueAt: undefined }

/**
 * Decides whether an alert or its recovery is sent now. In quiet hours it waits for their end, unless it is critical and
 * the rules let it pass. An acknowledged alert is sent again only if it became critical. A recovery is reported
 * only if the problem was.
 */
export function decide(facts: AlertFacts): AlertDecision {
  const { now, change, severity, wasSent, recovered, rules } = facts
  const isRecovery = change === 'recovered' || recovered
  if (isRecovery ? !wasSent : isSilenced(facts)) return nothing
  const quietEnd = rules.quietHours && findQuietEnd(rules.quietHours, now)
  const passes = severity === 'critical' && rules.quietHours?.exceptCritical === true
  if (quietEnd && !passes) return { send: false, dueAt: quietEnd }
  const repeats = !isRecovery && rules.repeatHours !== null
  return { send: true, dueAt: repeats ? addHours(now, rules.repeatHours ?? 0) : undefined }
}

function isSilenced({ change, acknowledged, severity, previousSeverity }: AlertFacts): boolean {
  const becameCritical = change === 'raised' && severity === 'critical' && previousSeverity === 'warning'
  return acknowledged && !becameCritical
}

function addHours(time: Date, hours: number): Date {
  return new Date(time.getTime() + hours * 3_600_000)
}

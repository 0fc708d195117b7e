import type { AlertRules, AlertSeverity } from '../../../../contracts/dashboard/alert.ts'
import { findQuietEnd } from './quiet-hours.ts'

/** The state of an alert when its problem changes or when it is due. */
export interface AlertFacts {
  now: Date
  /**
   * `raised`: the problem began or is announced again, for example when fewer days are left. `recovered`: the problem
   * was resolved. `due`: quiet hours have ended, or the alert is due to be repeated.
   */
  change: 'raised' | 'recovered' | 'due'
  severity: AlertSeverity
  /** The severity that was sent or acknowledged before; undefined for a new alert. */
  previousSeverity: AlertSeverity | undefined
  wasSent: boolean
  acknowledged: boolean
  /** Of an alert that is due: whether the problem was resolved, so that its recovery is due. */
  recovered?: boolean
  rules: Pick<AlertRules, 'quietHours' | 'repeatHours'>
}

export interface AlertDecision {
  send: boolean
  /** When to decide again. */
  dueAt: Date | undefined
}

const sendNothing: AlertDecision = { send: false, dueAt: undefined }

/**
 * Decides whether to send an alert or its recovery now. During quiet hours, it waits until they end, unless it is
 * critical and the rules exempt critical alerts. An acknowledged alert is only sent again if it became critical. A
 * recovery is only sent if the alert was.
 */
export function decide(facts: AlertFacts): AlertDecision {
  const { now, change, severity, wasSent, recovered = false, rules } = facts
  const isRecovery = change === 'recovered' || recovered
  if (isRecovery ? !wasSent : isSilenced(facts)) return sendNothing
  const quietEnd = rules.quietHours && findQuietEnd(rules.quietHours, now)
  const isExempt = severity === 'critical' && rules.quietHours?.exceptCritical === true
  if (quietEnd && !isExempt) return { send: false, dueAt: quietEnd }
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

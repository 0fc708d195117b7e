import type { AlertCode, AlertRules } from '../../../../contracts/dashboard/alert.ts'
import { toFailurePercent } from '../../../accounts/alert-rules.ts'
import type { StoredReach, StoredTraffic } from '../../../platform/db/schema.ts'
import { countPeople, nearPercent, readLimit } from '../../../whatsapp-accounts/health/messaging-limit.ts'
import { alertFacts } from '../../../../contracts/facts/alerts.ts'
import { type FactParam, join } from '../../../../contracts/facts/fact.ts'
import { findings } from '../../../../contracts/facts/findings.ts'
import type { AlertChange } from '../report.ts'

export const thresholdCodes = [
  'failure_rate',
  'delivery_lag',
  'no_statuses',
  'messaging_limit',
] as const satisfies AlertCode[]

/** The messages of a WhatsApp account in the last hour. */
export interface TrafficFacts {
  accountId: string
  whatsAppAccountId: string
  /** Display name of the phone number. */
  name: FactParam
  traffic: Pick<StoredTraffic, 'sent' | 'failed' | 'failures'>
}

/** How late the oldest due webhook delivery of an account is. */
export interface LagFacts {
  accountId: string
  seconds: number
}

/** The statuses of a WhatsApp account. */
export interface StatusFacts {
  accountId: string
  whatsAppAccountId: string
  /** Display name of the phone number. */
  name: FactParam
  /** Messages accepted since the last status, and long enough ago that a status should have arrived. */
  withoutStatus: number
  /** Whether a status arrived after the open alert was raised; false if there is no open alert. */
  resumed: boolean
}

/** How many people the numbers of a business portfolio addressed in 24 hours. */
export interface ReachFacts {
  accountId: string
  portfolioId: string
  /** Display names of the phone numbers. */
  names: FactParam[]
  messagingLimit: string | null
  /** Null if they were not counted. */
  reach: Pick<StoredReach, 'people' | 'isComplete'> | null
}

/** Returns the severity of the open alert with this code and subject; undefined if there is none. */
export type FindOpen = (code: AlertCode, accountId: string, subjectId: string) => AlertChange['severity'] | undefined

const criticalPercent = 50
/**
 * An alert recovers well below its threshold (hysteresis), so that a value close to it does not cause repeated alerts.
 */
const recoveryShare = 0.75

export function compareFailureRate(
  { accountId, whatsAppAccountId, name, traffic: { sent, failed, failures } }: TrafficFacts,
  { failureRatePercent: limit, ...rules }: Pick<AlertRules, 'failureRatePercent' | 'failureRateMinMessages'>,
  findOpen: FindOpen,
): AlertChange | undefined {
  if (limit === null) return undefined
  const total = sent + failed
  const [mostFrequent] = failures
  const percent = toFailurePercent({ sent, failed }, rules)
  const open = findOpen('failure_rate', accountId, whatsAppAccountId)
  const severity = percent >= criticalPercent ? 'critical' : 'warning'
  const about = { accountId, code: 'failure_rate', subjectId: whatsAppAccountId } as const
  if (percent > limit && (open === undefined || (open === 'warning' && severity === 'critical')))
    return {
      ...about,
      kind: 'raised',
      severity,
      title: alertFacts.failures.title({ percent: Math.round(percent), name }),
      paragraphs: [
        mostFrequent
          ? alertFacts.failures.shareAndCode({ failed, total, code: mostFrequent.code })
          : alertFacts.failures.share({ failed, total }),
        alertFacts.failures.open(),
      ],
    }
  if (open === undefined || percent > limit * recoveryShare) return undefined
  return {
    ...about,
    kind: 'recovered',
    severity: open,
    title: alertFacts.failures.over({ name }),
    paragraphs: [alertFacts.failures.share({ failed, total })],
  }
}

/** Compares the delay of webhook deliveries with its threshold. */
export function compareLag(
  { accountId, seconds }: LagFacts,
  { deliveryLagSeconds: limit }: Pick<AlertRules, 'deliveryLagSeconds'>,
  findOpen: FindOpen,
): AlertChange | undefined {
  if (limit === null) return undefined
  const open = findOpen('delivery_lag', accountId, accountId)
  const about = { accountId, code: 'delivery_lag', subjectId: accountId, severity: 'warning' } as const
  if (seconds > limit && open === undefined)
    return {
      ...about,
      kind: 'raised',
      title: alertFacts.lag.title(),
      paragraphs: [
        alertFacts.lag.stillSent(),
        alertFacts.lag.oldest({ seconds: Math.round(seconds) }),
        alertFacts.lag.slowEndpoint(),
      ],
    }
  if (open === undefined || seconds > limit * recoveryShare) return undefined
  return {
    ...about,
    kind: 'recovered',
    title: alertFacts.lag.over(),
    paragraphs: [alertFacts.lag.none()],
  }
}

/**
 * Compares the number of messages without a status with its threshold. Only a new status resolves the alert: a falling
 * number can also mean that nothing is being sent.
 */
export function compareStatuses(
  { accountId, whatsAppAccountId, name, withoutStatus, resumed }: StatusFacts,
  { noStatusMinMessages: limit }: Pick<AlertRules, 'noStatusMinMessages'>,
  findOpen: FindOpen,
): AlertChange | undefined {
  if (limit === null) return undefined
  const open = findOpen('no_statuses', accountId, whatsAppAccountId)
  const about = { accountId, code: 'no_statuses', subjectId: whatsAppAccountId, severity: 'critical' } as const
  if (open === undefined && withoutStatus >= limit)
    return {
      ...about,
      kind: 'raised',
      title: alertFacts.statuses.title({ name }),
      paragraphs: [
        withoutStatus === 1 ? alertFacts.statuses.one() : alertFacts.statuses.several({ withoutStatus }),
        alertFacts.statuses.stillSent(),
        alertFacts.statuses.check(),
      ],
    }
  if (open === undefined || !resumed) return undefined
  return {
    ...about,
    kind: 'recovered',
    title: alertFacts.statuses.over({ name }),
    paragraphs: [alertFacts.statuses.reported()],
  }
}

/** Compares the people whom a business portfolio addressed with its messaging limit: at 80% and at 100%. */
export function compareReach(
  { accountId, portfolioId, names, messagingLimit, reach }: ReachFacts,
  findOpen: FindOpen,
): AlertChange | undefined {
  const limit = readLimit(messagingLimit)
  const open = findOpen('messaging_limit', accountId, portfolioId)
  const about = { accountId, code: 'messaging_limit', subjectId: portfolioId } as const
  const percent = limit === undefined || !reach ? 0 : (reach.people * 100) / limit
  const severity = percent >= 100 ? 'critical' : 'warning'
  const name = join(names, alertFacts.names) ?? ''
  const addressed =
    limit === undefined || !reach ? [] : [findings.messagingLimit.near({ people: countPeople(reach), limit })]
  if (percent >= nearPercent && (open === undefined || (open === 'warning' && severity === 'critical')))
    return {
      ...about,
      kind: 'raised',
      severity,
      title: percent >= 100 ? alertFacts.limit.reached({ name }) : alertFacts.limit.near({ name }),
      paragraphs: [
        ...addressed,
        ...(percent >= 100 ? [alertFacts.limit.mayNotDeliver()] : []),
        findings.messagingLimit.spread(),
      ],
    }
  if (open === undefined || percent > nearPercent * recoveryShare) return undefined
  return {
    ...about,
    kind: 'recovered',
    severity: open,
    title: alertFacts.limit.over({ name }),
    paragraphs: addressed.length === 0 ? [alertFacts.limit.unlimited()] : addressed,
  }
}

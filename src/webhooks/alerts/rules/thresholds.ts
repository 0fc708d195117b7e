import type { AlertCode, AlertRules } from '../../../../contracts/dashboard/alert.ts'
import { toFailurePercent } from '../../../accounts/alert-rules.ts'
import type { StoredReach, StoredTraffic } from '../../../platform/db/schema.ts'
import { nearPercent, readLimit } from '../../../whatsapp-accounts/health/messaging-limit.ts'
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
  name: string
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
  name: string
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
  names: string[]
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

/** Compares the failure rate with its threshold. */
export function compareFailureRate(
  { accountId, whatsAppAccountId, name, traffic: { sent, failed, failures } }: TrafficFacts,
  { failureRatePercent: limit, ...rules }: Pick<AlertRules, 'failureRatePercent' | 'failureRateMinMessages'>,
  findOpen: FindOpen,
): AlertChange | undefined {
  if (limit === null) return undefined
  const total = sent + failed
  const percent = toFailurePercent({ sent, failed }, rules)
  const open = findOpen('failure_rate', accountId, whatsAppAccountId)
  const severity = percent >= criticalPercent ? 'critical' : 'warning'
  const about = { accountId, code: 'failure_rate', subjectId: whatsAppAccountId } as const
  if (percent > limit && (open === undefined || (open === 'warning' && severity === 'critical')))
    return {
      ...about,
      kind: 'raised',
      severity,
      text: {
        title: `${Math.round(percent)}% of the messages of ${name} fail`,
        paragraphs: [
          `${failed} of ${total} messages of the last hour failed${failures[0] ? `, most often with code ${failures[0].code}` : ''}.`,
          'Open a failed message to see what its code means and what to do.',
        ],
      },
    }
  if (open === undefined || percent > limit * recoveryShare) return undefined
  return {
    ...about,
    kind: 'recovered',
    severity: open,
    text: {
      title: `The messages of ${name} fail less often`,
      paragraphs: [`${failed} of ${total} messages of the last hour failed.`],
    },
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
      text: {
        title: 'Webhook deliveries are late',
        paragraphs: [
          'Messages are still sent; only their status webhooks are late.',
          `The oldest delivery has been due for ${Math.round(seconds)} seconds.`,
          'A slow endpoint delays its own deliveries. If none is slow, ask your operator whether the workers keep up.',
        ],
      },
    }
  if (open === undefined || seconds > limit * recoveryShare) return undefined
  return {
    ...about,
    kind: 'recovered',
    text: { title: 'Webhook deliveries are on time again', paragraphs: ['No delivery is late.'] },
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
      text: {
        title: `No statuses arrive for ${name}`,
        paragraphs: [
          withoutStatus === 1
            ? 'WhatsApp accepted a message more than ten minutes ago, and no status has arrived since.'
            : `WhatsApp accepted ${withoutStatus} messages more than ten minutes ago, and no status has arrived since.`,
          'Messages are still sent, but Waybill cannot tell whether they arrive.',
          'Check the callback URL of the app and the subscription in the setup of this WhatsApp account. If both are correct, WhatsApp may have an outage.',
        ],
      },
    }
  if (open === undefined || !resumed) return undefined
  return {
    ...about,
    kind: 'recovered',
    text: {
      title: `Statuses arrive again for ${name}`,
      paragraphs: ['WhatsApp reports the statuses of messages again.'],
    },
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
  const numbers = names.join(', ')
  const people = `${reach?.isComplete === false ? 'at least ' : ''}${reach?.people}`
  if (percent >= nearPercent && (open === undefined || (open === 'warning' && severity === 'critical')))
    return {
      ...about,
      kind: 'raised',
      severity,
      text: {
        title:
          percent >= 100 ? `The messaging limit of ${numbers} is reached` : `The messaging limit of ${numbers} is near`,
        paragraphs: [
          `The numbers of this business portfolio addressed ${people} people in the last 24 hours. WhatsApp allows ${limit}.`,
          ...(percent >= 100 ? ['WhatsApp may not deliver messages to more people.'] : []),
          'Send to further people later, or raise the limit in WhatsApp Manager.',
        ],
      },
    }
  if (open === undefined || percent > nearPercent * recoveryShare) return undefined
  return {
    ...about,
    kind: 'recovered',
    severity: open,
    text: {
      title: `The messaging limit of ${numbers} is no longer near`,
      paragraphs: [
        limit === undefined || !reach
          ? 'WhatsApp limits the numbers of this business portfolio no longer.'
          : `The numbers of this business portfolio addressed ${people} people in the last 24 hours. WhatsApp allows ${limit}.`,
      ],
    },
  }
}

import type { HealthFinding } from '../../../contracts/api/account.ts'
import { callbackTimeIntervalMilliseconds } from './callback-times.ts'
import type { StoredHealthEntity, StoredTraffic } from '../../platform/db/schema.ts'
import { toFailurePercent } from '../../accounts/alert-rules.ts'
import { describeRejection, requestReview } from '../connect/advice.ts'
import { disabledBy } from '../store.ts'
import { findMarketingProblems, type MarketingFacts } from './marketing.ts'
import { callbackFields } from '../../whatsapp/callbacks/fields.ts'

/** Everything that is known about a WhatsApp account, with the times of the checks. Undefined: not known yet. */
export interface HealthFacts extends MarketingFacts {
  whatsAppAccountId: string
  switchedOff: boolean
  /** Why WhatsApp rejected the account. */
  inactiveReason: string | undefined
  hasAppSecret: boolean
  tokenProblem: string | undefined
  tokenExpiresAt: Date | undefined
  /** Why Meta did not issue a token that expires later. */
  tokenRefreshProblem?: string | undefined
  missingPermissions: string[]
  numberStatus: string | undefined
  nameStatus: string | undefined
  qualityRating: string | undefined
  health: StoredHealthEntity[]
  subscribed: boolean | undefined
  subscriptionProblem: string | undefined
  callbackCheckedAt: Date | undefined
  callbackUrl: string | undefined
  callbackFields: string[]
  callbackProblem: string | undefined
  /** The callback URL of this server; undefined if its own address is not known. */
  expectedCallbackUrl: string | undefined
  lastStatusAt: Date | undefined
  /** The messages of the last hour. */
  traffic: StoredTraffic | undefined
  /** Statuses of messages that the database does not have; undefined if there were none. */
  missing?: { statuses: number; reportedAt: Date; sentFrom: Date; sentUntil: Date } | undefined
  /** The threshold of the account's alert rules; null if this alert is off. */
  failureRatePercent: number | null
  /** With fewer messages in the last hour, the failure rate is ignored. */
  failureRateMinMessages: number
  /** When the account became inactive. */
  inactiveSince?: Date | undefined
  /** When each finding was first reported, by its code. */
  findingsSince?: Readonly<Record<string, string>>
}

/** Days before the expiry of a token at which it is announced. */
export const expiryDays = [14, 7, 1, 0] as const

/** Turns facts into findings, errors first. An account that a user deactivated has only that finding. */
export function findProblems(facts: HealthFacts, now: Date): HealthFinding[] {
  const findings = facts.switchedOff
    ? [
        warning(
          'deactivated',
          'A user deactivated this WhatsApp account.',
          'Activate it to send from it again.',
          blocking,
        ),
      ]
    : [
        ...findTokenProblems(facts, now),
        ...findNumberProblems(facts),
        ...findCallbackProblems(facts),
        ...findMarketingProblems(facts),
        ...findTrafficProblems(facts),
        ...findMissingMessages(facts, now),
      ]
  return findings.map((finding) => withSince(finding, facts)).toSorted((a, b) => rank(a) - rank(b))
}

/** Findings of an inactive account. They are announced separately, when the state of the account changes. */
export const inactiveCodes: ReadonlySet<string> = new Set(['deactivated', 'rejected', 'disabled'])

function withSince(finding: HealthFinding, { inactiveSince, findingsSince }: HealthFacts): HealthFinding {
  const since = inactiveCodes.has(finding.code) ? inactiveSince?.toISOString() : findingsSince?.[finding.code]
  return since === undefined ? finding : { ...finding, since }
}

function rank({ severity, blocksSending }: HealthFinding): number {
  return (severity === 'error' ? 0 : 2) + (blocksSending ? 0 : 1)
}

function problem(severity: HealthFinding['severity']) {
  return (code: string, message: string, fix: string, { blocksSending = false } = {}): HealthFinding => ({
    code,
    severity,
    blocksSending,
    message,
    fix,
  })
}
const error = problem('error')
const warning = problem('warning')
const blocking = { blocksSending: true }

function replaceToken({ whatsAppAccountId }: HealthFacts): string {
  return `Create a new token for the system user in Meta Business Suite, and replace it on the WhatsApp accounts page, or with: waybill whatsapp update ${whatsAppAccountId} --access-token -`
}

function findTokenProblems(facts: HealthFacts, now: Date): HealthFinding[] {
  const { inactiveReason, tokenProblem, tokenExpiresAt, tokenRefreshProblem, missingPermissions } = facts
  const days = tokenExpiresAt && daysUntil(tokenExpiresAt, now)
  if (inactiveReason?.startsWith(disabledBy) === true)
    return [error('disabled', `${withoutDot(inactiveReason)}.`, requestReview, blocking)]
  if (inactiveReason !== undefined)
    return [error('rejected', describeRejection(inactiveReason), replaceToken(facts), blocking)]
  if (days !== undefined && days < 0)
    return [error('token_expired', 'The access token has expired.', replaceToken(facts), blocking)]
  if (tokenProblem !== undefined)
    return [
      error(
        'token_invalid',
        `WhatsApp rejects the access token: ${withoutDot(tokenProblem)}.`,
        replaceToken(facts),
        blocking,
      ),
    ]
  const lacksMessaging = missingPermissions.includes('whatsapp_business_messaging')
  return [
    ...(missingPermissions.length === 0
      ? []
      : [
          error(
            'permission_missing',
            `The access token lacks the permission ${missingPermissions.join(' and ')}.`,
            replaceToken(facts),
            { blocksSending: lacksMessaging },
          ),
        ]),
    ...(days === undefined || days > expiryDays[0]
      ? []
      : [
          warning(
            'token_expiring',
            `The access token expires ${inDays(days)}${tokenRefreshProblem === undefined ? '' : `, and could not be refreshed: ${withoutDot(tokenRefreshProblem)}`}.`,
            replaceToken(facts),
          ),
        ]),
  ]
}

/** Whole days, rounded down; negative once it has passed. */
export function daysUntil(date: Date, now: Date): number {
  return Math.floor((date.getTime() - now.getTime()) / 86_400_000)
}

export function inDays(days: number): string {
  return days === 0 ? 'in less than a day' : days === 1 ? 'in 1 day' : `in ${days} days`
}

/** Reference, section 5. Other states do not stop a number from sending. */
const numberProblems: Readonly<Record<string, { message: string; fix: string; sends?: true }>> = {
  PENDING: notRegistered(),
  UNVERIFIED: notRegistered(),
  DISCONNECTED: notRegistered(),
  FLAGGED: {
    message: 'WhatsApp has flagged the number for low quality.',
    fix: 'Send fewer messages that users block or report. If the quality stays low, WhatsApp lowers the limit.',
    sends: true,
  },
  RATE_LIMITED: {
    message: 'The number has reached its messaging limit.',
    fix: 'Wait until the 24-hour window has moved on, or raise the limit in WhatsApp Manager.',
    sends: true,
  },
  RESTRICTED: restricted('restricted'),
  BANNED: restricted('banned'),
  MIGRATED: gone('moved to another WhatsApp Business Account'),
  DELETED: gone('deleted'),
}

function notRegistered() {
  return {
    message: 'The number is not registered with the Cloud API.',
    fix: 'Register it with its two-step verification PIN, in the setup of this WhatsApp account, or with: waybill whatsapp connect --help',
  }
}
function restricted(how: string) {
  return {
    message: `WhatsApp has ${how} the number.`,
    fix: requestReview,
  }
}
function gone(how: string) {
  return { message: `The number was ${how}.`, fix: 'Check it in WhatsApp Manager, and connect it again.' }
}

function findNumberProblems(facts: HealthFacts): HealthFinding[] {
  const { numberStatus, qualityRating, nameStatus, health } = facts
  const state = numberStatus === undefined ? undefined : numberProblems[numberStatus]
  const entities = health.filter(({ entity }) => !(state && entity === 'PHONE_NUMBER'))
  return [
    ...(state
      ? [
          state.sends
            ? warning(`number_${numberStatus?.toLowerCase()}`, state.message, state.fix)
            : error(`number_${numberStatus?.toLowerCase()}`, state.message, state.fix, blocking),
        ]
      : []),
    ...entities.flatMap(toEntityFinding),
    ...(qualityRating === 'RED'
      ? [
          warning(
            'quality_low',
            'The quality rating of the number is low (red).',
            'Message only people who opted in, and make it easy to opt out. Check which templates were blocked in WhatsApp Manager.',
          ),
        ]
      : []),
    ...(nameStatus === 'DECLINED' || nameStatus === 'EXPIRED'
      ? [
          warning(
            'name_declined',
            `WhatsApp has not approved the display name of the number (${nameStatus.toLowerCase()}).`,
            'Edit the display name in WhatsApp Manager, and register the number again once it is approved.',
          ),
        ]
      : []),
  ]
}

const entityNames: Readonly<Record<string, string>> = {
  PHONE_NUMBER: 'the phone number',
  WABA: 'the WhatsApp Business Account',
  BUSINESS: 'the business portfolio',
  APP: 'the app',
}

/** Reference 2, section 5.5. */
function toEntityFinding({ entity, canSend, reasons }: StoredHealthEntity): HealthFinding[] {
  if (canSend !== 'BLOCKED' && canSend !== 'LIMITED') return []
  const name = entityNames[entity] ?? entity
  const why = reasons.map(({ description }) => withoutDot(description)).join('; ') || 'WhatsApp gave no reason'
  const solution = reasons.flatMap(({ solution }) => solution ?? [])[0]
  const fix = solution ?? 'Open WhatsApp Manager, and follow what it says about this account.'
  const code = `${entity.toLowerCase()}_${canSend.toLowerCase()}`
  return canSend === 'BLOCKED'
    ? [error(code, `WhatsApp blocks sending because of ${name}: ${why}.`, fix, blocking)]
    : [warning(code, `WhatsApp limits sending because of ${name}: ${why}.`, fix)]
}

function findCallbackProblems(facts: HealthFacts): HealthFinding[] {
  const { subscribed, subscriptionProblem, hasAppSecret, callbackCheckedAt, callbackUrl, callbackProblem } = facts
  const subscribe = 'Open the setup of this WhatsApp account and select Subscribe.'
  const setUp = 'Open the setup of this WhatsApp account and select Set callback URL.'
  const missing = callbackFields.filter((field) => !facts.callbackFields.includes(field))
  return [
    ...(hasAppSecret
      ? []
      : [
          error(
            'app_secret_missing',
            'The secret of the app is not known, so Waybill rejects every callback and no status arrives.',
            'Copy the app secret from the app dashboard of Meta (App settings > Basic), and replace the secrets of this account, or set META_APP_SECRET.',
          ),
        ]),
    ...(subscribed === false
      ? [
          error(
            'not_subscribed',
            `The app is not subscribed to the WhatsApp Business Account, so no status arrives${subscriptionProblem === undefined ? '' : `: ${withoutDot(subscriptionProblem)}`}.`,
            subscribe,
          ),
        ]
      : []),
    ...(callbackProblem === undefined
      ? []
      : [
          warning(
            'callback_problem',
            `There is a problem with the callback URL: ${withoutDot(callbackProblem)}.`,
            setUp,
          ),
        ]),
    ...(callbackCheckedAt === undefined || callbackProblem !== undefined
      ? []
      : callbackUrl === undefined
        ? [error('callback_missing', 'The app has no callback URL, so no status arrives.', setUp)]
        : [
            ...(facts.expectedCallbackUrl !== undefined && callbackUrl !== facts.expectedCallbackUrl
              ? [
                  warning(
                    'callback_elsewhere',
                    `WhatsApp sends the callbacks of the app to ${callbackUrl}, and not to ${facts.expectedCallbackUrl}.`,
                    setUp,
                  ),
                ]
              : []),
            ...(missing.includes('messages')
              ? [
                  error(
                    'field_messages_missing',
                    'The app is not subscribed to the field messages, so no status arrives.',
                    setUp,
                  ),
                ]
              : missing.length > 0
                ? [
                    warning(
                      'fields_missing',
                      `The app is not subscribed to all fields that Waybill reads: ${missing.join(', ')}.`,
                      setUp,
                    ),
                  ]
                : []),
          ]),
  ]
}

function findTrafficProblems({ traffic, lastStatusAt, failureRatePercent, ...rules }: HealthFacts): HealthFinding[] {
  if (!traffic) return []
  const { sent, failed, failures, lastAcceptedAt } = traffic
  const total = sent + failed
  const [most] = failures
  return [
    ...(failureRatePercent !== null && toFailurePercent(traffic, rules) > failureRatePercent
      ? [
          warning(
            'failures_frequent',
            `${failed} of ${total} messages of the last hour failed, most often with code ${most?.code ?? 'unknown'}.`,
            'Open the failed messages in the dashboard: each one says what its code means and what to do.',
          ),
        ]
      : []),
    ...(lastAcceptedAt !== undefined && isAfterLastStatus(new Date(lastAcceptedAt), lastStatusAt)
      ? [
          error(
            'no_statuses',
            'WhatsApp accepted messages more than five minutes ago, and no status has arrived since.',
            'Check the callback URL of the app and the subscription in the setup of this WhatsApp account.',
          ),
        ]
      : []),
  ]
}

/** How long missing messages are reported after their last status. */
export const missingKeptDays = 7

function findMissingMessages({ missing }: HealthFacts, now: Date): HealthFinding[] {
  if (!missing || daysUntil(now, missing.reportedAt) >= missingKeptDays) return []
  const { statuses, sentFrom, sentUntil } = missing
  return [
    warning(
      'messages_missing',
      `WhatsApp reported statuses of messages that the database does not have: ${statuses} statuses of messages sent from ${sentFrom.toISOString()} to ${sentUntil.toISOString()}.`,
      'If the database was restored or failed over, it lost these messages: they were sent, so do not send them again. Otherwise, another installation of Waybill sends from this number.',
    ),
  ]
}

/** The stored time of the last status is at most an interval older than the status itself. */
function isAfterLastStatus(acceptedAt: Date, lastStatusAt: Date | undefined): boolean {
  return lastStatusAt === undefined || acceptedAt.getTime() > lastStatusAt.getTime() + callbackTimeIntervalMilliseconds
}

function withoutDot(text: string): string {
  return text.replace(/\.$/, '')
}

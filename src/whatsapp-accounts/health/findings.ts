import { dayMilliseconds } from '../../../contracts/time.ts'
import { connectFacts } from '../../../contracts/facts/connect.ts'
import type { Fact, Sentence } from '../../../contracts/facts/fact.ts'
import { findings as facts } from '../../../contracts/facts/findings.ts'
import { callbackTimeIntervalMilliseconds } from './callback-times.ts'
import type { StoredHealthEntity, StoredNotice, StoredTraffic, UpcomingCategory } from '../../platform/db/schema.ts'
import { toFailurePercent } from '../../accounts/alert-rules.ts'
import { type Advice, describeProblem, describeRejection, withoutDot } from '../connect/advice.ts'
import { disabledCode } from '../inactive-reason.ts'
import type { Finding } from './finding.ts'
import { findMessagingLimit, type MessagingLimitFacts } from './messaging-limit.ts'
import { findNotices } from './notices.ts'
import { findMarketingProblems, type MarketingFacts } from './marketing.ts'
import { findUpcomingCategories } from './upcoming-categories.ts'
import { isRemoval } from '../../whatsapp/callbacks/read-account.ts'
import { requiredCallbackFields } from '../../whatsapp/callbacks/subscription.ts'
import { findVersionEnd, newestVersion } from '../../whatsapp/graph-versions.ts'

/** Everything that is known about a WhatsApp account, with the times of the checks. Undefined: not known yet. */
export interface HealthFacts extends MarketingFacts, MessagingLimitFacts {
  whatsAppAccountId: string
  switchedOff: boolean
  /** The version of the Graph API that this server uses. */
  graphVersion: string
  /** Why WhatsApp rejected the account. */
  inactiveReason: Sentence | undefined
  hasAppSecret: boolean
  tokenProblem: Sentence | undefined
  tokenExpiresAt: Date | undefined
  /** Why Meta did not issue a token that expires later. */
  tokenRefreshProblem?: Sentence | undefined
  missingPermissions: string[]
  numberStatus: string | undefined
  nameStatus: string | undefined
  /** Whether the number is also used in the WhatsApp Business app. */
  onBusinessApp?: boolean | undefined
  qualityRating: string | undefined
  /** Templates whose category WhatsApp will change. */
  upcomingCategories?: readonly UpcomingCategory[]
  /** What WhatsApp reported about the account. */
  notices?: readonly StoredNotice[]
  health: StoredHealthEntity[]
  subscribed: boolean | undefined
  subscriptionProblem: Advice | string | undefined
  callbackCheckedAt: Date | undefined
  callbackUrl: string | undefined
  /** The callback URL of the number or its WABA. */
  callbackOverride?: string | undefined
  callbackFields: string[]
  callbackProblem: Advice | string | undefined
  /** The callback URL of this server; undefined if its own address is not known. */
  expectedCallbackUrl: string | undefined
  lastStatusAt: Date | undefined
  /** When WhatsApp last reported a conversation that another app answers. */
  lastStandbyAt?: Date | undefined
  hasPaymentMethod?: boolean | undefined
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
export function findProblems(health: HealthFacts, now: Date): Finding[] {
  const found = health.switchedOff
    ? [warning('deactivated', facts.deactivated.message(), facts.deactivated.fix(), blocking)]
    : [
        ...findTokenProblems(health, now),
        ...findNumberProblems(health),
        ...findCallbackProblems(health),
        ...findNotices(health.notices ?? [], now),
        ...findMessagingLimit(health),
        ...findPaymentProblems(health),
        ...findOtherApps(health, now),
        ...findVersionProblems(health, now),
        ...findMarketingProblems(health),
        ...findUpcomingCategories(health.upcomingCategories ?? []),
        ...findTrafficProblems(health),
        ...findMissingMessages(health, now),
      ]
  return found.map((finding) => withSince(finding, health)).toSorted((a, b) => rank(a) - rank(b))
}

/** Findings of an inactive account. They are announced separately, when the state of the account changes. */
export const inactiveCodes: ReadonlySet<string> = new Set(['deactivated', 'rejected', 'disabled'])

function withSince(finding: Finding, { inactiveSince, findingsSince }: HealthFacts): Finding {
  const since = inactiveCodes.has(finding.code) ? inactiveSince?.toISOString() : findingsSince?.[finding.code]
  return since === undefined ? finding : { ...finding, since }
}

function rank({ severity, blocksSending }: Finding): number {
  return (severity === 'error' ? 0 : 2) + (blocksSending ? 0 : 1)
}

function problem(severity: Finding['severity']) {
  return (code: string, message: Fact, fix: Sentence, { blocksSending = false } = {}): Finding => ({
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

function replaceToken({ whatsAppAccountId }: HealthFacts): Fact {
  return facts.replaceToken({ command: `waybill whatsapp update ${whatsAppAccountId} --access-token -` })
}

function findTokenProblems(health: HealthFacts, now: Date): Finding[] {
  const { inactiveReason, tokenProblem, tokenExpiresAt, tokenRefreshProblem, missingPermissions } = health
  const replace = replaceToken(health)
  const days = tokenExpiresAt && daysUntil(tokenExpiresAt, now)
  if (typeof inactiveReason === 'object' && inactiveReason.code === disabledCode) {
    const event = inactiveReason.params?.['event']
    const wasRemoved = typeof event === 'string' && isRemoval(event)
    const fix = wasRemoved ? facts.connectAndActivate : connectFacts.requestReview
    return [error('disabled', facts.disabled({ reason: inactiveReason }), fix(), blocking)]
  }
  if (inactiveReason !== undefined) return [error('rejected', describeRejection(inactiveReason), replace, blocking)]
  if (days !== undefined && days < 0) return [error('token_expired', facts.tokenExpired(), replace, blocking)]
  if (tokenProblem !== undefined) return [error('token_invalid', describeTokenProblem(tokenProblem), replace, blocking)]
  const lacksMessaging = missingPermissions.includes('whatsapp_business_messaging')
  const permissions = missingPermissions.join(' and ')
  return [
    ...(missingPermissions.length === 0
      ? []
      : [
          error('permission_missing', facts.permissionMissing({ permissions }), replace, {
            blocksSending: lacksMessaging,
          }),
        ]),
    ...(days === undefined || days > expiryDays[0]
      ? []
      : [warning('token_expiring', describeExpiry(inDays(days), tokenRefreshProblem), replace)]),
  ]
}

/** Texts are in the words of WhatsApp. */
function describeTokenProblem(known: Sentence): Fact {
  return typeof known === 'string' ? facts.tokenRejected({ reason: withoutDot(known) }) : known
}

function describeExpiry(when: Fact, refreshProblem: Sentence | undefined): Fact {
  return refreshProblem === undefined
    ? facts.tokenExpiring({ when })
    : facts.tokenNotRefreshed({ when, problem: refreshProblem })
}

/** Whole days, rounded down; negative once it has passed. */
export function daysUntil(date: Date, now: Date): number {
  return Math.floor((date.getTime() - now.getTime()) / dayMilliseconds)
}

export function inDays(days: number): Fact {
  const { none, one, several } = facts.inDays
  return days === 0 ? none() : days === 1 ? one() : several({ days })
}

interface NumberProblem {
  message: () => Fact
  fix: () => Fact
  sends?: true
}

const notRegistered: NumberProblem = {
  message: facts.notRegistered.message,
  fix: () => facts.notRegistered.fix({ command: 'waybill whatsapp connect --help' }),
}

/** Reference, section 5. Other states do not stop a number from sending. */
const numberProblems: Readonly<Record<string, NumberProblem>> = {
  PENDING: notRegistered,
  UNVERIFIED: notRegistered,
  DISCONNECTED: notRegistered,
  FLAGGED: { ...facts.flagged, sends: true },
  RATE_LIMITED: { ...facts.rateLimited, sends: true },
  RESTRICTED: { message: facts.restricted, fix: connectFacts.requestReview },
  BANNED: { message: facts.banned, fix: connectFacts.requestReview },
  MIGRATED: { message: facts.migrated, fix: facts.connectAgain },
  DELETED: { message: facts.deleted, fix: facts.connectAgain },
}

/** Registering such a number would disconnect the app (autumn reference, section 5.1). */
const notLinked: NumberProblem = facts.notLinked

function findNumberProblems(known: HealthFacts): Finding[] {
  const { numberStatus, qualityRating, nameStatus, health, onBusinessApp = false } = known
  const reported = numberStatus === undefined ? undefined : numberProblems[numberStatus]
  const isNotLinked = onBusinessApp && reported === notRegistered
  const state = isNotLinked ? notLinked : reported
  const code = isNotLinked ? 'number_not_linked' : `number_${numberStatus?.toLowerCase()}`
  const entities = health.filter(({ entity }) => !(state && entity === 'PHONE_NUMBER'))
  return [
    ...(state
      ? [
          state.sends
            ? warning(code, state.message(), state.fix())
            : error(code, state.message(), state.fix(), blocking),
        ]
      : []),
    ...entities.flatMap(toEntityFinding),
    ...(qualityRating === 'RED' ? [warning('quality_low', facts.qualityLow.message(), facts.qualityLow.fix())] : []),
    ...(nameStatus === 'DECLINED' || nameStatus === 'EXPIRED'
      ? [
          warning(
            'name_declined',
            facts.nameDeclined.message({ status: nameStatus.toLowerCase() }),
            onBusinessApp ? facts.nameDeclined.fixOnBusinessApp() : facts.nameDeclined.fix(),
          ),
        ]
      : []),
  ]
}

const entityNames: Readonly<Record<string, () => Fact>> = {
  PHONE_NUMBER: facts.entity.phoneNumber,
  WABA: facts.entity.waba,
  BUSINESS: facts.entity.business,
  APP: facts.entity.app,
}

/** Reference 2, section 5.5. */
function toEntityFinding({ entity: type, canSend, reasons }: StoredHealthEntity): Finding[] {
  if (canSend !== 'BLOCKED' && canSend !== 'LIMITED') return []
  const entity = entityNames[type]?.() ?? type
  const said = reasons.map(({ description }) => withoutDot(description)).join('; ')
  const reason = said === '' ? facts.sending.noReason() : said
  const fix = reasons.flatMap(({ solution }) => solution ?? [])[0] ?? facts.sending.fix()
  const code = `${type.toLowerCase()}_${canSend.toLowerCase()}`
  return canSend === 'BLOCKED'
    ? [error(code, facts.sending.blocked({ entity, reason }), fix, blocking)]
    : [warning(code, facts.sending.limited({ entity, reason }), fix)]
}

function findCallbackProblems(health: HealthFacts): Finding[] {
  const { subscribed, subscriptionProblem, hasAppSecret, callbackProblem } = health
  const notSubscribed =
    subscriptionProblem === undefined
      ? facts.notSubscribed()
      : facts.subscriptionFailed({ problem: describeProblem(subscriptionProblem) })
  return [
    ...(hasAppSecret
      ? []
      : [error('app_secret_missing', facts.appSecretMissing.message(), facts.appSecretMissing.fix())]),
    ...(subscribed === false ? [error('not_subscribed', notSubscribed, facts.subscribe())] : []),
    ...(callbackProblem === undefined
      ? findSubscriptionProblems(health)
      : [
          warning(
            'callback_problem',
            facts.callbackProblem({ problem: describeProblem(callbackProblem) }),
            facts.setCallback(),
          ),
        ]),
  ]
}

/** Where WhatsApp sends the callbacks of the app, and which. */
function findSubscriptionProblems(health: HealthFacts): Finding[] {
  const { callbackCheckedAt, callbackOverride, callbackUrl, expectedCallbackUrl } = health
  const overridden = findOverride(health)
  if (overridden && callbackOverride !== expectedCallbackUrl) return [overridden]
  if (callbackCheckedAt === undefined) return []
  const setUp = overridden ? facts.callbackOverridden.useOwnApp() : facts.setCallback()
  if (callbackUrl === undefined) return [error('callback_missing', facts.callbackMissing(), setUp)]
  const missing = requiredCallbackFields.filter((field) => !health.callbackFields.includes(field))
  return [
    ...(overridden
      ? [overridden]
      : expectedCallbackUrl !== undefined && callbackUrl !== expectedCallbackUrl
        ? [warning('callback_elsewhere', facts.callbackElsewhere({ callbackUrl, expectedCallbackUrl }), setUp)]
        : []),
    ...(missing.includes('messages')
      ? [error('field_messages_missing', facts.messagesFieldMissing(), setUp)]
      : missing.length > 0 && !overridden
        ? [warning('fields_missing', facts.fieldsMissing({ fields: missing.join(', ') }), setUp)]
        : []),
  ]
}

/** An override replaces the URL of the app for messages alone (reference 2, section 5.4). */
function findOverride({ callbackOverride, callbackUrl, expectedCallbackUrl }: HealthFacts): Finding | undefined {
  if (callbackOverride === undefined || expectedCallbackUrl === undefined) return undefined
  const { elsewhere, remove, othersElsewhere, useOwnApp } = facts.callbackOverridden
  if (callbackOverride !== expectedCallbackUrl)
    return warning('callback_overridden', elsewhere({ callbackUrl: callbackOverride, expectedCallbackUrl }), remove())
  // To set the callback URL of the app would take the callbacks of another system.
  return callbackUrl === undefined || callbackUrl === expectedCallbackUrl
    ? undefined
    : warning('callback_overridden', othersElsewhere({ callbackUrl }), useOwnApp())
}

function findPaymentProblems({ hasPaymentMethod }: HealthFacts): Finding[] {
  if (hasPaymentMethod !== false) return []
  const { message, fix } = facts.paymentMissing
  return [warning('payment_method_missing', message(), fix())]
}

/** Statuses of messages in a conversation that another app answers may not arrive (autumn reference, section 5.4). */
function findOtherApps({ lastStandbyAt }: HealthFacts, now: Date): Finding[] {
  if (!lastStandbyAt || daysUntil(now, lastStandbyAt) >= standbyKeptDays) return []
  return [
    warning('conversations_elsewhere', facts.conversationsElsewhere.message(), facts.conversationsElsewhere.fix()),
  ]
}

/** How long it is reported after its last callback. */
const standbyKeptDays = 1

/** Days before the end of a version of the Graph API at which it is reported. */
const versionEndDays = 92

/** WhatsApp serves an expired version as the oldest one that it still has, which can reject a request or change it. */
export function findVersionProblems(
  { graphVersion: version }: Pick<HealthFacts, 'graphVersion'>,
  now: Date,
): Finding[] {
  const date = findVersionEnd(version)
  if (date === undefined) return []
  const days = daysUntil(new Date(date), now)
  if (days >= versionEndDays) return []
  const { ending, ended, fix } = facts.graphVersion
  const message = days < 0 ? ended({ version, date }) : ending({ version, date })
  return [warning('graph_version_ending', message, fix({ version: newestVersion }))]
}

function findTrafficProblems({ traffic, lastStatusAt, failureRatePercent, ...rules }: HealthFacts): Finding[] {
  if (!traffic) return []
  const { sent, failed, failures, lastAcceptedAt } = traffic
  const code = failures[0]?.code ?? 'unknown'
  const { failuresFrequent, noStatuses } = facts
  return [
    ...(failureRatePercent !== null && toFailurePercent(traffic, rules) > failureRatePercent
      ? [
          warning(
            'failures_frequent',
            failuresFrequent.message({ failed, total: sent + failed, code }),
            failuresFrequent.fix(),
          ),
        ]
      : []),
    ...(lastAcceptedAt !== undefined && isAfterLastStatus(new Date(lastAcceptedAt), lastStatusAt)
      ? [error('no_statuses', noStatuses.message(), noStatuses.fix())]
      : []),
  ]
}

/** How long missing messages are reported after their last status. */
export const missingKeptDays = 7

function findMissingMessages({ missing }: HealthFacts, now: Date): Finding[] {
  if (!missing || daysUntil(now, missing.reportedAt) >= missingKeptDays) return []
  const { message, fix } = facts.messagesMissing
  const [from, until] = [missing.sentFrom.toISOString(), missing.sentUntil.toISOString()]
  return [warning('messages_missing', message({ statuses: missing.statuses, from, until }), fix())]
}

/** The stored time of the last status is at most an interval older than the status itself. */
function isAfterLastStatus(acceptedAt: Date, lastStatusAt: Date | undefined): boolean {
  return lastStatusAt === undefined || acceptedAt.getTime() > lastStatusAt.getTime() + callbackTimeIntervalMilliseconds
}

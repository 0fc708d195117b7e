import type { AlertRules } from '../../../contracts/dashboard/alert.ts'
import { allInEnglish } from '../../../contracts/facts/fact.ts'
import { findRules } from '../../accounts/alert-rules.ts'
import type { Deps } from '../../deps.ts'
import type { StoredTraffic } from '../../platform/db/schema.ts'
import { describeCallback } from '../connect/subscribe.ts'
import { readInactiveReason } from '../inactive-reason.ts'
import { findWhatsAppAccountsById, type WhatsAppAccountRef, type WhatsAppAccountRow } from '../store.ts'
import { findProblems, type HealthFacts, inactiveCodes } from './findings.ts'
import { findHealthOf, type HealthRow, readAdvice, readProblem, replaceAnnouncedFindings } from './store.ts'

/** Combines the stored rows with the settings of this server. An account without a health row was never checked. */
export function toFacts(
  deps: Pick<Deps, 'callbacks' | 'publicUrl' | 'graphVersion'>,
  row: WhatsAppAccountRow,
  health: HealthRow | undefined,
  {
    failureRatePercent,
    failureRateMinMessages,
    traffic = health?.traffic,
  }: Pick<AlertRules, 'failureRatePercent' | 'failureRateMinMessages'> & { traffic?: StoredTraffic | null | undefined },
): HealthFacts {
  return {
    whatsAppAccountId: row.id,
    switchedOff: row.switchedOff,
    graphVersion: deps.graphVersion,
    inactiveReason: readInactiveReason(row) ?? undefined,
    hasAppSecret: row.appSecretEncrypted !== null || deps.callbacks.appSecret !== undefined,
    tokenProblem: health && readProblem('tokenProblem', health),
    tokenExpiresAt: health?.tokenExpiresAt ?? undefined,
    tokenRefreshProblem: health && readProblem('tokenRefreshProblem', health),
    missingPermissions: health?.missingPermissions ?? [],
    numberStatus: health?.numberStatus ?? undefined,
    nameStatus: health?.nameStatus ?? undefined,
    onBusinessApp: health?.onBusinessApp ?? undefined,
    qualityRating: row.qualityRating ?? undefined,
    marketingOnboardingStatus: row.marketingOnboardingStatus ?? undefined,
    marketingOffCloudApi: row.marketingOffCloudApi ?? undefined,
    hasMarketingTemplates: health?.hasMarketingTemplates ?? undefined,
    upcomingCategories: health?.upcomingCategories ?? [],
    messagingLimit: health?.messagingLimit ?? undefined,
    reach: health?.reach ?? undefined,
    notices: health?.notices ?? [],
    health: health?.health ?? [],
    subscribed: health?.subscribed ?? undefined,
    subscriptionProblem: health && readAdvice('subscription', health),
    callbackCheckedAt: health?.callbackCheckedAt ?? undefined,
    callbackUrl: health?.callbackUrl ?? undefined,
    callbackOverride: health?.callbackOverride ?? undefined,
    callbackFields: health?.callbackFields ?? [],
    callbackProblem: health && readAdvice('callback', health),
    expectedCallbackUrl: deps.callbacks.baseUrl === undefined ? undefined : describeCallback(deps, row).callbackUrl,
    lastStatusAt: health?.lastStatusAt ?? undefined,
    lastStandbyAt: health?.lastStandbyAt ?? undefined,
    hasPaymentMethod: health?.hasPaymentMethod ?? undefined,
    traffic: traffic ?? undefined,
    missing: toMissing(health),
    failureRatePercent,
    failureRateMinMessages,
    inactiveSince: health?.inactiveSince ?? undefined,
    findingsSince: health?.findingsSince ?? {},
  }
}

function toMissing(health: HealthRow | undefined): HealthFacts['missing'] {
  if (!health?.missingAt || !health.missingSentFrom || !health.missingSentUntil) return undefined
  return {
    statuses: Number(health.missingStatuses),
    reportedAt: health.missingAt,
    sentFrom: health.missingSentFrom,
    sentUntil: health.missingSentUntil,
  }
}

type LogDeps = Pick<Deps, 'db' | 'log' | 'now' | 'callbacks' | 'publicUrl' | 'graphVersion'>

/** Logs new and resolved findings: each change once, on one node. */
export async function logFindings(deps: LogDeps, refs: readonly WhatsAppAccountRef[]): Promise<void> {
  if (refs.length === 0) return
  const [rows, healthRows, rulesOf] = await Promise.all([
    findWhatsAppAccountsById(deps.db, refs),
    findHealthOf(deps.db, refs),
    findRules(
      deps.db,
      refs.map(({ accountId }) => accountId),
    ),
  ])
  const healthOf = new Map(healthRows.map((health) => [health.whatsAppAccountId, health]))
  for (const row of rows) {
    const health = healthOf.get(row.id)
    if (health) await logChanges(deps, { row, health, rules: rulesOf(row.accountId) })
  }
}

interface Known {
  row: WhatsAppAccountRow
  health: HealthRow
  rules: AlertRules
}

async function logChanges(deps: LogDeps, { row, health, rules }: Known): Promise<void> {
  const ref = { accountId: row.accountId, whatsAppAccountId: row.id }
  const now = deps.now()
  const findings = findProblems(toFacts(deps, row, health, rules), now).filter(({ code }) => !inactiveCodes.has(code))
  const before = health.announcedFindings
  const after = findings.map(({ code }) => code).toSorted()
  if (before.join() === after.join()) return
  const since = Object.fromEntries(after.map((code) => [code, health.findingsSince[code] ?? now.toISOString()]))
  if (!(await replaceAnnouncedFindings(deps.db, ref, { from: before, to: after, since }))) return
  for (const { code, severity, ...said } of findings.filter((finding) => !before.includes(finding.code))) {
    const { message, fix } = allInEnglish({ message: said.message, fix: said.fix })
    deps.log[severity === 'error' ? 'error' : 'warn']({ ...ref, finding: code, fix }, `WhatsApp account: ${message}`)
  }
  for (const code of before.filter((known) => !after.includes(known)))
    deps.log.info({ ...ref, finding: code }, 'WhatsApp account: problem resolved')
}

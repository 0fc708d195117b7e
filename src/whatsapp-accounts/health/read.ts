import type { AccountHealth, Addressed, HealthFinding, WhatsAppAccountHealth } from '../../../contracts/api/account.ts'
import { allInEnglish, withFacts } from '../../../contracts/facts/fact.ts'
import type { AlertRules } from '../../../contracts/dashboard/alert.ts'
import type { Deps } from '../../deps.ts'
import type { StoredTraffic } from '../../platform/db/schema.ts'
import { findRules } from '../../accounts/alert-rules.ts'
import { findWhatsAppAccounts, findWhatsAppAccountsAfter, type WhatsAppAccountRow } from '../store.ts'
import { toFacts } from './facts.ts'
import type { Finding } from './finding.ts'
import { findProblems } from './findings.ts'
import { readLimit } from './messaging-limit.ts'
import { marketingEndpointOf } from './marketing.ts'
import { findHealthOf, findHealthRows, type HealthRow } from './store.ts'
import { countLastHour, noTraffic, windowAt } from './traffic.ts'

export type HealthDeps = Pick<Deps, 'db' | 'now' | 'callbacks' | 'publicUrl' | 'graphVersion'>

/**
 * Reads the health of all WhatsApp accounts of an account. `withCounts` adds the messages of the last hour, which takes
 * longer. `forDashboard` adds the facts behind the sentences.
 */
export async function readAccountHealth(
  deps: HealthDeps,
  accountId: string,
  { withCounts = true, forDashboard = false }: { withCounts?: boolean; forDashboard?: boolean } = {},
): Promise<AccountHealth> {
  const now = deps.now()
  const [rows, healthRows, rulesOf, countsOf] = await Promise.all([
    findWhatsAppAccounts(deps.db, accountId),
    findHealthRows(deps.db, accountId),
    findRules(deps.db, [accountId]),
    withCounts ? countLastHour(deps.db, [accountId], windowAt(now)) : undefined,
  ])
  const say = forDashboard ? withFacts : allInEnglish
  const whatsAppAccounts = rows.map((row) => {
    const health = healthRows.find((candidate) => candidate.whatsAppAccountId === row.id)
    const counts = countsOf && (countsOf.get(row.id) ?? noTraffic())
    return toHealth(deps, { row, health, rules: rulesOf(accountId), counts, now, say })
  })
  const inUse = whatsAppAccounts.filter(({ active }, index) => active || rows[index]?.switchedOff === false)
  return {
    healthy: inUse.length > 0 && inUse.every(({ healthy }) => healthy),
    canSend: whatsAppAccounts.some(({ isDefault, canSend }) => isDefault && canSend),
    whatsAppAccounts,
  }
}

export interface HealthState {
  accountId: string
  whatsAppAccountId: string
  healthy: boolean
  tokenExpiresAt: Date | undefined
  findings: Finding[]
}

const accountsPerPage = 200

/**
 * Reads all accounts, for metrics and operators, in pages between which other requests get their turn. Deactivated
 * accounts are left out.
 */
export async function* readHealthPages(deps: HealthDeps): AsyncGenerator<HealthState[], void, void> {
  for (let afterId = ''; ;) {
    const rows = await findWhatsAppAccountsAfter(deps.db, afterId, accountsPerPage)
    const last = rows.at(-1)
    if (last) yield await toStates(deps, rows)
    if (!last || rows.length < accountsPerPage) return
    afterId = last.id
  }
}

export async function readAllHealth(deps: HealthDeps): Promise<HealthState[]> {
  return (await Array.fromAsync(readHealthPages(deps))).flat()
}

async function toStates(deps: HealthDeps, rows: readonly WhatsAppAccountRow[]): Promise<HealthState[]> {
  const refs = rows.map((row) => ({ accountId: row.accountId, whatsAppAccountId: row.id }))
  const [healthRows, rulesOf] = await Promise.all([
    findHealthOf(deps.db, refs),
    findRules(
      deps.db,
      refs.map(({ accountId }) => accountId),
    ),
  ])
  const healthOf = new Map(healthRows.map((health) => [health.whatsAppAccountId, health]))
  const now = deps.now()
  return rows
    .filter((row) => !row.switchedOff)
    .map((row) => {
      const facts = toFacts(deps, row, healthOf.get(row.id), rulesOf(row.accountId))
      const findings = findProblems(facts, now)
      const healthy = findings.every(({ severity }) => severity !== 'error')
      const { tokenExpiresAt } = facts
      return { accountId: row.accountId, whatsAppAccountId: row.id, healthy, tokenExpiresAt, findings }
    })
}

interface Known {
  row: WhatsAppAccountRow
  health: HealthRow | undefined
  rules: AlertRules
  counts?: StoredTraffic | undefined
  now: Date
  say: typeof allInEnglish
}

function toHealth(
  deps: Pick<Deps, 'callbacks' | 'publicUrl' | 'graphVersion'>,
  { row, health, rules, counts, now, say }: Known,
): WhatsAppAccountHealth {
  const facts = toFacts(deps, row, health, { ...rules, ...(counts && { traffic: counts }) })
  const findings = findProblems(facts, now)
  return {
    accountId: row.id,
    phoneNumberId: row.phoneNumberId,
    ...(row.displayPhoneNumber !== null && { displayPhoneNumber: row.displayPhoneNumber }),
    isDefault: row.isDefault,
    active: row.active,
    healthy: findings.every(({ severity }) => severity !== 'error'),
    canSend: !findings.some(({ blocksSending }) => blocksSending),
    findings: findings.map((finding): HealthFinding => {
      const { message, fix } = finding
      return { ...finding, ...say({ message, fix }) }
    }),
    token: {
      ...(health &&
        health.tokenCheckedAt !== null && { valid: health.tokenProblem === null && row.inactiveReason === null }),
      ...(health?.tokenExpiresAt && { expiresAt: health.tokenExpiresAt.toISOString() }),
      missingPermissions: health?.missingPermissions ?? [],
      ...checkedAt(health?.tokenCheckedAt),
    },
    number: {
      ...optional('status', health?.numberStatus),
      ...optional('nameStatus', health?.nameStatus),
      ...optional('qualityRating', row.qualityRating),
      ...optional('portfolioId', row.portfolioId),
      ...optional('messagingLimit', health?.messagingLimit),
      ...addressed(health),
      ...optional('throughputLevel', row.throughputLevel),
      ...(health && health.onBusinessApp !== null && { onBusinessApp: health.onBusinessApp }),
      ...checkedAt(health?.numberCheckedAt),
    },
    marketing: {
      setting: row.marketingSetting,
      endpoint: marketingEndpointOf(row),
      ...optional('onboardingStatus', row.marketingOnboardingStatus),
      ...(row.marketingOffCloudApi !== null && { offCloudApi: row.marketingOffCloudApi }),
      ...checkedAt(health?.marketingCheckedAt),
    },
    callbacks: {
      ...(health && health.subscribed !== null && { subscribed: health.subscribed }),
      ...optional('callbackUrl', health?.callbackUrl),
      fields: health?.callbackFields ?? [],
      ...(health?.lastCallbackAt && { lastCallbackAt: health.lastCallbackAt.toISOString() }),
      ...(health?.lastStatusAt && { lastStatusAt: health.lastStatusAt.toISOString() }),
      ...checkedAt(older(health?.subscriptionCheckedAt, health?.callbackCheckedAt)),
    },
    ...(counts && { lastHour: { sent: counts.sent, failed: counts.failed, failures: counts.failures } }),
  }
}

function optional<Name extends string>(name: Name, value: string | null | undefined): Partial<Record<Name, string>> {
  // A computed key widens the type to any string.
  return value === null || value === undefined ? {} : ({ [name]: value } as Record<Name, string>)
}

function addressed(health: HealthRow | undefined): { addressed?: Addressed } {
  const limit = readLimit(health?.messagingLimit)
  if (!health?.reach || limit === undefined) return {}
  const { isComplete: complete, ...reach } = health.reach
  return { addressed: { limit, ...reach, complete } }
}

function checkedAt(at: Date | null | undefined): { checkedAt?: string } {
  return at ? { checkedAt: at.toISOString() } : {}
}

/** Both are checked at the same time, but a later check of one may have failed. */
function older(a: Date | null | undefined, b: Date | null | undefined): Date | null | undefined {
  if (!a || !b) return a ?? b
  return a < b ? a : b
}

import type { Deps } from '../../deps.ts'
import type { MarketingAccess } from '../../whatsapp/onboarding.ts'
import { processDue } from '../../platform/process-due.ts'
import { isWrongAppSecret, wrongAppSecret } from '../connect/advice.ts'
import { inspectStored, openStored, type Stored } from '../connect/token.ts'
import { storePhoneNumber } from '../phone-number.ts'
import { deactivateRefused } from '../change.ts'
import { changeWhatsAppAccount, lockUnchanged, type WhatsAppAccountChanges, type WhatsAppAccountRef } from '../store.ts'
import { logFindings } from './facts.ts'
import { toMarketingColumns } from './marketing.ts'
import {
  claimDueChecks,
  findHealth,
  hasApprovedMarketingTemplates,
  type HealthChanges,
  type HealthRow,
  readAdvice,
  saveHealth,
  toAdviceColumns,
  toNumberHealth,
  toProblemColumns,
} from './store.ts'
import { refreshUpcomingCategories } from './upcoming-categories.ts'

export type CheckDeps = Pick<
  Deps,
  'db' | 'whatsapp' | 'secrets' | 'log' | 'now' | 'callbacks' | 'publicUrl' | 'graphVersion'
>

/** A check takes at most ten requests of the 200 that WhatsApp allows per hour and WABA (reference, section 5). */
const nextSeconds = 30 * 60
const maxClaimed = 20
/** Enough for 20,000 accounts of one process, if WhatsApp takes a second for a check. */
const checksAtOnce = 16

/** Checks the accounts that are due. One failure does not stop the others. Returns the accounts that were checked. */
export function checkDueAccounts(deps: CheckDeps, stopping?: AbortSignal): Promise<WhatsAppAccountRef[]> {
  const claim = () => claimDueChecks(deps.db, { limit: maxClaimed, nextSeconds })
  const check = (ref: WhatsAppAccountRef) =>
    checkNow(deps, ref).catch((error: unknown) =>
      deps.log.warn({ err: error, ...ref }, 'could not check a WhatsApp account'),
    )
  return processDue(claim, checksAtOnce, check, stopping)
}

/** Checks an account and logs changed findings; throws if the account does not exist. */
export async function checkNow(deps: CheckDeps, ref: WhatsAppAccountRef): Promise<void> {
  await checkAccount(deps, ref)
  await logFindings(deps, [ref])
}

/**
 * Reads token, number, subscription and callback URL from WhatsApp and stores the results. What cannot be read keeps
 * its last known value. A token that WhatsApp rejects deactivates the account, as after a failed send. If the token was
 * replaced in the meantime, the results are discarded.
 */
async function checkAccount(deps: CheckDeps, ref: WhatsAppAccountRef): Promise<void> {
  const stored = await openStored(deps, ref)
  if ('problem' in stored) return
  const { row } = stored
  const results = await readFromWhatsApp(deps, stored)
  const { number, marketing } = results
  const known = await findHealth(deps.db, ref)
  const hasMarketingTemplates = await hasApprovedMarketingTemplates(deps.db, ref.accountId, row.wabaId)
  const changes = toChanges(results, { known, hasMarketingTemplates, at: deps.now() })
  const isStored = await deps.db.transaction().execute(async (trx) => {
    if (!(await lockUnchanged(trx, row))) return false
    if (number.ok) await storePhoneNumber({ db: trx }, ref.accountId, ref.whatsAppAccountId, number.value)
    else if (number.accountUnusable && number.error) await deactivateRefused({ db: trx }, row, number.error)
    const columns: WhatsAppAccountChanges = {
      ...(marketing.ok && toMarketingColumns(marketing.value)),
      ...(number.ok && number.value.portfolioId !== undefined && { portfolioId: number.value.portfolioId }),
    }
    if (Object.keys(columns).length > 0) await changeWhatsAppAccount(trx, ref.accountId, ref.whatsAppAccountId, columns)
    await saveHealth(trx, ref, changes)
    return true
  })
  // Afterwards, because it locks the health of the other numbers of the WABA too.
  if (isStored) await refreshUpcomingCategories(deps.db, { accountId: ref.accountId, wabaId: row.wabaId })
}

async function readFromWhatsApp(deps: CheckDeps, stored: Stored) {
  const { row, accessToken } = stored
  const { app, token } = await inspectStored(deps, stored)
  const [number, apps, subscription, marketing] = await Promise.all([
    deps.whatsapp.getNumberDetails({ phoneNumberId: row.phoneNumberId, accessToken }),
    deps.whatsapp.listSubscribedApps({ wabaId: row.wabaId, accessToken }),
    app ? deps.whatsapp.getAppSubscription(app) : undefined,
    deps.whatsapp.getMarketingAccess({ wabaId: row.wabaId, accessToken }),
  ])
  return { app, token, number, apps, subscription, marketing }
}

type CheckResults = Awaited<ReturnType<typeof readFromWhatsApp>>

interface Known {
  known: HealthRow | undefined
  hasMarketingTemplates: boolean
  at: Date
}

function toChanges(results: CheckResults, { known, hasMarketingTemplates, at }: Known): HealthChanges {
  const { token, number, marketing } = results
  return {
    hasMarketingTemplates,
    ...(marketing.ok && { marketingCheckedAt: at, ...toPaymentColumn(marketing.value) }),
    ...token.columns,
    // A token that has just read its number is valid, even if an earlier check reported a problem.
    ...(number.ok && { ...toNumberHealth(number.value, at), ...toProblemColumns('tokenProblem', null) }),
    ...toSubscriptionChanges(results, at),
    ...toCallbackChanges(results, { known, at }),
  }
}

function toPaymentColumn({ hasPaymentMethod }: MarketingAccess): HealthChanges {
  return hasPaymentMethod === undefined ? {} : { hasPaymentMethod }
}

function toSubscriptionChanges({ app, token, apps }: CheckResults, at: Date): HealthChanges {
  if (!apps.ok) return {}
  const appId = token.info?.appId ?? app?.appId
  const subscribed = appId === undefined ? apps.value.length > 0 : apps.value.some((one) => one.appId === appId)
  return { subscriptionCheckedAt: at, subscribed, ...(subscribed && toAdviceColumns('subscription', undefined)) }
}

function toCallbackChanges(
  { app, token, subscription }: CheckResults,
  { known, at }: { known: HealthRow | undefined; at: Date },
): HealthChanges {
  if (token.appMismatch) return toAdviceColumns('callback', wrongAppSecret)
  // If the app is not the token's own, this is the subscription of another app.
  if (subscription?.ok !== true || app?.appId !== (token.info?.appId ?? app?.appId)) return {}
  const isSolved = subscription.value !== undefined || isWrongAppSecret(known && readAdvice('callback', known))
  return {
    callbackCheckedAt: at,
    callbackUrl: subscription.value?.callbackUrl ?? null,
    callbackFields: subscription.value?.fields ?? [],
    ...(isSolved && toAdviceColumns('callback', undefined)),
  }
}

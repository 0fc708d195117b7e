import type { Deps } from '../../../deps.ts'
import { findApp, openStored } from '../connect/subscribe.ts'
import { readTokenFacts } from '../connect/token.ts'
import { storePhoneNumber } from '../phone-number.ts'
import { deactivateRefused } from '../refusals.ts'
import { logFindings } from './log-findings.ts'
import { claimDueChecks, type HealthChanges, type HealthOwner, saveHealth } from './store.ts'

export type CheckDeps = Pick<Deps, 'db' | 'whatsapp' | 'secrets' | 'log' | 'now' | 'callbacks'>

/** A check takes four requests of the 200 that WhatsApp allows per hour and WABA (reference, section 5). */
const nextSeconds = 30 * 60
const maxClaimed = 20
const checksAtOnce = 4

/** Checks the accounts that are due. One failure does not stop the others. Returns the accounts that were checked. */
export async function checkDueAccounts(deps: CheckDeps): Promise<HealthOwner[]> {
  const due = await claimDueChecks(deps.db, { limit: maxClaimed, nextSeconds })
  const waiting = due.values()
  const work = async () => {
    // All workers share one iterator.
    for (const owner of waiting)
      await checkNow(deps, owner).catch((error: unknown) =>
        deps.log.warn({ err: error, ...owner }, 'could not check a WhatsApp account'),
      )
  }
  await Promise.all(Array.from({ length: checksAtOnce }, work))
  return due
}

/** Checks an account that a user asks about; an unknown one is not found. */
export async function checkNow(deps: CheckDeps, owner: HealthOwner): Promise<void> {
  await checkAccount(deps, owner)
  await logFindings(deps, owner)
}

/**
 * Asks WhatsApp about token, number, subscription and callback URL, and stores the answers. What cannot be read keeps
 * its last known value. A token that WhatsApp rejects deactivates the account, as after a failed send.
 */
async function checkAccount(deps: CheckDeps, owner: HealthOwner): Promise<void> {
  const { accountId, whatsAppAccountId } = owner
  const stored = await openStored(deps, owner)
  if ('problem' in stored) return
  const { row, accessToken } = stored
  const app = await findApp(deps, stored)
  const [token, number, apps, subscription] = await Promise.all([
    readTokenFacts(deps, { accessToken, app }),
    deps.whatsapp.getNumberDetails({ phoneNumberId: row.phone_number_id, accessToken }),
    deps.whatsapp.listSubscribedApps({ wabaId: row.waba_id, accessToken }),
    app ? deps.whatsapp.getAppSubscription(app) : undefined,
  ])
  const at = deps.now()
  const appId = token.info?.appId ?? app?.appId
  const changes: HealthChanges = { ...token.columns }
  if (number.ok) {
    Object.assign(changes, {
      number_checked_at: at,
      token_problem: token.columns.token_problem ?? null,
      number_status: number.value.status ?? null,
      name_status: number.value.nameStatus ?? null,
      messaging_limit: number.value.messagingLimit ?? null,
      health: JSON.stringify(number.value.health ?? []),
    } satisfies HealthChanges)
    await storePhoneNumber(deps, accountId, whatsAppAccountId, number.value)
  } else if (number.accountUnusable) await deactivateRefused(deps, accountId, whatsAppAccountId, number.reason)
  if (apps.ok) {
    const subscribed = appId === undefined ? apps.value.length > 0 : apps.value.includes(appId)
    Object.assign(changes, {
      subscription_checked_at: at,
      subscribed,
      ...(subscribed && { subscription_problem: null }),
    } satisfies HealthChanges)
  }
  if (subscription?.ok === true)
    Object.assign(changes, {
      callback_checked_at: at,
      callback_url: subscription.value?.callbackUrl ?? null,
      callback_fields: subscription.value?.fields ?? [],
      ...(subscription.value && { callback_problem: null }),
    } satisfies HealthChanges)
  if (Object.keys(changes).length > 0) await saveHealth(deps.db, owner, changes)
}

import type { CallbackSetUp, CallbackStep, ConnectStep } from '../../../contracts/dashboard/connect.ts'
import { connectFacts } from '../../../contracts/facts/connect.ts'
import { type Fact, withFacts } from '../../../contracts/facts/fact.ts'
import type { Deps } from '../../deps.ts'
import { callbackFields, callbackPath, callbackPathOf } from '../../whatsapp/callbacks/subscription.ts'
import type { ReadOutcome } from '../../whatsapp/read-outcome.ts'
import { saveHealth, toAdviceColumns, toNumberHealth } from '../health/store.ts'
import { findWhatsAppAccount, type WhatsAppAccountRef, type WhatsAppAccountRow } from '../store.ts'
import { requireWhatsAppAccount } from '../whatsapp-account.ts'
import { type Advice, explainCallbackFailure, explainReadFailure } from './advice.ts'
import { findAppSecret, inspectStored, openStored, saveForToken, type Stored } from './token.ts'

type StepDeps = Pick<Deps, 'db' | 'whatsapp' | 'secrets' | 'log' | 'now' | 'callbacks' | 'publicUrl'>

/** Subscribes the app of the token to the callbacks of the WABA. Without it, no status ever arrives. */
export async function subscribeApp(
  deps: Pick<StepDeps, 'db' | 'whatsapp' | 'now'>,
  ref: WhatsAppAccountRef,
  { wabaId, accessToken }: { wabaId: string; accessToken: string },
): Promise<ConnectStep> {
  const overridden = await readOverridden(deps, { wabaId, accessToken })
  const mustSubscribe = overridden.ok && !overridden.value
  const outcome = mustSubscribe ? await deps.whatsapp.subscribeApp({ wabaId, accessToken }) : overridden
  const advice = outcome.ok ? undefined : explainReadFailure(outcome)
  await saveHealth(deps.db, ref, {
    subscriptionCheckedAt: deps.now(),
    subscribed: outcome.ok,
    ...toAdviceColumns('subscription', advice),
  })
  if (advice) return { ok: false, ...withFacts({ ...advice }) }
  return { ok: true, ...withFacts({ message: connectFacts.subscribed() }) }
}

/**
 * Whether the app of the token is subscribed with a callback URL of the WABA. To subscribe it again would clear that URL
 * (reference 2, section 5.4).
 */
async function readOverridden(
  { whatsapp }: Pick<StepDeps, 'whatsapp'>,
  { wabaId, accessToken }: { wabaId: string; accessToken: string },
): Promise<ReadOutcome<boolean>> {
  const apps = await whatsapp.listSubscribedApps({ wabaId, accessToken })
  if (!apps.ok) return orFalse(apps)
  const overridden = apps.value.filter(({ overrideCallbackUrl }) => overrideCallbackUrl !== undefined)
  if (overridden.length === 0) return { ok: true, value: false }
  const token = await whatsapp.inspectToken({ accessToken })
  if (!token.ok) return orFalse(token)
  return { ok: true, value: overridden.some(({ appId }) => appId === token.value.appId) }
}

/** False if WhatsApp does not show it; a failure after which a retry may show it stays one. */
function orFalse(failed: ReadOutcome<unknown> & { ok: false }): ReadOutcome<boolean> {
  return failed.refused && !failed.transient ? { ok: true, value: false } : failed
}

/** Like `subscribeApp`, for a stored account. */
export async function subscribeStored(deps: StepDeps, ref: WhatsAppAccountRef): Promise<ConnectStep> {
  const stored = await openStored(deps, ref)
  if ('problem' in stored) return stored.problem
  return subscribeApp(deps, stored, { wabaId: stored.row.wabaId, accessToken: stored.accessToken })
}

/**
 * Sets the callback URL of the app and the fields that Waybill uses. A WABA can override the URL for messages only, so
 * templates and accounts need the URL of the app (reference 2, section 5.4).
 */
export async function configureCallback(deps: StepDeps, ref: WhatsAppAccountRef): Promise<CallbackStep> {
  const stored = await openStored(deps, ref)
  if ('problem' in stored) return stored.problem
  const enter = describeCallback(deps, stored.row)
  const { callbackUrl: url, verifyToken } = enter
  const obstacle = findObstacle(deps, stored)
  if (obstacle || verifyToken === undefined) return withManualSetup(obstacle ?? missingVerifyToken, enter)
  const { app, token } = await inspectStored(deps, stored)
  if (!app) {
    await saveForToken(deps, stored, token.columns)
    return withManualSetup(toAdvice(connectFacts.appUnknown), enter)
  }
  const outcome = await deps.whatsapp.subscribeCallback(app, { url, verifyToken })
  const advice = outcome.ok ? undefined : explainCallbackFailure(outcome)
  await saveForToken(deps, stored, {
    ...token.columns,
    callbackCheckedAt: deps.now(),
    ...toAdviceColumns('callback', advice),
    ...(outcome.ok && { callbackUrl: url, callbackFields: outcome.value }),
  })
  if (advice) return { ok: false, ...withFacts({ ...advice }), enter }
  return { ok: true, ...withFacts({ message: connectFacts.callbackSet({ url }) }) }
}

function withManualSetup({ message, fix }: Advice, enter: CallbackStep['enter']): CallbackStep {
  return { ok: false, ...withFacts({ message, fix: connectFacts.orByHand({ fix }) }), enter }
}

/** Returns the values to enter at Meta, and why Waybill cannot set them itself. */
export async function readCallbackSetUp(
  deps: Pick<StepDeps, 'db' | 'secrets' | 'log' | 'callbacks' | 'publicUrl'>,
  ref: WhatsAppAccountRef,
): Promise<CallbackSetUp> {
  const { accountId, whatsAppAccountId } = ref
  const found = await findWhatsAppAccount(deps.db, accountId, whatsAppAccountId)
  const row = requireWhatsAppAccount(found, whatsAppAccountId)
  const obstacle = findObstacle(deps, { accountId, whatsAppAccountId, row })
  return { ...(obstacle && { obstacle: withFacts({ ...obstacle }) }), enter: describeCallback(deps, row) }
}

/** The values that the app dashboard of Meta asks for. */
export function describeCallback(deps: Pick<Deps, 'callbacks' | 'publicUrl'>, row: WhatsAppAccountRow) {
  const { verifyToken } = deps.callbacks
  return {
    callbackUrl: callbackUrlOf(deps, row.id, { hasOwnApp: row.appSecretEncrypted !== null }),
    ...(verifyToken !== undefined && { verifyToken }),
    fields: [...callbackFields],
  }
}

/** An app with its own secret has its own callback URL. */
export function callbackUrlOf(
  { callbacks, publicUrl }: Pick<Deps, 'callbacks' | 'publicUrl'>,
  whatsAppAccountId: string,
  { hasOwnApp }: { hasOwnApp: boolean },
): string {
  const path = hasOwnApp ? callbackPathOf(whatsAppAccountId) : callbackPath
  return new URL(path, callbacks.baseUrl ?? publicUrl).href
}

function toAdvice({ message, fix }: Record<'message' | 'fix', () => Fact>): Advice {
  return { message: message(), fix: fix() }
}

const missingVerifyToken = toAdvice(connectFacts.verifyTokenMissing)

/** Returns why Waybill cannot set the callback URL itself; undefined if it can. */
function findObstacle(
  deps: Pick<Deps, 'callbacks' | 'secrets' | 'log'>,
  stored: Pick<Stored, 'accountId' | 'whatsAppAccountId' | 'row'>,
): Advice | undefined {
  const { verifyToken, baseUrl } = deps.callbacks
  const { publicUrlMissing, appSecretMissing, appSecretUnreadable } = connectFacts
  if (verifyToken === undefined) return missingVerifyToken
  if (baseUrl === undefined) return toAdvice(publicUrlMissing)
  if (findAppSecret(deps, stored) !== undefined) return undefined
  return toAdvice(stored.row.appSecretEncrypted === null ? appSecretMissing : appSecretUnreadable)
}

/**
 * Registers a phone number with the Cloud API. The PIN is not stored. A number that is also used in the WhatsApp Business
 * app is not registered, also if it was not known to be: the app on the phone would be disconnected.
 */
export async function registerNumber(
  deps: Pick<Deps, 'db' | 'whatsapp' | 'secrets' | 'log' | 'now'>,
  { accountId, whatsAppAccountId }: { accountId: string; whatsAppAccountId: string },
  pin: string,
): Promise<ConnectStep> {
  const stored = await openStored(deps, { accountId, whatsAppAccountId })
  if ('problem' in stored) return stored.problem
  const { row, accessToken } = stored
  const number = { phoneNumberId: row.phoneNumberId, accessToken }
  const use = await deps.whatsapp.isOnBusinessApp(number)
  // A version or a provider without the field has no such numbers.
  if (!use.ok && use.error?.code !== 100) return { ok: false, ...withFacts({ ...explainReadFailure(use) }) }
  if (use.ok && use.value === true) {
    await saveHealth(deps.db, stored, { onBusinessApp: true })
    return { ok: false, ...withFacts({ message: connectFacts.onBusinessApp() }) }
  }
  const outcome = await deps.whatsapp.registerNumber({ ...number, pin })
  if (!outcome.ok) return { ok: false, ...withFacts({ ...explainReadFailure(outcome) }) }
  const details = await deps.whatsapp.getNumberDetails(number)
  const facts = details.ok ? toNumberHealth(details.value, deps.now()) : { numberStatus: 'CONNECTED' }
  await saveHealth(deps.db, stored, facts)
  return { ok: true, ...withFacts({ message: connectFacts.registered() }) }
}

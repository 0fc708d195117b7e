import { callbackFields } from '../../../whatsapp/callbacks/fields.ts'
import { callbackPath, callbackPathOf } from '../../../whatsapp/callbacks/path.ts'
import type { CallbackStep, ConnectStep } from '../../../../contracts/dashboard/connect.ts'
import type { Deps } from '../../../deps.ts'
import { type HealthOwner, saveHealth } from '../health/store.ts'
import type { WhatsAppAccountRow } from '../store.ts'
import { describeAdvice, explainCallbackFailure, explainReadFailure } from './advice.ts'
import { findApp, openStored } from './stored.ts'

type StepDeps = Pick<Deps, 'db' | 'whatsapp' | 'secrets' | 'log' | 'now' | 'callbacks' | 'publicUrl'>

/** Subscribes the app of the token to the callbacks of the WABA. Without it, no status ever arrives. */
export async function subscribeApp(
  deps: Pick<StepDeps, 'db' | 'whatsapp' | 'now'>,
  owner: HealthOwner,
  { wabaId, accessToken }: { wabaId: string; accessToken: string },
): Promise<ConnectStep> {
  const outcome = await deps.whatsapp.subscribeApp({ wabaId, accessToken })
  const advice = outcome.ok ? undefined : explainReadFailure(outcome)
  await saveHealth(deps.db, owner, {
    subscription_checked_at: deps.now(),
    subscribed: outcome.ok,
    subscription_problem: advice ? describeAdvice(advice) : null,
  })
  if (advice) return { ok: false, ...advice }
  return { ok: true, message: 'The app is subscribed to the WhatsApp Business Account, so WhatsApp reports statuses.' }
}

/** The same for a stored account. */
export async function subscribeStored(
  deps: StepDeps,
  accountId: string,
  whatsAppAccountId: string,
): Promise<ConnectStep> {
  const stored = await openStored(deps, { accountId, whatsAppAccountId })
  if ('problem' in stored) return stored.problem
  return subscribeApp(deps, stored, { wabaId: stored.row.waba_id, accessToken: stored.accessToken })
}

/**
 * Sets the callback URL of the app and the fields that Waybill uses. A WABA can override the URL for messages only, so
 * templates and accounts need the URL of the app (reference 2, section 5.4).
 */
export async function configureCallback(
  deps: StepDeps,
  accountId: string,
  whatsAppAccountId: string,
): Promise<CallbackStep> {
  const stored = await openStored(deps, { accountId, whatsAppAccountId })
  if ('problem' in stored) return stored.problem
  const { row } = stored
  const enter = describeCallback(deps, row)
  const app = await findApp(deps, stored)
  const obstacle = findObstacle(deps, { row, hasApp: app !== undefined })
  if (!app || obstacle !== undefined || enter.verifyToken === undefined)
    return {
      ok: false,
      message: obstacle ?? 'The app of the token is not known.',
      fix: 'Enter these values in the app dashboard of Meta (developers.facebook.com > My Apps > your app > WhatsApp > Configuration) and subscribe to the fields.',
      enter,
    }
  const { callbackUrl: url, verifyToken, fields } = enter
  const outcome = await deps.whatsapp.subscribeCallback(app, { url, verifyToken, fields })
  const advice = outcome.ok ? undefined : explainCallbackFailure(outcome)
  await saveHealth(deps.db, stored, {
    callback_checked_at: deps.now(),
    callback_problem: advice ? describeAdvice(advice) : null,
    ...(outcome.ok && { callback_url: url, callback_fields: [...fields] }),
  })
  if (advice) return { ok: false, ...advice, enter }
  return { ok: true, message: `Meta called ${url}, accepted the answer, and now sends callbacks there.` }
}

/** The values that the app dashboard of Meta asks for. */
export function describeCallback(deps: Pick<Deps, 'callbacks' | 'publicUrl'>, row: WhatsAppAccountRow) {
  const { verifyToken } = deps.callbacks
  return {
    callbackUrl: callbackUrlOf(deps, row.id, { hasOwnApp: row.app_secret_encrypted !== null }),
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

function findObstacle(
  { callbacks }: Pick<Deps, 'callbacks'>,
  { row, hasApp }: { row: WhatsAppAccountRow; hasApp: boolean },
): string | undefined {
  if (callbacks.verifyToken === undefined)
    return 'META_VERIFY_TOKEN is not set, so Waybill rejects the check that Meta makes of a callback URL. An operator must set it and restart Waybill.'
  if (callbacks.baseUrl === undefined)
    return 'WAYBILL_PUBLIC_URL is not an https address, so Waybill cannot set the callback URL for you.'
  if (row.app_secret_encrypted === null && callbacks.appSecret === undefined)
    return 'The secret of the app is not known, so Waybill cannot set the callback URL for you, and cannot verify callbacks either. Replace the secrets of this account, or set META_APP_SECRET.'
  return hasApp ? undefined : 'WhatsApp did not say to which app the token belongs.'
}

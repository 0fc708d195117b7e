import { callbackFields } from '../../whatsapp/callbacks/fields.ts'
import { callbackPath, callbackPathOf } from '../../whatsapp/callbacks/path.ts'
import type { CallbackSetUp, CallbackStep, ConnectStep } from '../../../contracts/dashboard/connect.ts'
import type { Deps } from '../../deps.ts'
import { saveHealth } from '../health/store.ts'
import { findWhatsAppAccount, type WhatsAppAccountRow, type WhatsAppAccountRef } from '../store.ts'
import { requireWhatsAppAccount } from '../whatsapp-account.ts'
import { type Advice, describeAdvice, explainCallbackFailure, explainReadFailure } from './advice.ts'
import { findAppSecret, inspectStored, openStored, saveForToken, type Stored } from './stored.ts'

type StepDeps = Pick<Deps, 'db' | 'whatsapp' | 'secrets' | 'log' | 'now' | 'callbacks' | 'publicUrl'>

/** Subscribes the app of the token to the callbacks of the WABA. Without it, no status ever arrives. */
export async function subscribeApp(
  deps: Pick<StepDeps, 'db' | 'whatsapp' | 'now'>,
  ref: WhatsAppAccountRef,
  { wabaId, accessToken }: { wabaId: string; accessToken: string },
): Promise<ConnectStep> {
  const outcome = await deps.whatsapp.subscribeApp({ wabaId, accessToken })
  const advice = outcome.ok ? undefined : explainReadFailure(outcome)
  await saveHealth(deps.db, ref, {
    subscription_checked_at: deps.now(),
    subscribed: outcome.ok,
    subscription_problem: advice ? describeAdvice(advice) : null,
  })
  if (advice) return { ok: false, ...advice }
  return { ok: true, message: 'The app is subscribed to the WhatsApp Business Account, so WhatsApp reports statuses.' }
}

/** Like `subscribeApp`, for a stored account. */
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
  const enter = describeCallback(deps, stored.row)
  const { callbackUrl: url, verifyToken, fields } = enter
  const obstacle = findObstacle(deps, stored)
  if (obstacle || verifyToken === undefined) return withManualSetup(obstacle ?? missingVerifyToken, enter)
  const { app, token } = await inspectStored(deps, stored)
  if (!app) {
    await saveForToken(deps, stored, token.columns)
    return withManualSetup(
      {
        message: 'WhatsApp did not say to which app the token belongs, so Waybill cannot set the callback URL for you.',
        fix: 'Repeat this step in some minutes.',
      },
      enter,
    )
  }
  const outcome = await deps.whatsapp.subscribeCallback(app, { url, verifyToken, fields })
  const advice = outcome.ok ? undefined : explainCallbackFailure(outcome)
  await saveForToken(deps, stored, {
    ...token.columns,
    callback_checked_at: deps.now(),
    callback_problem: advice ? describeAdvice(advice) : null,
    ...(outcome.ok && { callback_url: url, callback_fields: [...fields] }),
  })
  if (advice) return { ok: false, ...advice, enter }
  return { ok: true, message: `Meta called ${url}, accepted the answer, and now sends callbacks there.` }
}

function withManualSetup({ message, fix }: Advice, enter: CallbackStep['enter']): CallbackStep {
  return {
    ok: false,
    message,
    fix: `${fix} Or enter these values in the app dashboard of Meta (developers.facebook.com/apps > your app > WhatsApp > Configuration) and subscribe to the fields.`,
    enter,
  }
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
  return { ...(obstacle && { obstacle }), enter: describeCallback(deps, row) }
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

const missingVerifyToken: Advice = {
  message: 'META_VERIFY_TOKEN is not set, so Waybill rejects the check that Meta makes of a callback URL.',
  fix: 'Ask the operator of this server to set META_VERIFY_TOKEN in its environment to a random text, such as the output of “openssl rand -hex 16”, and to restart it.',
}

/** Returns why Waybill cannot set the callback URL itself; undefined if it can. */
function findObstacle(
  deps: Pick<Deps, 'callbacks' | 'secrets' | 'log'>,
  stored: Pick<Stored, 'accountId' | 'whatsAppAccountId' | 'row'>,
): Advice | undefined {
  const { verifyToken, baseUrl } = deps.callbacks
  if (verifyToken === undefined) return missingVerifyToken
  if (baseUrl === undefined)
    return {
      message: 'WAYBILL_PUBLIC_URL is not an https address, so Waybill cannot set the callback URL for you.',
      fix: 'Ask the operator of this server to set WAYBILL_PUBLIC_URL in its environment to the https address at which the internet reaches it, and to restart it.',
    }
  if (findAppSecret(deps, stored) !== undefined) return undefined
  const consequence = 'so Waybill cannot set the callback URL for you, and rejects every callback.'
  const copy = 'Copy it from Meta’s app dashboard (App settings > Basic)'
  return stored.row.app_secret_encrypted === null
    ? {
        message: `Waybill does not have the app secret, ${consequence}`,
        fix: `${copy} and replace the secrets of this account. Or ask the operator of this server to set META_APP_SECRET for all accounts, and to restart it.`,
      }
    : {
        message: `The app secret of this account cannot be decrypted with the configured keys, ${consequence}`,
        fix: `${copy} and replace the secrets of this account.`,
      }
}

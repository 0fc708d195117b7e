import { callbackFields } from '../../../whatsapp/callbacks/fields.ts'
import type { CallbackStep, ConnectStep } from '../../../../contracts/dashboard/connect.ts'
import type { Deps } from '../../../deps.ts'
import type { MetaApp } from '../../../whatsapp/onboarding.ts'
import { findHealth, type HealthChanges, type HealthOwner, saveHealth } from '../health/store.ts'
import { describeUnreadableToken, openAccessToken, openAppSecret } from '../secrets.ts'
import { findWhatsAppAccount, type WhatsAppAccountRow } from '../store.ts'
import { requireWhatsAppAccount } from '../whatsapp-account.ts'
import { explainFailure } from './advice.ts'
import { readTokenFacts } from './token.ts'

type StepDeps = Pick<Deps, 'db' | 'whatsapp' | 'secrets' | 'log' | 'now' | 'callbacks'>

/** Subscribes the app of the token to the callbacks of the WABA. Without it, no status ever arrives. */
export async function subscribeApp(
  deps: Pick<StepDeps, 'db' | 'whatsapp' | 'now'>,
  owner: HealthOwner,
  { wabaId, accessToken }: { wabaId: string; accessToken: string },
): Promise<ConnectStep> {
  const outcome = await deps.whatsapp.subscribeApp({ wabaId, accessToken })
  const advice = outcome.ok ? undefined : explainFailure(outcome)
  await saveHealth(deps.db, owner, {
    subscription_checked_at: deps.now(),
    subscribed: outcome.ok,
    subscription_problem: advice ? `${advice.message} ${advice.fix}` : null,
  })
  if (advice) return { ok: false, ...advice }
  return { ok: true, message: 'The app is subscribed to the WhatsApp Business Account, so WhatsApp reports statuses.' }
}

/** What a step that failed says, and what to do about it. */
export function describeStep({ message, fix }: Pick<ConnectStep, 'message' | 'fix'>): string {
  return fix === undefined ? message : `${message} ${fix}`
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
  if (!app || obstacle !== undefined || enter.callbackUrl === undefined || enter.verifyToken === undefined)
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
    callback_problem: advice ? `${advice.message} ${advice.fix}` : null,
    ...(outcome.ok && { callback_url: url, callback_fields: [...fields] }),
  })
  if (advice) return { ok: false, ...advice, enter }
  return { ok: true, message: `Meta called ${url}, accepted the answer, and now sends callbacks there.` }
}

/** The values that the app dashboard of Meta asks for. An app with its own secret has its own callback URL. */
export function describeCallback(
  { callbacks, publicUrl }: Pick<Deps, 'callbacks'> & { publicUrl?: string },
  row: Pick<WhatsAppAccountRow, 'id' | 'app_secret_encrypted'>,
) {
  const base = callbacks.baseUrl ?? publicUrl
  const path = row.app_secret_encrypted === null ? '/webhooks/whatsapp' : `/webhooks/whatsapp/${row.id}`
  return {
    ...(base !== undefined && { callbackUrl: new URL(path, base).href }),
    ...(callbacks.verifyToken !== undefined && { verifyToken: callbacks.verifyToken }),
    fields: [...callbackFields],
  }
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

/** An app token that WhatsApp rejects was made of a secret of another app. */
function explainCallbackFailure(outcome: Parameters<typeof explainFailure>[0]) {
  if (outcome.error?.code !== 190) return explainFailure(outcome)
  return {
    message: 'The app secret does not match the app of this access token.',
    fix: 'Copy the app secret from the app dashboard of Meta (App settings > Basic), of the app that the token was created for, and replace the secrets of this account, or META_APP_SECRET.',
  }
}

interface Stored extends HealthOwner {
  row: WhatsAppAccountRow
  accessToken: string
}

/** Reads an account and decrypts its token. */
export async function openStored(
  deps: Pick<Deps, 'db' | 'secrets' | 'log'>,
  { accountId, whatsAppAccountId }: HealthOwner,
): Promise<Stored | { problem: ConnectStep; row: WhatsAppAccountRow }> {
  const found = await findWhatsAppAccount(deps.db, accountId, whatsAppAccountId)
  const row = requireWhatsAppAccount(found, whatsAppAccountId)
  const accessToken = openAccessToken(deps, { accountId, whatsAppAccountId }, row.access_token_encrypted)
  if (accessToken !== undefined) return { accountId, whatsAppAccountId, row, accessToken }
  return { row, problem: { ok: false, message: describeUnreadableToken(whatsAppAccountId), fix: 'Replace the token.' } }
}

/** The app of the token with its secret; undefined if one of them is unknown. */
export async function findApp(deps: StepDeps, { row, accessToken, ...owner }: Stored): Promise<MetaApp | undefined> {
  const appSecret = openAppSecret(deps, owner, row) ?? deps.callbacks.appSecret
  if (appSecret === undefined) return undefined
  const known = (await findHealth(deps.db, owner))?.app_id
  if (known !== undefined && known !== null) return { appId: known, appSecret }
  const { info, columns } = await readTokenFacts(deps, { accessToken })
  await saveHealth(deps.db, owner, columns satisfies HealthChanges)
  return info?.appId === undefined ? undefined : { appId: info.appId, appSecret }
}

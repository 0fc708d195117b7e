import { isThrottling, isUnknownObject } from '../../whatsapp/error-codes.ts'
import type { ReadOutcome, WhatsAppError } from '../../whatsapp/read-outcome.ts'

/** Explains why WhatsApp rejected a step of the setup, and how to fix it. */
export interface Advice {
  message: string
  fix: string
}

type Failed = Extract<ReadOutcome<unknown>, { ok: false }>

const newToken =
  'In Meta Business Suite, open Settings > Users > System users, create a new token for your app with the permissions whatsapp_business_messaging and whatsapp_business_management, and use it in place of this one.'
const permissions =
  'In Meta Business Suite, open Settings > Users > System users: assign the app and the WhatsApp account to the system user with full control, then create a token with the permissions whatsapp_business_messaging and whatsapp_business_management.'
const wait = 'Wait a few minutes, then repeat this step. Retrying sooner extends the wait.'

/** The fix for a restriction by WhatsApp, which a new token does not lift. */
export const requestReview = 'Open Business Support Home in Meta Business Suite, check the reason and request a review.'

const tokenRejected: Advice = {
  message: 'WhatsApp rejects this access token: it is wrong, revoked or expired.',
  fix: newToken,
}
const permissionMissing: Advice = {
  message:
    'WhatsApp does not let this access token do that: a permission is missing, or the account is not assigned to its system user.',
  fix: permissions,
}
const throttled: Advice = { message: 'This account or app has reached WhatsApp’s limit of API calls.', fix: wait }

/** By Meta's error code: reference, section 2.2, and Meta's reference of the register edge. */
const advices: Readonly<Record<number, Advice>> = {
  0: tokenRejected,
  190: tokenRejected,
  3: permissionMissing,
  10: permissionMissing,
  200: permissionMissing,
  131005: permissionMissing,
  33: {
    message: 'WhatsApp does not know this ID, or does not show it to this access token.',
    fix: 'Check the ID in WhatsApp Manager, and that the WhatsApp account is assigned to the system user of the token.',
  },
  368: {
    message: 'WhatsApp has restricted this business account for a policy violation.',
    fix: requestReview,
  },
  2200: {
    message: 'Meta called the callback URL and did not get the expected answer.',
    fix: 'Check that the URL is reachable from the internet over https with a valid certificate, that the proxy in front of Waybill passes /webhooks/whatsapp on to it, and that META_VERIFY_TOKEN is the one with which Waybill was started. The operator of the server can check all three.',
  },
  131031: {
    message: 'WhatsApp has locked this business account.',
    fix: requestReview,
  },
  133005: {
    message: "The PIN does not match the number's two-step verification PIN.",
    fix: 'Enter the PIN that was set for this number. If nobody knows it, change it in WhatsApp Manager: Phone numbers > the number > Two-step verification.',
  },
  133006: {
    message: 'WhatsApp wants the number to be verified again.',
    fix: 'In WhatsApp Manager, open Phone numbers and verify the number with a code by SMS or call. Then repeat this step.',
  },
  133008: {
    message: 'Too many wrong PINs were tried: WhatsApp has locked the registration of this number.',
    fix: 'Wait for the time that WhatsApp names, or set a new PIN in WhatsApp Manager. Then repeat this step with the right PIN.',
  },
  133009: { message: 'PINs were tried too fast.', fix: wait },
  133015: { message: 'The number was deleted a moment ago and cannot be registered yet.', fix: wait },
  133016: {
    message: 'The number was registered or deregistered too often: WhatsApp allows 10 attempts in 72 hours.',
    fix: 'Wait 72 hours before the next attempt. A number whose status is CONNECTED does not need to be registered again.',
  },
}

function adviceFor(code: number): Advice | undefined {
  return advices[code] ?? (isThrottling(code) ? throttled : undefined)
}

/**
 * Says in one sentence what WhatsApp rejected, in whose words and with which code. The stored reason has the code and
 * WhatsApp's text.
 */
export function describeRejection(reason: string): string {
  const [, code, said] = storedReason.exec(reason) ?? []
  const advice = code === undefined ? undefined : adviceFor(Number(code))
  const what =
    advice === tokenRejected
      ? 'WhatsApp rejects the access token'
      : advice === permissionMissing
        ? 'The access token lacks a permission, or the account is not assigned to its system user'
        : 'WhatsApp rejected this account'
  const text = said === undefined ? undefined : said.replace(/\.$/, '')
  if (code === undefined) return `${what}: ${reason.replace(/\.$/, '')}.`
  return text === undefined || text === '' ? `${what}: error ${code}.` : `${what}: ${text} (error ${code}).`
}

/** Such as `WhatsApp rejected it (190): Access token has expired` or `WhatsApp returned error code 190`. */
const storedReason = /(?:\bcode |\()(\d{1,6})\b\)?(?:: (.*))?/s

/** The token is never part of the text, because the client removes it from errors. */
export function explainReadFailure(failed: Failed): Advice {
  const { error, refused, reason, subcode } = failed
  if (!refused || !error)
    return {
      message: `WhatsApp could not be reached: ${reason}.`,
      fix: 'Check that this server can reach GRAPH_API_URL, then repeat this step.',
    }
  const said = error.details === undefined ? error.title : `${error.title.replace(/\.$/, '')}: ${error.details}`
  const known = adviceFor(error.code > 200 && error.code <= 299 ? 200 : error.code)
  const advice = known ?? (isUnknown(error, subcode) ? advices[33] : undefined)
  const quoted = `WhatsApp said (${error.code}): ${said.replace(/\.$/, '')}.`
  if (!advice)
    return { message: quoted, fix: 'Look up the code in the documentation of the WhatsApp Business Platform.' }
  return { message: `${advice.message} ${quoted}`, fix: advice.fix }
}

/** Meta may leave out the subcode. Then only the text, which may be in another language, identifies the problem. */
function isUnknown({ code, title }: WhatsAppError, subcode: number | undefined): boolean {
  if (subcode === undefined) return code === 100 && title.includes('does not exist')
  return isUnknownObject(code, subcode)
}

const wrongAppSecret: Advice = {
  message: 'The app secret does not match the app of this access token.',
  fix: 'Copy the app secret from the app dashboard of Meta (App settings > Basic), of the app that the token was created for, and replace the secrets of this account, or META_APP_SECRET.',
}
export const appSecretProblem = describeAdvice(wrongAppSecret)

/** WhatsApp rejects an app token whose secret belongs to another app. */
export function explainCallbackFailure(failed: Failed): Advice {
  return failed.error?.code === 190 ? wrongAppSecret : explainReadFailure(failed)
}

/** Returns the message and the fix in one text. */
export function describeAdvice({ message, fix }: { message: string; fix?: string | undefined }): string {
  return fix === undefined ? message : `${message} ${fix}`
}

import type { Fact } from '../../contracts/facts/fact.ts'
import { failures } from '../../contracts/facts/failures.ts'
import type { SendErrorCode } from './whatsapp.ts'

/** The meaning of a Graph API error code for a send. */
export interface ErrorMeaning {
  /** The error that the caller gets. */
  errorCode: SendErrorCode
  /** Seconds after which a retry may succeed. */
  retryAfterSeconds?: number
  /** True if the WhatsApp account cannot send until a user fixes it. */
  accountUnusable?: true
  /** The stored template is outdated: its new status, or `resync` to read it again. */
  template?: 'PAUSED' | 'DISABLED' | 'resync'
  /** True if the onboarding of the account may have changed. */
  checkAccount?: true
  /** True for a temporary error: an immediate retry is safe and may succeed. */
  retryImmediately?: true
}

/** What a failure means for users, and what they can do about it. */
export type Explanation = Record<'meaning' | 'advice', () => Fact>

/** The meaning of an error response; `unknown` if the message may have been sent. */
export type ErrorClass = ({ kind: 'refused' } & ErrorMeaning) | { kind: 'unknown' }

const rejected: ErrorMeaning = { errorCode: 'MESSAGE_REJECTED' }
/** Variables were checked before the send. If WhatsApp disagrees, the stored template is outdated. */
const templateChanged: ErrorMeaning = { errorCode: 'MESSAGE_REJECTED', template: 'resync' }
/** A user must fix this, possibly only in Meta's tools, so the account stays active here. */
const notReady: ErrorMeaning = { errorCode: 'NO_ACTIVE_ACCOUNT' }
const unusable: ErrorMeaning = { errorCode: 'NO_ACTIVE_ACCOUNT', accountUnusable: true }

const minute = 60
const hour = 60 * minute

function throttled(retryAfterSeconds: number): ErrorMeaning {
  return { errorCode: 'WHATSAPP_THROTTLED', retryAfterSeconds }
}

function unavailable(retryAfterSeconds: number): ErrorMeaning {
  return { errorCode: 'WHATSAPP_UNAVAILABLE', retryAfterSeconds }
}

/** Every code that can concern a template send (reference, section 2.2), and its explanation. */
export const errorCodes: Readonly<Record<string, readonly [ErrorMeaning, Explanation]>> = {
  // Token and permissions. Code 3 comes with HTTP 500, but is not a server error.
  0: [unusable, failures.tokenRefused],
  3: [unusable, failures.permissionMissing],
  10: [unusable, failures.permissionMissing],
  // Graph's own table has the advice of 190 for it.
  102: [unusable, failures.tokenRefused],
  104: [unusable, failures.tokenRefused],
  190: [unusable, failures.tokenRefused],
  200: [unusable, failures.permissionMissing], // and 201 to 299, see findErrorCode
  131005: [unusable, failures.permissionMissing],

  // Account locked or restricted for policy.
  368: [unusable, failures.accountRestricted],
  131031: [unusable, failures.accountRestricted],

  // Number, registration, billing.
  33: [notReady, failures.notRegistered],
  803: [notReady, failures.numberUnknown],
  131037: [notReady, failures.notRegistered],
  131042: [notReady, failures.payment],
  131045: [notReady, failures.notRegistered],
  133010: [notReady, failures.notRegistered],

  // Throttling. Calls are counted per hour, and early retries count too.
  4: [throttled(5 * minute), failures.tooFast],
  17: [throttled(5 * minute), failures.tooFast],
  32: [throttled(5 * minute), failures.tooFast],
  341: [throttled(5 * minute), failures.tooFast],
  613: [throttled(minute), failures.tooFast],
  80007: [throttled(5 * minute), failures.tooFast],
  80008: [throttled(5 * minute), failures.tooFast],
  // The status of HTTP, without a known code (RFC 6585, section 4).
  429: [throttled(minute), failures.tooFast],
  // Messages per second of the sending number.
  130429: [throttled(2), failures.tooFast],
  // One message every six seconds to one recipient (reference, section 5).
  131056: [throttled(6), failures.recipientTooOften],
  // Lifted by WhatsApp when quality recovers; early retries make it worse.
  131048: [throttled(hour), failures.reportedAsSpam],
  131064: [throttled(hour), failures.wrongCategories],
  132069: [throttled(hour), failures.flowThrottled],

  // WhatsApp's errors. Unknown errors (1, 131000) are not retried immediately, because the request may be the cause.
  1: [unavailable(5), failures.whatsappDown],
  2: [{ ...unavailable(5), retryImmediately: true }, failures.whatsappDown],
  131000: [unavailable(5), failures.whatsappDown],
  131016: [{ ...unavailable(10), retryImmediately: true }, failures.whatsappDown],
  133004: [{ ...unavailable(10), retryImmediately: true }, failures.whatsappDown],
  // Throughput upgrade, which takes about a minute.
  131057: [unavailable(minute), failures.whatsappDown],
  2494100: [unavailable(5 * minute), failures.whatsappDown],
  134101: [unavailable(10 * minute), failures.templatePreparing],
  134102: [{ ...unavailable(minute), checkAccount: true }, failures.marketingUnavailable],

  // The template.
  132000: [templateChanged, failures.templateDiffers],
  132001: [{ errorCode: 'TEMPLATE_NOT_FOUND', template: 'resync' }, failures.templateUnknown],
  132005: [rejected, failures.textTooLong],
  132007: [rejected, failures.contentViolation],
  132012: [templateChanged, failures.templateDiffers],
  132015: [{ errorCode: 'TEMPLATE_NOT_FOUND', template: 'PAUSED' }, failures.templatePaused],
  132016: [{ errorCode: 'TEMPLATE_NOT_FOUND', template: 'DISABLED' }, failures.templateDisabled],
  132018: [templateChanged, failures.templateDiffers],
  132068: [rejected, failures.flowBlocked],

  // Request errors. 131008 is a missing or empty parameter, which Waybill never sends for a known template.
  100: [rejected, failures.invalidParameter], // with subcode 33: notReady, see meaningOf
  131008: [templateChanged, failures.templateDiffers],
  131009: [rejected, failures.invalidParameter],
  131051: [rejected, failures.invalidParameter],
  // Media that could not be downloaded. 131052 is documented for received media; a file in a header would fail again, too.
  131052: [rejected, failures.mediaUnusable],
  131053: [rejected, failures.mediaUnusable],
  134011: [rejected, failures.paymentsTerms],
  135000: [rejected, failures.invalidParameter],

  // Recipient errors. WhatsApp decided not to deliver and would do so again.
  130403: [rejected, failures.blockedByBusiness],
  130472: [rejected, failures.experiment],
  130497: [rejected, failures.country],
  131021: [rejected, failures.toItself],
  131026: [rejected, failures.undeliverable],
  131030: [rejected, failures.notOnTestList],
  131047: [rejected, failures.outsideWindow],
  131049: [rejected, failures.recipientDoesNotWant],
  131050: [rejected, failures.optedOut],
  131062: [rejected, failures.wrongRecipientType],
  137000: [rejected, failures.identityChanged],

  // Marketing messages on the wrong API, or other messages on the marketing API.
  131055: [templateChanged, failures.wrongMarketingApi],
  131061: [rejected, failures.maximumPrice],
  131063: [rejected, failures.marketingOffCloudApi],
  134100: [templateChanged, failures.wrongMarketingApi],
  // A maximum price that is not available in the recipient's country.
  131065: [rejected, failures.maximumPriceCountry],
}

/** Classifies by code, as Meta recommends. The HTTP status matters for unknown codes only. */
export function classifyError(
  error: { code: number; error_subcode?: number | undefined; is_transient?: boolean | undefined },
  httpStatus: number,
): ErrorClass {
  const meaning = meaningOf(error.code, error.error_subcode)
  if (meaning) return { kind: 'refused', ...meaning }
  if (httpStatus >= 500 || httpStatus < 400) return { kind: 'unknown' }
  return { kind: 'refused', ...fallback(httpStatus, error.is_transient ?? false) }
}

/** Returns whether the same request may succeed later without changes. */
export function isTransient(errorClass: ErrorClass): boolean {
  return (
    errorClass.kind === 'unknown' ||
    errorClass.errorCode === 'WHATSAPP_THROTTLED' ||
    errorClass.errorCode === 'WHATSAPP_UNAVAILABLE'
  )
}

/** Returns whether a code means that WhatsApp limits requests, not that one of them is wrong. */
export function isThrottling(code: number): boolean {
  return meaningOf(code, undefined)?.errorCode === 'WHATSAPP_THROTTLED'
}

/** Token, permissions, and "does not exist, cannot be loaded due to missing permissions" (reference, section 2.2). */
const accessCodes: ReadonlySet<number> = new Set([0, 3, 10, 33, 102, 104, 190, 131005])

/**
 * Returns whether an error says that the token is invalid or has no access to the object. Other errors, such as a
 * locked account or an unpaid bill, say nothing about who owns it.
 */
export function deniesAccess({ code, error_subcode }: { code: number; error_subcode?: number | undefined }): boolean {
  return accessCodes.has(code) || (code >= 200 && code <= 299) || isUnknownObject(code, error_subcode)
}

/** Returns whether an error says that the token may not do this. It may be allowed to do something else, such as to send. */
export function lacksPermission(code: number): boolean {
  return code === 3 || code === 10 || code === 131_005 || (code >= 200 && code <= 299)
}

/** Returns whether an ID does not exist, or the token may not see it. Meta may leave out the subcode. */
export function isUnknownObject(code: number, subcode: number | undefined): boolean {
  return code === 100 && subcode === 33
}

function meaningOf(code: number, subcode: number | undefined): ErrorMeaning | undefined {
  // "Object with ID … does not exist, cannot be loaded due to missing permissions": the phone number ID is wrong.
  return isUnknownObject(code, subcode) ? notReady : findErrorCode(code)?.[0]
}

/** Returns the entry of a code. Those of permissions and of Graph's rate limits are ranges (reference, section 2.2). */
export function findErrorCode(code: number): readonly [ErrorMeaning, Explanation] | undefined {
  if (code > 200 && code <= 299) return errorCodes[200]
  // By use case: 80008 is that of this API, and 80014 the last one documented.
  if (code >= 80_000 && code <= 80_014) return errorCodes[80_008]
  return errorCodes[code]
}

function fallback(httpStatus: number, isTransient: boolean): ErrorMeaning {
  if (httpStatus === 401) return unusable
  if (httpStatus === 403) return notReady
  return isTransient ? unavailable(5) : rejected
}

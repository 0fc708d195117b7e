import type { FailureAdvice } from '../../contracts/dashboard/message.ts'
import { type Fact, inEnglish, withFacts } from '../../contracts/facts/fact.ts'
import { failures } from '../../contracts/facts/failures.ts'

type Failure = Record<'meaning' | 'advice', () => Fact>

/** WhatsApp's message says why it could not use a file; there is no code for it (reference 2, section 1.1). */
const mediaCauses: readonly (readonly [RegExp, Failure])[] = [
  [/http code 40[13]\b/i, failures.linkRejected],
  [/http code (?:404|410)\b/i, failures.linkMissing],
  [/http code|downloading media|weblink/i, failures.linkUnreachable],
  [/processing it is of type/i, failures.fileTypeDiffers],
]

const mediaCodes: ReadonlySet<string> = new Set(['131052', '131053'])

/** Explanations by WhatsApp's error code (reference, section 2.2), or by our own code if WhatsApp gave none. */
const failuresByCode: Readonly<Record<string, Failure>> = {
  0: failures.tokenRefused,
  102: failures.tokenRefused,
  104: failures.tokenRefused,
  190: failures.tokenRefused,
  3: failures.permissionMissing,
  10: failures.permissionMissing,
  200: failures.permissionMissing,
  131005: failures.permissionMissing,
  368: failures.accountRestricted,
  131031: failures.accountRestricted,
  4: failures.tooFast,
  17: failures.tooFast,
  32: failures.tooFast,
  341: failures.tooFast,
  429: failures.tooFast,
  613: failures.tooFast,
  80007: failures.tooFast,
  80008: failures.tooFast,
  130429: failures.tooFast,
  131056: failures.recipientTooOften,
  131048: failures.reportedAsSpam,
  131064: failures.wrongCategories,
  1: failures.whatsappDown,
  2: failures.whatsappDown,
  131000: failures.whatsappDown,
  131016: failures.whatsappDown,
  133004: failures.whatsappDown,
  131057: failures.whatsappDown,
  2494100: failures.whatsappDown,
  33: failures.notRegistered,
  131037: failures.notRegistered,
  131045: failures.notRegistered,
  133010: failures.notRegistered,
  131042: failures.payment,
  131026: failures.undeliverable,
  131021: failures.toItself,
  131030: failures.notOnTestList,
  131047: failures.outsideWindow,
  130403: failures.blockedByBusiness,
  130472: failures.experiment,
  130497: failures.country,
  131049: failures.recipientDoesNotWant,
  131050: failures.optedOut,
  131062: failures.wrongRecipientType,
  131061: failures.maximumPrice,
  131063: failures.marketingOffCloudApi,
  131065: failures.maximumPriceCountry,
  131052: failures.mediaUnusable,
  131053: failures.mediaUnusable,
  132000: failures.templateDiffers,
  132012: failures.templateDiffers,
  132018: failures.templateDiffers,
  131008: failures.templateDiffers,
  132001: failures.templateUnknown,
  132005: failures.textTooLong,
  132007: failures.contentViolation,
  132015: failures.templatePaused,
  132016: failures.templateDisabled,
  132068: failures.flowBlocked,
  132069: failures.flowThrottled,
  134011: failures.paymentsTerms,
  100: failures.invalidParameter,
  131009: failures.invalidParameter,
  131051: failures.invalidParameter,
  135000: failures.invalidParameter,
  803: failures.numberUnknown,
  137000: failures.identityChanged,
  131055: failures.wrongMarketingApi,
  134100: failures.wrongMarketingApi,
  134101: failures.templatePreparing,
  134102: failures.marketingUnavailable,
  WHATSAPP_UNAVAILABLE: failures.whatsAppUnavailable,
  SERVICE_UNAVAILABLE: failures.databaseUnavailable,
}

/** The codes of WhatsApp that have an explanation, in ascending order. */
export const explainedCodes: readonly number[] = Object.keys(failuresByCode)
  .map(Number)
  .filter((code) => !Number.isNaN(code))
  .toSorted((a, b) => a - b)

/** WhatsApp's message followed by the advice for its code, if there is one. */
export function explainFailure(code: string, message: string): string {
  const sentence = message === '' || /[.!?]$/.test(message) ? message : `${message}.`
  const advice = findAdvice(code, message)
  return [sentence, advice && inEnglish(advice)].filter(Boolean).join(' ')
}

/** What to do about a failure with this code; undefined for unknown codes. */
export function findAdvice(code: string, message: string): Fact | undefined {
  return findFailure(code, message)?.advice()
}

function findFailure(code: string, message: string): Failure | undefined {
  const cause = mediaCodes.has(code) ? mediaCauses.find(([pattern]) => pattern.test(message)) : undefined
  return cause?.[1] ?? failuresByCode[code]
}

/** Unknown codes keep WhatsApp's message. */
export function adviseOnFailure({ code, message }: { code: string; message: string }): FailureAdvice {
  const failure = findFailure(code, message)
  if (failure) return withFacts({ meaning: failure.meaning(), advice: failure.advice() })
  const { meaning, advice } = failures.unknown
  return withFacts({ meaning: message === '' ? meaning({ code }) : message, advice: advice() })
}

/** The cause alone, for a list. */
export function pickMeaning({ meaning, facts }: Pick<FailureAdvice, 'meaning' | 'facts'>) {
  return { meaning, ...(facts?.['meaning'] && { facts: { meaning: facts['meaning'] } }) }
}

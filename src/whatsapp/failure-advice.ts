import type { FailureAdvice } from '../../contracts/dashboard/message.ts'
import { type Fact, inEnglish, withFacts } from '../../contracts/facts/fact.ts'
import { failures } from '../../contracts/facts/failures.ts'
import { errorCodes, type Explanation, findErrorCode } from './error-codes.ts'

type Cause = readonly [RegExp, Explanation]

/** WhatsApp's message says why it could not use a file; there is no code for it (reference 2, section 1.1). */
const mediaCauses: readonly Cause[] = [
  [/http code 40[13]\b/i, failures.linkRejected],
  [/http code (?:404|410)\b/i, failures.linkMissing],
  [/http code|downloading media|weblink/i, failures.linkUnreachable],
  [/processing it is of type/i, failures.fileTypeDiffers],
]

/** Causes that only the message tells, by code. */
const causes: Readonly<Record<string, readonly Cause[]>> = {
  // Its subcode 33 is not stored.
  100: [[/does not exist, cannot be loaded due to missing permissions/i, failures.numberUnknown]],
  131052: mediaCauses,
  131053: mediaCauses,
}

/** Explanations of our own codes, if WhatsApp gave none. */
const ownCodes: Readonly<Record<string, Explanation>> = {
  WHATSAPP_UNAVAILABLE: failures.whatsAppUnavailable,
  SERVICE_UNAVAILABLE: failures.databaseUnavailable,
}

/** The codes of WhatsApp that have an explanation, in ascending order. */
export const explainedCodes: readonly number[] = Object.keys(errorCodes).map(Number)

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

function findFailure(code: string, message: string): Explanation | undefined {
  const cause = causes[code]?.find(([pattern]) => pattern.test(message))
  return cause?.[1] ?? findErrorCode(Number.parseInt(code, 10))?.[1] ?? ownCodes[code]
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

import { connectFacts } from '../../../contracts/facts/connect.ts'
import { type Fact, inEnglish, type Sentence } from '../../../contracts/facts/fact.ts'
import { findings } from '../../../contracts/facts/findings.ts'
import { isThrottling, isUnknownObject } from '../../whatsapp/error-codes.ts'
import type { ReadOutcome, WhatsAppError } from '../../whatsapp/read-outcome.ts'
import { readRejection } from '../inactive-reason.ts'

/** Explains why WhatsApp rejected a step of the setup, and how to fix it. */
export interface Advice {
  message: Fact
  fix: Fact
}

type Failed = Extract<ReadOutcome<unknown>, { ok: false }>
type Explanation = Record<'message' | 'fix', () => Fact>

const { newToken, permissions, wait, requestReview } = connectFacts

const tokenRejected: Explanation = { message: connectFacts.tokenRejected, fix: newToken }
const permissionMissing: Explanation = { message: connectFacts.permissionMissing, fix: permissions }
const throttled: Explanation = { message: connectFacts.throttled, fix: wait }

/** By Meta's error code: reference, section 2.2, and Meta's reference of the register edge. */
const explanations: Readonly<Record<number, Explanation>> = {
  0: tokenRejected,
  190: tokenRejected,
  3: permissionMissing,
  10: permissionMissing,
  200: permissionMissing,
  131005: permissionMissing,
  33: connectFacts.unknownId,
  368: { message: connectFacts.restricted, fix: requestReview },
  2200: connectFacts.callbackRejected,
  131031: { message: connectFacts.locked, fix: requestReview },
  133005: connectFacts.wrongPin,
  133006: connectFacts.verifyAgain,
  133008: connectFacts.pinLocked,
  133009: { message: connectFacts.pinsTooFast, fix: wait },
  133015: { message: connectFacts.justDeleted, fix: wait },
  133016: connectFacts.registeredTooOften,
}

function explanationOf(code: number): Explanation | undefined {
  return explanations[code] ?? (isThrottling(code) ? throttled : undefined)
}

/** Says in one sentence what WhatsApp rejected, in its words and with its code. */
export function describeRejection(reason: Sentence): Fact {
  const rejection = readRejection(reason)
  if (!rejection) return findings.rejected({ reason: typeof reason === 'string' ? withoutDot(reason) : reason })
  const { code } = rejection
  const said = withoutDot(rejection.text)
  const explanation = explanationOf(code)
  const what =
    explanation === tokenRejected
      ? findings.tokenRejected
      : explanation === permissionMissing
        ? findings.permissionRejected
        : findings.rejected
  return what({ reason: said === '' ? findings.error({ code }) : findings.errorText({ text: said, code }) })
}

/** The token is never part of the text, because the client removes it from errors. */
export function explainReadFailure(failed: Failed): Advice {
  const { error, refused, reason, subcode } = failed
  const { unreachable, said, explained } = connectFacts
  if (!refused || !error) return { message: unreachable.message({ reason }), fix: unreachable.fix() }
  const text = error.details === undefined ? error.title : `${withoutDot(error.title)}: ${error.details}`
  const known = explanationOf(error.code > 200 && error.code <= 299 ? 200 : error.code)
  const explanation = known ?? (isUnknown(error, subcode) ? explanations[33] : undefined)
  const quote = said.message({ code: error.code, text: withoutDot(text) })
  if (!explanation) return { message: quote, fix: said.fix() }
  return { message: explained({ explanation: explanation.message(), quote }), fix: explanation.fix() }
}

/** For the words of WhatsApp, before a full stop of ours. */
export function withoutDot(text: string): string {
  return text.replace(/\.$/, '')
}

/** Meta may leave out the subcode. Then only the text, which may be in another language, identifies the problem. */
function isUnknown({ code, title }: WhatsAppError, subcode: number | undefined): boolean {
  if (subcode === undefined) return code === 100 && title.includes('does not exist')
  return isUnknownObject(code, subcode)
}

export const wrongAppSecret: Advice = {
  message: connectFacts.wrongAppSecret.message(),
  fix: connectFacts.wrongAppSecret.fix(),
}

/** A problem that was stored, as one sentence: a text of the version before has no facts. */
export function describeProblem(stored: Advice | string): Sentence {
  return typeof stored === 'string' ? stored : connectFacts.advised({ ...stored })
}

/** Also if the version before has stored it. */
export function isWrongAppSecret(stored: Advice | string | undefined): boolean {
  return typeof stored === 'string'
    ? stored === describeAdvice(wrongAppSecret)
    : stored?.message.code === wrongAppSecret.message.code
}

/** WhatsApp rejects an app token whose secret belongs to another app. */
export function explainCallbackFailure(failed: Failed): Advice {
  return failed.error?.code === 190 ? wrongAppSecret : explainReadFailure(failed)
}

/** Returns the message and the fix in one English text. */
export function describeAdvice({ message, fix }: { message: Sentence; fix?: Sentence | undefined }): string {
  return fix === undefined ? inEnglish(message) : `${inEnglish(message)} ${inEnglish(fix)}`
}

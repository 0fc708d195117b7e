import { type Fact, inEnglish, type Sentence } from '../../contracts/facts/fact.ts'
import { inactiveReasons } from '../../contracts/facts/findings.ts'
import { readFactColumn, toFactColumn } from '../platform/db/columns.ts'
import type { WhatsAppError } from '../whatsapp/read-outcome.ts'

interface ReasonColumns {
  inactiveReason: string | null
  inactiveFact: string | null
}

/** Null: WhatsApp does not reject the account. */
export function toReasonColumns(reason: Fact | null): ReasonColumns {
  return { inactiveReason: reason && inEnglish(reason), inactiveFact: toFactColumn(reason) }
}

/** Null if WhatsApp does not reject the account. */
export function readInactiveReason(row: ReasonColumns): Sentence | null {
  const reason = readFactColumn(row.inactiveReason, row.inactiveFact)
  return typeof reason === 'string' ? readEarlierReason(reason) : reason
}

/** Why an account is inactive whose token WhatsApp rejected with this error. */
export function rejectedWith({ code, title, details }: WhatsAppError): Fact {
  return inactiveReasons.rejected({ code, text: details ?? title })
}

const { code: rejectedCode } = inactiveReasons.rejected({ code: 0, text: '' })

/** What the version before stores, without a fact, if WhatsApp rejects a token. */
const earlierRejected = /^WhatsApp (?:rejected it \((\d+)\): (.*)|returned error code (\d+))$/s

/** The error of WhatsApp in a reason; undefined if it is another reason. */
export function readRejection(reason: Sentence): { code: number; text: string } | undefined {
  if (typeof reason === 'string') {
    const [, code, text = '', codeAlone] = earlierRejected.exec(reason) ?? []
    const known = code ?? codeAlone
    return known === undefined ? undefined : { code: Number(known), text }
  }
  const { code, text } = reason.params ?? {}
  return reason.code === rejectedCode ? { code: Number(code), text: typeof text === 'string' ? text : '' } : undefined
}

/** A deactivation for this reason ends when WhatsApp reinstates the business account. */
export const { code: disabledCode } = inactiveReasons.disabled({ event: '' })

/**
 * The beginning of what the version before stores, without a fact, if WhatsApp disables a business account. Its deactivation
 * must end too.
 */
export const earlierDisabled = 'WhatsApp disabled the business account ('

function readEarlierReason(text: string): Sentence {
  if (!text.startsWith(earlierDisabled)) return text
  return inactiveReasons.disabled({ event: text.slice(earlierDisabled.length, -1) })
}

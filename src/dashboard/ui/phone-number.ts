import { toInternational } from '../../../contracts/phone-number.ts'

/** Full-width forms of ASCII, which keyboards of East Asia write. */
const fullWidth = /[\uff01-\uff5e]/g
/** Marks of direction and joining, which contacts put around a number. They are invisible. */
const invisible = /\p{Cf}/gu

/**
 * Digits that do not belong to the number as it is dialled from abroad, so that removing the punctuation would make another
 * number: `(0)`, a group in brackets or a single digit at the end, and two numbers with a slash.
 */
const otherDigits = /\(0+\)|\(\d*\)$|[\s.\p{Pd}/(]\d$|(?:\d[\s.\p{Pd}]*){7}\/\s*(?:\d[\s.\p{Pd}]*){7}/u

/**
 * Removes plus signs, spaces, brackets and hyphens, because the API only accepts digits. A number that a spreadsheet
 * exported as a float (`34600111222.0`) loses its fraction. Text that could mean another number stays as it is, so that it
 * is rejected.
 */
export function withoutPunctuation(number: string): string {
  const text = number
    .replaceAll(fullWidth, (character) => String.fromCharCode(character.charCodeAt(0) - 0xfee0))
    .replaceAll(invisible, '')
    .trim()
  const [, whole, fraction] = /^\+?(\d{7,15})\.(\d*)$/.exec(text) ?? []
  if (whole !== undefined && fraction !== undefined) return /^0{0,3}$/.test(fraction) ? whole : number
  return otherDigits.test(text) ? number : text.replaceAll(/^\+|[\s().\p{Pd}/]/gu, '')
}

/** The calling codes of one or two digits; all others have three (ITU-T E.164, list of assigned country codes). */
const callingCode = /^(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/

/**
 * The number that a person probably means who leaves out the country code: one of the country of their own number, if it has
 * as many digits as that. A `0` in front, which many countries dial at home, does not belong to it.
 */
export function suggestNumber(typed: string, own: string | undefined): string | undefined {
  if (own === undefined || /^\s*(?:\+|00)/.test(typed)) return undefined
  const digits = withoutPunctuation(typed).replace(/^0/, '')
  const all = own.replaceAll(/\D/g, '')
  const [code = ''] = callingCode.exec(all) ?? []
  return /^\d+$/.test(digits) && digits.length === all.length - code.length ? `+${code}${digits}` : undefined
}

/** The name of a number that sends: its ID as long as WhatsApp has not reported the number. */
export function nameNumber({
  displayPhoneNumber,
  phoneNumberId,
}: {
  displayPhoneNumber?: string | undefined
  phoneNumberId: string
}): string {
  return displayPhoneNumber === undefined ? phoneNumberId : toInternational(displayPhoneNumber)
}

/** A number gets its plus sign; a user ID, and the word for an erased recipient, stay as they are. */
export function showRecipient(to: string): string {
  return /^\d/.test(to) ? `+${to}` : to
}

/** The field in which the API takes a number or a user ID. */
export function toRecipientField(recipient: string): { to: string } | { recipient: string } {
  return recipient.includes('.') ? { recipient } : { to: recipient }
}

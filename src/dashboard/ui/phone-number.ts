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

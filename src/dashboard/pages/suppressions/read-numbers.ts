import { PhoneNumber } from '../../../../contracts/fields.ts'
import { withoutPunctuation } from '../../ui/phone-number.ts'

/**
 * Parses a pasted list of numbers: one per line, or separated by commas, semicolons or spaces. Numbers may be formatted,
 * such as `+34 600 111 222`. Spaces separate numbers only if each part is a number by itself.
 */
export function readNumbers(text: string): { numbers: string[]; malformed: string | undefined } {
  const pieces = text
    .split(/[\n,;]+|\s(?=\p{Cf}*[+\uff0b])/u)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '')
  const read = pieces.flatMap((piece) => {
    const parts = piece.split(/\s+/)
    return parts.every(isNumber) ? parts : [piece]
  })
  return { numbers: read.map(withoutPunctuation), malformed: read.find((piece) => !isNumber(piece)) }
}

function isNumber(text: string): boolean {
  return PhoneNumber.safeParse(withoutPunctuation(text)).success
}

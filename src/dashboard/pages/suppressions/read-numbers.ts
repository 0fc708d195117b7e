import { ImportedRecipient } from '../../../../contracts/fields.ts'
import { withoutPunctuation } from '../../ui/phone-number.ts'

/**
 * Parses a pasted list of numbers, or of the user IDs that people have instead: one per line, or separated by commas,
 * semicolons or spaces. Numbers may be formatted, such as `+34 600 111 222`. Spaces separate them only if each part is a
 * recipient by itself.
 */
export function readNumbers(text: string): { numbers: string[]; malformed: string | undefined } {
  const pieces = text
    .split(/[\n,;]+|\s(?=\p{Cf}*[+\uff0b])/u)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '')
  const read = pieces.flatMap((piece) => {
    const parts = piece.split(/\s+/)
    return parts.every(isRecipient) ? parts : [piece]
  })
  return { numbers: read.map(toRecipient), malformed: read.find((piece) => !isRecipient(piece)) }
}

function isRecipient(text: string): boolean {
  return ImportedRecipient.safeParse(toRecipient(text)).success
}

/** A user ID has a dot, which belongs to it. */
export function toRecipient(text: string): string {
  return ImportedRecipient.safeParse(text).success ? text : withoutPunctuation(text)
}

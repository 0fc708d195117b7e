import { optInWords, optOutWords } from '../../../contracts/opt-out-words.ts'
import type { UserReply } from '../../whatsapp/callbacks/read-reply.ts'

const choices = new Map<string, 'out' | 'in'>([
  ...Object.values(optOutWords).flatMap((words) => words.map((word) => [word, 'out'] as const)),
  ...Object.values(optInWords).flatMap((words) => words.map((word) => [word, 'in'] as const)),
])

/** No keyword is longer, so longer texts are skipped. */
const maxCharacters = 40

/**
 * Returns the opt-out or opt-in of a reply; undefined if it is neither. Flows are ignored, because they contain form answers; so are
 * shared numbers.
 */
export function readChoice({ kind, text, payload }: Pick<UserReply, 'kind' | 'text' | 'payload'>) {
  if (kind === 'flow' || kind === 'contact') return undefined
  return findChoice(text) ?? (kind === 'button' ? findChoice(payload) : undefined)
}

function findChoice(text: string | undefined): 'out' | 'in' | undefined {
  if (text === undefined || text.length > maxCharacters) return undefined
  // Keyboards capitalize the first letter, and some people end with a full stop.
  return choices.get(
    text
      .normalize('NFC')
      .trim()
      .toLowerCase()
      .replace(/[.!]+$/, ''),
  )
}

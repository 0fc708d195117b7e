import { type Fact, inEnglish, type Sentence } from '../../../contracts/facts/fact.ts'

/**
 * The column of a fact, beside that of its English text, which the version before reads and writes. Null for the words of
 * somebody else, which are only text.
 */
export function toFactColumn(sentence: Sentence | null): string | null {
  if (sentence === null || typeof sentence === 'string') return null
  return JSON.stringify({ ...sentence, english: inEnglish(sentence) })
}

/** The fact, or the text alone if it is in the words of somebody else or if the version before has stored it. */
export function readFactColumn(text: string | null, stored: string | null): Sentence | null {
  if (text === null || stored === null) return text
  // Written by `toFactColumn`.
  const { english, ...fact } = JSON.parse(stored) as Fact & { english: string }
  return english === text ? fact : text
}

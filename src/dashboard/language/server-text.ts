import type { MessageDescriptor } from '@lingui/core'
import { translate } from './i18n.ts'

interface Pattern {
  text: MessageDescriptor
  regex: RegExp
  names: string[]
}

let exact: ReadonlyMap<string, MessageDescriptor> = new Map()
let patterns: readonly Pattern[] = []

/** What the server says in English: known once a language other than English is shown. */
export function loadServerTexts(texts: readonly MessageDescriptor[]): void {
  const read = texts.map(toPattern)
  exact = new Map(read.flatMap(({ text, names, english }) => (names.length === 0 ? [[english, text] as const] : [])))
  // The longest first: it says the most about a sentence.
  patterns = read.filter(({ names }) => names.length > 0).toSorted((a, b) => b.fixed - a.fixed)
}

/** The server's own texts are shorter. Matching takes longer than linear time, and values can come from anybody. */
const maxTranslatedLength = 1_000

/**
 * A sentence of the server in the language of the reader: an error, a finding, advice. The values in it are translated too,
 * if they are known. What nobody translated, such as a message of Meta, is shown as it came.
 */
export function translateServerText(english: string): string {
  const known = exact.get(english)
  if (known) return translate(known)
  if (english.length > maxTranslatedLength) return english
  for (const { text, regex, names } of patterns) {
    const match = regex.exec(english)
    if (!match) continue
    const values = names.map((name, index) => [name, translateServerText(match[index + 1] ?? '')])
    return translate({ ...text, values: Object.fromEntries(values) as Record<string, string> })
  }
  return english
}

/** Compiled, a message is its parts: texts, and arguments in lists. */
type Part = string | [name: string]

function toPattern(text: MessageDescriptor): Pattern & { english: string; fixed: number } {
  // `translate-dashboard.ts` compiles messages, which their type does not know.
  const { message } = text as { message?: unknown }
  const parts = [message].flat() as Part[]
  const fixed = parts.filter((part) => typeof part === 'string')
  const source = parts.map((part) => (typeof part === 'string' ? escapeRegExp(part) : '(.+?)')).join('')
  return {
    text,
    english: fixed.join(''),
    fixed: fixed.join('').length,
    regex: new RegExp(`^${source}$`, 's'),
    names: parts.flatMap((part) => (typeof part === 'string' ? [] : [part[0]])),
  }
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}

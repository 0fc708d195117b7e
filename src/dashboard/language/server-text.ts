import type { MessageDescriptor } from '@lingui/core'
import { i18n, translate } from './i18n.ts'

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
  return findTranslation(english) ?? english
}

function findTranslation(english: string): string | undefined {
  const known = exact.get(english)
  if (known) return translate(known)
  if (english.length > maxTranslatedLength) return undefined
  for (const { text, regex, names } of patterns) {
    const match = regex.exec(english)
    if (!match) continue
    const values = names.map((name, index) => [name, translateValue(match[index + 1] ?? '')])
    return translate({ ...text, values: Object.fromEntries(values) as Record<string, string> })
  }
  return undefined
}

/** A value can be a list, such as the fields that a member changed. It is one if each of its parts is known. */
function translateValue(english: string): string {
  const parts = english.split(/, and | and |, /)
  const translated = parts.length < 2 ? [] : parts.flatMap((part) => findTranslation(part) ?? [])
  if (translated.length < parts.length || translated.length === 0) return translateServerText(english)
  return new Intl.ListFormat(i18n.locale).format(translated)
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

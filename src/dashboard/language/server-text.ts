import type { MessageDescriptor } from '@lingui/core'
import { i18n, translate } from './i18n.ts'

interface Pattern {
  text: MessageDescriptor
  regex: RegExp
  names: string[]
}

let exact: ReadonlyMap<string, MessageDescriptor> = new Map()
let patterns: readonly Pattern[] = []

/** Sets the server's English texts and their translations; called when a language other than English is shown. */
export function loadServerTexts(texts: readonly MessageDescriptor[]): void {
  const read = texts.map(toPattern)
  exact = new Map(read.flatMap(({ text, names, english }) => (names.length === 0 ? [[english, text] as const] : [])))
  // Longest first, because the most specific pattern must match first.
  patterns = read.filter(({ names }) => names.length > 0).toSorted((a, b) => b.fixed - a.fixed)
}

/** The server's own texts are shorter. Matching is slower than linear, and values can come from anyone. */
const maxTranslatedLength = 1_000

/**
 * Translates a text from the server, such as an error, a finding or advice, including known values in it. Texts without a
 * translation, such as messages from Meta, are returned unchanged.
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

/** A value can be a list, such as the fields that a member changed. It counts as one if each part has a translation. */
function translateValue(english: string): string {
  const parts = english.split(/, and | and |, /)
  const translated = parts.length < 2 ? [] : parts.flatMap((part) => findTranslation(part) ?? [])
  if (translated.length < parts.length || translated.length === 0) return translateServerText(english)
  return new Intl.ListFormat(i18n.locale).format(translated)
}

/** A part of a compiled message: text, or an argument in an array. */
type Part = string | [name: string]

function toPattern(text: MessageDescriptor): Pattern & { english: string; fixed: number } {
  // Messages are compiled by `translate-dashboard.ts`, which their type does not reflect.
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

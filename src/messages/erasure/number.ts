import { erasedRecipient } from '../../../contracts/fields.ts'
import { isUserId } from '../recipients/plan-identities.ts'

/** Finds a person's numbers and user IDs in stored text and removes them. */
export interface NumberMatcher {
  /** A PostgreSQL regular expression that matches at least every text that `erase` changes. */
  pattern: string
  /** Returns the text without them; the same text if it contains none. */
  erase(text: string): string
}

/** What people write between the digits of a number. */
const separators = String.raw`[\s.()/\-\u2010-\u2015]{0,3}`
/** Digits before the number belong to another number, unless they end an escape sequence of a URL or of JSON. */
const start = String.raw`(?:(?<!\d)|(?<=%[\dA-Fa-f]{2})|(?<=\\u[\dA-Fa-f]{4}))(?:\+|00)?`
const wamids = /wamid\.[\w+/=-]+/g
/** JSON of this size or more is not parsed: our own payloads have a few kilobytes. */
const maxJsonLength = 1_000_000

/**
 * Matches a number (digits only) with and without `+` or `00`, with spaces and hyphens between its digits, and inside
 * wamids, which contain it in base64. A longer number that contains these digits is another number.
 */
export function matchNumber(number: string): NumberMatcher {
  const written = new RegExp(start + [...number].join(separators) + String.raw`(?!\d)`, 'g')
  const inWamid = new RegExp(String.raw`(?<!\d)${number}(?!\d)`)
  const replace = (text: string) =>
    text.replace(wamids, (wamid) => (inWamid.test(decodeWamid(wamid)) ? '' : wamid)).replace(written, erasedRecipient)
  return {
    pattern: [[...number].join('[^0-9A-Za-z]{0,3}'), `wamid[.].*(${encodings(number).join('|')})`].join('|'),
    erase: (text) => {
      const replaced = replace(text)
      if (replaced === text || isJson(replaced) || !isJson(text)) return replaced
      // The number was a JSON number, without quotes.
      return JSON.stringify(replaceIn(JSON.parse(text), replace))
    },
  }
}

/** Matches a user ID. The same characters within a longer ID are another one. */
function matchUserId(userId: string): NumberMatcher {
  const quoted = userId.replaceAll('.', '[.]')
  const written = new RegExp(String.raw`(?<![\w.])${quoted}(?!\w)`, 'g')
  return { pattern: quoted, erase: (text) => text.replace(written, erasedRecipient) }
}

/** Matches any of several numbers and user IDs. */
export function matchNames(names: readonly string[]): NumberMatcher {
  const matchers = names.map((name) => (isUserId(name) ? matchUserId(name) : matchNumber(name)))
  return {
    pattern: matchers.map(({ pattern }) => pattern).join('|'),
    erase: (text) => matchers.reduce((rest, matcher) => matcher.erase(rest), text),
  }
}

/** Removes every wamid from a text about one message, because a wamid contains its recipient. */
export function eraseWamids(text: string): string {
  return text.replace(wamids, '')
}

function decodeWamid(wamid: string): string {
  return Buffer.from(wamid.slice('wamid.'.length), 'base64').toString('latin1')
}

/** The base64 text of the number at its three possible offsets, without the characters that also encode other bytes. */
function encodings(number: string): string[] {
  return [0, 1, 2].map((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(number)])
    const first = Math.ceil((offset * 8) / 6)
    const last = Math.floor((bytes.length * 8) / 6)
    return bytes.toString('base64').slice(first, last)
  })
}

function isJson(text: string): boolean {
  if (text.length > maxJsonLength || !/^\s*[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function replaceIn(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value)
  if (typeof value === 'number') {
    const text = String(value)
    return replace(text) === text ? value : erasedRecipient
  }
  if (Array.isArray(value)) return value.map((item) => replaceIn(item, replace))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [replace(key), replaceIn(item, replace)]))
}

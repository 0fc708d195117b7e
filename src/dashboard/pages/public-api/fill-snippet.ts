/** Fills the guide's examples, in each language, with a request of the account. */

export interface Snippet {
  /** The name of its tab, such as `TypeScript`. */
  label: string
  /** The language of its code block, such as `ts`. */
  language: string
  code: string
}

type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** The URL of the server in the guide, which has WAYBILL_PUBLIC_URL. */
const guideUrl = /https?:\/\/[^\s'"]+?(?=\/api\/v1\/)/g
/** The idempotency key in the guides. */
const guideKey = 'order-1042-shipped'

/** Returns the snippets of a guide that send a message, each below its label. */
export function readSnippets(markdown: string): Snippet[] {
  return [...markdown.matchAll(/^\*\*(.+?)\*\*\n+```(\w+) run=send\n(.*?)^```$/gms)].map(
    ([, label = '', language = '', code = '']) => ({ label, language, code: code.trimEnd() }),
  )
}

interface Filling {
  /** URL of the server. */
  url: string
  request: object
}

/** Derives a key from the request, so that a repeated call sends nothing twice, and another request has another key. */
function deriveKey(request: string): string {
  // FNV-1a: short, and the same in every browser.
  let hash = 0x811c9dc5
  for (const character of request) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return `example-${(hash >>> 0).toString(16).padStart(8, '0')}`
}

/** Replaces the URL, the request and its idempotency key in a snippet. */
export function fillSnippet({ language, code }: Snippet, { url, request }: Filling): string {
  const write = writers[language]
  if (!write) throw new Error(`no way to write a request in ${language}`)
  const json = JSON.stringify(request)
  const lines = code.replaceAll(guideKey, deriveKey(json)).split('\n')
  const first = lines.findIndex((line) => fieldPattern('to').test(line))
  const last = lines.findLastIndex((line) => fieldPattern('externalId').test(line))
  if (first < 0 || last < first) throw new Error(`no request in the snippet in ${language}`)
  const [indentation = ''] = /^\s*/.exec(lines[first] ?? '') ?? []
  // The JSON round trip removes undefined values.
  const entries = Object.entries(JSON.parse(json) as Record<string, Json>)
  const fields = write(entries).map((line) => indentation + line)
  return [...lines.slice(0, first), ...fields, ...lines.slice(last + 1)].join('\n').replaceAll(guideUrl, url)
}

function fieldPattern(name: string): RegExp {
  return new RegExp(`^\\s*["']?${name}["']?\\s*(:|=>)`)
}

/** Formats the fields of a request, one per line. */
type Writer = (fields: readonly [string, Json][]) => string[]

const writers: Partial<Record<string, Writer>> = {
  // In single quotes, a shell takes every character literally except the quote itself (POSIX, 2.2.2).
  sh: (fields) => writeJson(fields).map((line) => line.replaceAll("'", `'\\''`)),
  ts: (fields) => fields.map(([name, value]) => `${toTypeScriptKey(name)}: ${toTypeScript(value)},`),
  python: (fields) => fields.map(([name, value]) => `${JSON.stringify(name)}: ${toPython(value)},`),
  go: (fields) => {
    const width = Math.max(...fields.map(([name]) => name.length)) + '"":'.length
    return fields.map(([name, value]) => `${`${JSON.stringify(name)}:`.padEnd(width)} ${toGo(value)},`)
  },
  // A text block reads escapes before JSON does (JLS, 3.10.6).
  java: (fields) => writeJson(fields).map((line) => line.replaceAll('\\', '\\\\')),
  php: (fields) => fields.map(([name, value]) => `${quoteSingly(name)} => ${toPhp(value)},`),
}

function writeJson(fields: readonly [string, Json][]): string[] {
  return fields.map(
    ([name, value], index) => `${JSON.stringify(name)}: ${toJson(value)}${index === fields.length - 1 ? '' : ','}`,
  )
}

interface Syntax {
  text: (value: string) => string
  literal: (value: number | boolean | null) => string
  list: (items: string[]) => string
  object: (entries: [string, string][], isText: boolean) => string
}

function writeWith(syntax: Syntax): (value: Json) => string {
  const write = (value: Json): string => {
    if (typeof value === 'string') return syntax.text(value)
    if (Array.isArray(value)) return syntax.list(value.map(write))
    if (typeof value !== 'object' || value === null) return syntax.literal(value)
    const entries = Object.entries(value)
    const isText = entries.every(([, inner]) => typeof inner === 'string')
    return syntax.object(
      entries.map(([name, inner]) => [name, write(inner)]),
      isText,
    )
  }
  return write
}

const bracketed = (items: string[]) => `[${items.join(', ')}]`

const toJson = writeWith({
  text: (value) => JSON.stringify(value),
  literal: String,
  list: bracketed,
  object: (entries) => `{${entries.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(', ')}}`,
})

const toTypeScript = writeWith({
  text: quoteForTypeScript,
  literal: String,
  list: bracketed,
  object: (entries) => `{ ${entries.map(([name, value]) => `${toTypeScriptKey(name)}: ${value}`).join(', ')} }`,
})

const toPython = writeWith({
  text: (value) => JSON.stringify(value),
  literal: (value) => (value === null ? 'None' : value === true ? 'True' : value === false ? 'False' : String(value)),
  list: bracketed,
  object: (entries) => `{${entries.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(', ')}}`,
})

const toGo = writeWith({
  text: (value) => JSON.stringify(value),
  literal: (value) => (value === null ? 'nil' : String(value)),
  list: (items) => `[]any{${items.join(', ')}}`,
  object: (entries, isText) =>
    `map[string]${isText ? 'string' : 'any'}{${entries.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(', ')}}`,
})

const toPhp = writeWith({
  text: quoteSingly,
  literal: String,
  list: bracketed,
  object: (entries) => `[${entries.map(([name, value]) => `${quoteSingly(name)} => ${value}`).join(', ')}]`,
})

function toTypeScriptKey(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : quoteForTypeScript(name)
}

function quoteForTypeScript(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')
  return `'${inner.replaceAll("'", "\\'")}'`
}

/** In single quotes, PHP only supports two escape sequences. */
function quoteSingly(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

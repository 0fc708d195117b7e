import { isUtf8 } from 'node:buffer'
import { z } from 'zod'
import { formatPath, ServiceError } from '../../../contracts/errors.ts'
import type { Sentence } from '../../../contracts/facts/fact.ts'
import { problems, readProblem } from '../../../contracts/facts/problems.ts'
import { unwrapSchema } from '../../../contracts/fields.ts'
import { cut } from '../../platform/text.ts'
import { rejectUnstorable } from './plain-text.ts'

/** A parser may ignore it (RFC 8259, 8.1). */
const byteOrderMark = '\uFEFF'

interface BodyHeaders {
  contentType: string | undefined
  contentEncoding: string | undefined
}

/** Parses a JSON request body (RFC 8259). Errors give the position of a syntax error, never the text around it. */
export function parseJsonBody(body: unknown, headers: BodyHeaders): unknown {
  assertPlainJson(headers)
  if (!Buffer.isBuffer(body) || body.length === 0)
    throw new ServiceError('VALIDATION_ERROR', 'The request body is empty: it must be a JSON object.')
  return parse(decode(body))
}

/** Returns the text of a JSON request body, which can be empty and may be malformed. */
export function decodeJsonBody(body: Buffer, headers: BodyHeaders): string {
  assertPlainJson(headers)
  return decode(body)
}

function assertPlainJson({ contentType, contentEncoding }: BodyHeaders): void {
  if (!isJson(contentType))
    throw new ServiceError(
      'UNSUPPORTED_MEDIA_TYPE',
      'The request body must be JSON in UTF-8: send the header Content-Type: application/json.',
    )
  rejectCompressed(contentEncoding)
}

/** The names of content codings are case-insensitive (RFC 9110, 8.4.1). */
export function rejectCompressed(contentEncoding = 'identity'): void {
  if (contentEncoding.toLowerCase() !== 'identity')
    throw new ServiceError(
      'UNSUPPORTED_MEDIA_TYPE',
      'The request body must not be compressed: send it without Content-Encoding.',
    )
}

function isJson(contentType: string | undefined): boolean {
  // Fast path: most callers send exactly this.
  if (contentType === 'application/json') return true
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '')
  return type === 'application/json' && (charset === undefined || charset === 'utf-8' || charset === 'utf8')
}

function decode(body: Buffer): string {
  if (!isUtf8(body)) throw new ServiceError('VALIDATION_ERROR', 'The request body is not valid UTF-8.')
  const text = body.toString('utf8')
  return text.startsWith(byteOrderMark) ? text.slice(1) : text
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const position = error instanceof Error ? findErrorPosition(error.message) : undefined
    throw new ServiceError(
      'VALIDATION_ERROR',
      `The request body is not valid JSON${position === undefined ? '' : `: syntax error at ${position}`}.`,
    )
  }
}

/** Undefined for the errors in which V8 quotes the surrounding text instead of giving a position. */
function findErrorPosition(message: string): string | undefined {
  if (message.startsWith('Unexpected end')) return 'the end'
  const position = /at position (\d+)/.exec(message)?.[1]
  return position === undefined ? undefined : `character ${position}`
}

type Issue = z.core.$ZodIssue

const maxIssues = 5
/** Inputs with fewer values are parsed as they are. */
const fewValues = 64
/** More than a template can have variables. */
const maxEntries = 512

/** Parses with a contract's schema; throws a VALIDATION_ERROR that names each field and its fix. */
export function parseInput<Schema extends z.ZodObject>(schema: Schema, raw: unknown): z.output<Schema> {
  const isSmall = hasFewValues(raw)
  const quick = isSmall ? withGivenFields(schema, raw)?.safeParse(raw) : undefined
  if (quick?.success === true) {
    rejectUnstorable(raw)
    // Without the optional fields that are absent, the schema has the same output.
    return quick.data as z.output<Schema>
  }
  const result = schema.safeParse(isSmall ? raw : dropExcess(schema, raw), withOwnMessages)
  if (result.success) {
    rejectUnstorable(raw)
    return result.data
  }
  const { issues } = result.error
  throw new ServiceError('VALIDATION_ERROR', describeIssues(issues, schema), { fields: describeFields(issues) })
}

interface Narrowed {
  /** In the order of the request. */
  names: string[]
  schema: z.ZodObject
}

const narrowed = new WeakMap<z.ZodObject, Narrowed[]>()
/** Of one schema. The first sets of fields that are sent are likely those that are sent often. */
const maxNarrowed = 4

/**
 * The schema with only the given fields; undefined for rarer sets of fields, and if others are missing. zod allocates 100
 * bytes for each field, absent or not, and most requests have few of those that are possible.
 */
function withGivenFields(schema: z.ZodObject, raw: unknown): z.ZodObject | undefined {
  if (typeof raw !== 'object' || raw === null) return undefined
  const names = Object.keys(raw)
  const known = narrowed.get(schema) ?? []
  for (const { names: others, schema: narrow } of known) if (isSameList(others, names)) return narrow
  if (known.length === maxNarrowed) return undefined
  const fields = Object.entries<z.core.$ZodType>(schema.shape)
  const given = fields.filter(([name]) => names.includes(name))
  if (given.length < names.length || !fields.every(([name, field]) => names.includes(name) || isOptional(field)))
    return undefined
  const narrow = schema.clone({ ...schema.def, shape: Object.fromEntries(given) })
  narrowed.set(schema, [...known, { names, schema: narrow }])
  return narrow
}

/** Whether the output lacks the field if the input does. */
function isOptional(field: z.core.$ZodType): boolean {
  return field instanceof z.ZodOptional && field.def.innerType._zod.optin === undefined
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}

function hasFewValues(raw: unknown): boolean {
  return countDown(raw, fewValues) >= 0
}

/** Stops early, whatever the depth. */
function countDown(value: unknown, from: number): number {
  if (typeof value !== 'object' || value === null) return from
  const items: unknown[] = Object.values(value)
  let left = from - items.length
  for (let index = 0; index < items.length && left >= 0; index++) left = countDown(items[index], left)
  return left
}

/**
 * Removes what the schema rejects in any case: all but the first unknown fields of an object, and the items of a list
 * beyond one too many. zod would report each of them, which takes milliseconds for thousands. Records have no maximum in
 * the schema, so those with too many entries are rejected here.
 */
export function dropExcess(schema: unknown, raw: unknown, path: PropertyKey[] = []): unknown {
  const inner = unwrapSchema(schema)
  if (typeof raw !== 'object' || raw === null) return raw
  if (inner instanceof z.ZodArray) {
    if (!Array.isArray(raw)) return raw
    return raw.slice(0, maximumOf(inner) + 1).map((item, index) => dropExcess(inner.element, item, [...path, index]))
  }
  if (Array.isArray(raw)) return raw
  if (inner instanceof z.ZodObject) return dropExcessFields(inner, raw, path)
  if (inner instanceof z.ZodRecord && !(inner.valueType instanceof z.ZodUnknown)) assertFewEntries(raw, path)
  return raw
}

/** The most items that a list may have; Infinity if its schema names no maximum. */
export function maximumOf({ def }: z.ZodArray): number {
  const check = def.checks?.find((check) => check instanceof z.core.$ZodCheckMaxLength)
  return check?._zod.def.maximum ?? Infinity
}

function dropExcessFields({ shape, def }: z.ZodObject, raw: object, path: PropertyKey[]): object {
  // The values of a loose object may have any name.
  let left = def.catchall instanceof z.ZodUnknown ? Infinity : maxIssues + 1
  const kept: [string, unknown][] = []
  for (const [name, value] of Object.entries(raw)) {
    if (Object.hasOwn(shape, name)) kept.push([name, dropExcess(shape[name], value, [...path, name])])
    else if (left-- > 0) kept.push([name, value])
  }
  return Object.fromEntries(kept)
}

function assertFewEntries(record: object, path: PropertyKey[]): void {
  if (Object.keys(record).length <= maxEntries) return
  const problem = problems.atMostEntries({ max: maxEntries })
  const fields = { [path.map(String).join('.').toWellFormed()]: readProblem(problem) }
  throw new ServiceError('VALIDATION_ERROR', `${formatPath(path).toWellFormed()}: ${problem}.`, { fields })
}

/** The problem of each field, by dotted name, for a form. */
function describeFields(issues: Issue[]): Record<string, Sentence> {
  const fields = new Map<string, Sentence>()
  for (const { path, message } of issues) {
    const name = path.map(String).join('.').toWellFormed()
    // If a field has several problems, only the first is reported.
    if (name !== '' && !fields.has(name)) fields.set(name, readProblem(message))
  }
  return Object.fromEntries(fields)
}

/** One sentence per field. A value is never repeated: it may be a phone number. */
function describeIssues(issues: Issue[], schema: z.ZodObject): string {
  const sentences = [...new Set(issues.map((issue) => describeIssue(issue, schema)))]
  const more = sentences.length > maxIssues ? ` And ${sentences.length - maxIssues} more.` : ''
  return sentences.slice(0, maxIssues).join(' ') + more
}

function describeIssue(issue: Issue, schema: z.ZodObject): string {
  const field = cut(formatPath(issue.path), 80)
  if (issue.code === 'unrecognized_keys')
    return describeUnknownFields(issue.keys, { fields: listFields(schema, issue.path), within: field })
  if (field === '') return 'The request must be a JSON object.'
  return `${field}: ${issue.message}.`
}

/** The fields of the object at a path inside the schema. */
function listFields(schema: z.ZodType, path: Issue['path']): string[] {
  let at: unknown = schema
  for (const step of path) {
    at = unwrapSchema(at)
    if (at instanceof z.ZodObject) at = at.shape[String(step)]
    else if (at instanceof z.ZodArray) at = at.element
    else return []
  }
  at = unwrapSchema(at)
  return at instanceof z.ZodObject ? Object.keys(at.shape) : []
}

/** The messages of rules for which the contract has none. */
const withOwnMessages = {
  error: (issue: z.core.$ZodRawIssue): string => {
    if (issue.code === 'invalid_type') return issue.input === undefined ? required : nameType(issue.expected)
    if (issue.code === 'invalid_value' && issue.input === undefined) return required
    if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`
    const said = z.config().localeError?.(issue) ?? 'Invalid input'
    return `is not valid (${(typeof said === 'string' ? said : said.message).toLowerCase()})`
  },
}
const required = problems.required()

const typeProblems: Readonly<Partial<Record<string, string>>> = {
  string: problems.string(),
  number: problems.number(),
  int: problems.wholeNumber(),
  boolean: problems.boolean(),
  array: problems.array(),
  object: problems.object(),
  record: problems.object(),
}

function nameType(expected: string): string {
  return typeProblems[expected] ?? `must be a ${expected}`
}

function describeUnknownFields(unknown: string[], { fields, within }: { fields: string[]; within: string }): string {
  const names = unknown.slice(0, maxIssues).map((name) => JSON.stringify(name.slice(0, 40)))
  const suggestion = unknown.length === 1 ? fields.find((field) => isSimilar(field, unknown[0] ?? '')) : undefined
  const hint = suggestion === undefined ? `known are ${fields.join(', ')}` : `did you mean ${suggestion}?`
  const where = within === '' ? '' : ` in ${within}`
  return `${names.join(', ')}: no such field${where}; ${hint}.`.replace('?.', '?')
}

/** Whether one name is a prefix of the other, ignoring case and separators. */
function isSimilar(field: string, given: string): boolean {
  const a = field.toLowerCase()
  const b = given.toLowerCase().replace(/[^a-z0-9]/g, '')
  return b.length > 2 && (a.startsWith(b) || b.startsWith(a))
}

import { type Fact, inEnglish, type Sentence } from '../../../contracts/facts/fact.ts'
import type { Placeholders } from './statement.ts'

type Scalar = string | number | Date | Uint8Array | null | undefined

/**
 * `word`: text that Waybill generates (IDs, digits, states), which is never empty and needs no quotes in an array
 * literal. `json`: text from `JSON.stringify`. `text`: any other text.
 */
export type ColumnType = 'word' | 'json' | 'text' | 'integer' | 'bigint' | 'float8' | 'timestamptz' | 'bytea'

type TypeFor<Value> = [NonNullable<Value>] extends [string]
  ? 'word' | 'json' | 'text'
  : [NonNullable<Value>] extends [number]
    ? 'integer' | 'bigint' | 'float8'
    : [NonNullable<Value>] extends [Date]
      ? 'timestamptz'
      : [NonNullable<Value>] extends [Uint8Array]
        ? 'bytea'
        : never

/** The column of each field of an item, in the order of the statement. */
export type Columns<Item extends object> = {
  readonly [Field in keyof Item]-?: { readonly name: string; readonly type: TypeFor<Item[Field]> }
}

/** The parameters of a statement for many items: an array literal for each column. */
export type Lists<Item extends object> = { readonly [Field in keyof Item]-?: string }

interface AnyColumn {
  readonly name: string
  readonly type: ColumnType
}
type AnyColumns<Field extends string> = Readonly<Record<Field, AnyColumn>>

/** `account_id, id, …`: for an insert, for `as r (…)`, and, with a table alias, for a select. */
export function namesOf(columns: AnyColumns<string>, alias?: string): string {
  return Object.values(columns)
    .map(({ name }) => (alias === undefined ? name : `${alias}.${name}`))
    .join(', ')
}

/** `account_id as "accountId", …`: rows with the names of the fields. */
export function fieldsOf(columns: AnyColumns<string>, alias: string): string {
  return Object.entries(columns)
    .map(([field, { name }]) => `${alias}.${name} as "${field}"`)
    .join(', ')
}

/** `account_id as "accountId", …`: columns and their aliases, which Kysely also reads, in an SQL text. */
export function selectionOf(columns: readonly string[]): string {
  return columns.map((column) => column.replace(/ as (\w+)$/, ' as "$1"')).join(', ')
}

/** `$1::text, $2::text, …`: the values of one item. */
export function parametersOf<Field extends string>(
  $: Placeholders<Record<NoInfer<Field>, unknown>>,
  columns: AnyColumns<Field>,
): string {
  return entriesOf(columns)
    .map(([field, { type }]) => `${$[field]}::${sqlTypeOf(type)}`)
    .join(', ')
}

/** `$1::text[], $2::text[], …`: the values of many items, for `unnest`. */
export function arraysOf<Field extends string>(
  $: Placeholders<Record<NoInfer<Field>, unknown>>,
  columns: AnyColumns<Field>,
): string {
  return entriesOf(columns)
    .map(([field, { type }]) => `${$[field]}::${sqlTypeOf(type)}[]`)
    .join(', ')
}

/**
 * A list of texts whose length the planner does not see. Otherwise, it plans a statement anew for each short list, because
 * it assumes ten items in a plan for all lists. That takes longer than executing the statement.
 */
export function unmeasuredList(placeholder: string): string {
  return `(select ${placeholder}::text[])`
}

/** The parameters that `arraysOf` names. */
export function listsOf<Item extends object>(columns: Columns<Item>, items: readonly Item[]): Lists<Item> {
  // Each field of `Columns<Item>` is one of `Item`, and the type of its column is one for its values.
  const entries = entriesOf(columns as AnyColumns<string>) as [keyof Item, AnyColumn][]
  const lists: Partial<Record<keyof Item, string>> = {}
  for (const [field, { type }] of entries) lists[field] = toArrayLiteral(type, items, field)
  return lists as Lists<Item>
}

/**
 * Formats an array literal (PostgreSQL manual, 8.15.6). `pg` would escape and quote each value, which takes as long as
 * all other work of sending a statement.
 */
function toArrayLiteral<Item>(type: ColumnType, items: readonly Item[], field: keyof Item): string {
  const last = items.length - 1
  if (last < 0) return '{}'
  const elements = (items as readonly Record<keyof Item, Scalar>[]).map((item) => toElement(type, item[field]))
  // Braces around the joined text would make V8 copy it once more.
  elements[0] = `{${elements[0]}`
  elements[last] += '}'
  return elements.join(',')
}

/** Words, numbers and times (up to the year 9999) need no quotes. */
function toElement(type: ColumnType, value: Scalar): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'string') return quote(type, value)
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'number' ? String(value) : `"\\\\x${Buffer.from(value).toString('hex')}"`
}

/** Most names, languages and references. A quoted text is a second string for the garbage collector. */
const needsNoQuotes = /^(?!null$)[\w.:=-]+$/i

function quote(type: ColumnType, text: string): string {
  if (type === 'word') return text
  // Without control characters, a JSON string is quoted like an element of an array, and in a third of the time.
  if (type === 'json') return JSON.stringify(text)
  if (needsNoQuotes.test(text)) return text
  // Few texts contain a character to escape.
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`
}

function entriesOf<Field extends string>(columns: AnyColumns<Field>): [Field, AnyColumn][] {
  // `Object.entries` loses the key type; a column list has no other fields.
  return Object.entries(columns) as [Field, AnyColumn][]
}

function sqlTypeOf(type: ColumnType): string {
  return type === 'word' || type === 'json' ? 'text' : type
}

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

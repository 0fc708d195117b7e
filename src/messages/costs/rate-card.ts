import { z } from 'zod'
import { singleLine } from '../../../contracts/fields.ts'
import { pricingCategories, type PricingCategory } from '../../../contracts/pricing.ts'
import { isCountedCountry } from '../../platform/countries.ts'

/** What WhatsApp charges from a day on. */
export interface RateCard {
  /** A date such as `2026-10-01`. */
  validFrom: string
  currency: string
  markets: Market[]
}

interface Market {
  name: string
  /** ISO 3166 codes; `*` for all countries without a market of their own. */
  countries: string[]
  /** Millionths of the currency. */
  rates: Partial<Record<PricingCategory, bigint>>
}

export const maxRateCardBytes = 1_000_000
const maxRows = 10_000
const maxColumns = 50
const MarketName = singleLine(100)
/** Further problems are only counted. */
const maxProblems = 20

export interface Problem {
  line: number
  reason: string
}

export type ParsedRateCards = { cards: RateCard[] } | { problems: Problem[]; more: number }

/** Parses a file of rate cards. Returns all cards, or the problems by line. */
export function parseRateCards(text: string): ParsedRateCards {
  const problems: Problem[] = []
  const report = (line: number, reason: string) => void problems.push({ line, reason })
  const cards = readCards(text, report)
  if (problems.length === 0 && cards.length === 0) report(1, 'there are no rates.')
  if (problems.length === 0) return { cards }
  const sorted = problems.toSorted((a, b) => a.line - b.line)
  return { problems: sorted.slice(0, maxProblems), more: Math.max(0, sorted.length - maxProblems) }
}

type Report = (line: number, reason: string) => void

const textColumns = ['valid_from', 'currency', 'market', 'countries'] as const
type TextColumn = (typeof textColumns)[number]

interface Columns {
  texts: Record<TextColumn, number>
  categories: { category: PricingCategory; index: number }[]
  count: number
}

interface Row {
  line: number
  cells: string[]
}

function readCards(text: string, report: Report): RateCard[] {
  if (Buffer.byteLength(text) > maxRateCardBytes) {
    report(1, `the file is larger than ${maxRateCardBytes / 1_000_000} MB.`)
    return []
  }
  const [header, ...rows] = readRows(text, report)
  const columns = header && readColumns(header, report)
  if (!columns) return []
  if (rows.length > maxRows) {
    report(rows[maxRows]?.line ?? 1, `there are more than ${maxRows} rows.`)
    return []
  }
  const cards = new Map<string, RateCard>()
  const seen: Seen = { currency: undefined, lines: new Map() }
  for (const row of rows) readRow(row, columns, { cards, seen, report })
  return [...cards.values()].toSorted((a, b) => (a.validFrom < b.validFrom ? -1 : 1))
}

/** Skips empty lines and comments, which begin with `#`. */
function readRows(text: string, report: Report): Row[] {
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .flatMap((content, index) => {
      if (content.trim() === '' || content.startsWith('#')) return []
      const line = index + 1
      const cells = readCsvLine(content)
      if (cells) return [{ line, cells: cells.map((cell) => cell.trim()) }]
      report(line, 'a quotation mark is not closed, or is inside an unquoted value.')
      return []
    })
}

function readColumns({ line, cells }: Row, report: Report): Columns | undefined {
  const names = cells.map((cell) => cell.toLowerCase().replaceAll(/[\s-]+/g, '_'))
  const known = new Set<string>([...textColumns, ...pricingCategories])
  if (names.length > maxColumns) {
    report(line, `there are more than ${maxColumns} columns.`)
    return undefined
  }
  const problems = [
    ...names.filter((name) => !known.has(name)).map((name) => `the column ${quote(name)} is unknown.`),
    ...names
      .filter((name, index) => known.has(name) && names.indexOf(name) !== index)
      .map((name) => `the column ${name} is duplicated.`),
    ...textColumns.filter((name) => !names.includes(name)).map((name) => `the column ${name} is missing.`),
  ]
  const categories = pricingCategories
    .map((category) => ({ category, index: names.indexOf(category) }))
    .filter(({ index }) => index >= 0)
  if (categories.length === 0) problems.push('there is no category column, such as marketing or utility.')
  for (const problem of problems)
    report(line, `${problem} Columns: ${textColumns.join(', ')}, and at least one of ${pricingCategories.join(', ')}.`)
  if (problems.length > 0) return undefined
  const texts = Object.fromEntries(textColumns.map((name) => [name, names.indexOf(name)])) as Columns['texts']
  return { texts, categories, count: names.length }
}

interface Seen {
  currency: string | undefined
  /** The line of each market and country of a day. */
  lines: Map<string, number>
}

interface Reading {
  cards: Map<string, RateCard>
  seen: Seen
  report: Report
}

const Day = z.iso.date()

function readRow({ line, cells }: Row, columns: Columns, { cards, seen, report }: Reading): void {
  if (cells.length !== columns.count)
    return report(line, `has ${cells.length} values instead of ${columns.count}. Write 0.05, not 0,05.`)
  const cell = (column: TextColumn) => cells[columns.texts[column]] ?? ''
  const [validFrom, currency, name] = [cell('valid_from'), cell('currency'), cell('market')]
  const addProblem = (reason: string) => report(line, reason)
  if (!Day.safeParse(validFrom).success || validFrom < '2000-01-01' || validFrom > '2199-12-31')
    addProblem(`valid_from ${quote(validFrom)} is not a date such as 2026-10-01.`)
  if (!currencies.has(currency)) addProblem(`currency ${quote(currency)} is not an ISO 4217 code such as EUR.`)
  seen.currency ??= currency
  if (currency !== seen.currency)
    addProblem(`the currency is ${quote(currency)}, but ${quote(seen.currency)} in earlier lines.`)
  const market = MarketName.safeParse(name)
  if (!market.success) addProblem(`market ${market.error.issues[0]?.message}.`)
  const countries = cell('countries')
    .split(/[\s;]+/)
    .filter(Boolean)
  if (countries.length === 0) addProblem('countries is empty. Write ISO 3166 codes such as ES, or * for all others.')
  for (const country of countries) checkCountry(country, addProblem)
  for (const [what, key] of [['market', name], ...countries.map((code) => ['country', code])] as const) {
    const entry = `${validFrom} ${what} ${key}`
    const before = seen.lines.get(entry)
    if (before === undefined) seen.lines.set(entry, line)
    else addProblem(`the ${what} ${quote(key)} already has rates from ${validFrom} on in line ${before}.`)
  }
  const card = cards.get(validFrom) ?? { validFrom, currency, markets: [] }
  cards.set(validFrom, card)
  card.markets.push({ name, countries, rates: readRates(cells, columns, addProblem) })
}

function checkCountry(country: string, addProblem: (reason: string) => void): void {
  if (country === '*' || isCountedCountry(country)) return
  addProblem(
    /^[A-Z]{2}$/.test(country)
      ? `the country ${country} is unknown, or shares the calling code of another one, by which WhatsApp charges.`
      : `${quote(country)} is not an ISO 3166 code such as ES, or * for all others.`,
  )
}

/** Meta writes `n/a` where a market has no rate. */
const noRate = /^(n\/a|-)?$/i

function readRates(cells: string[], { categories }: Columns, addProblem: (reason: string) => void): Market['rates'] {
  const rates: Market['rates'] = {}
  for (const { category, index } of categories) {
    const text = cells[index] ?? ''
    if (noRate.test(text)) continue
    const micros = parseMicros(text)
    if (micros === undefined)
      addProblem(`the rate ${quote(text)} of ${category} is not a decimal such as 0.0509, with at most 6 decimals.`)
    else rates[category] = micros
  }
  if (Object.keys(rates).length === 0) addProblem('there is no rate.')
  return rates
}

/** ISO 4217 codes. */
const currencies = new Set(Intl.supportedValuesOf('currency'))

/** Quotes a value, and shortens it if it is long. */
function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}

/** The values of one line of CSV (RFC 4180), without line breaks in values; undefined if a quotation mark is misplaced. */
function readCsvLine(line: string): string[] | undefined {
  const values: string[] = []
  for (let at = 0; ;) {
    const value = line[at] === '"' ? readQuoted(line, at) : readPlain(line, at)
    if (!value) return undefined
    values.push(value.text)
    if (value.end === line.length) return values
    if (line[value.end] !== ',') return undefined
    at = value.end + 1
  }
}

interface Value {
  text: string
  end: number
}

function readPlain(line: string, start: number): Value | undefined {
  const comma = line.indexOf(',', start)
  const end = comma < 0 ? line.length : comma
  const text = line.slice(start, end)
  return text.includes('"') ? undefined : { text, end }
}

function readQuoted(line: string, start: number): Value | undefined {
  let text = ''
  for (let at = start + 1; ;) {
    const quote = line.indexOf('"', at)
    if (quote < 0) return undefined
    text += line.slice(at, quote)
    if (line[quote + 1] !== '"') return { text, end: quote + 1 }
    text += '"'
    at = quote + 2
  }
}

/** Decimals of rates and amounts. Money is stored exactly, in millionths. */
const decimals = 6
const unit = 10n ** BigInt(decimals)

/** Undefined if the text is not a decimal such as `0.0509` with at most six digits on each side of the point. */
export function parseMicros(text: string): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d{1,6})(?:\.(\d{1,6}))?$/.exec(text) ?? []
  return whole === undefined ? undefined : BigInt(whole) * unit + BigInt(fraction.padEnd(decimals, '0'))
}

/** As a decimal without superfluous zeros: `0.0509`. */
export function formatMicros(micros: bigint): string {
  const fraction = String(micros % unit)
    .padStart(decimals, '0')
    .replace(/0+$/, '')
  return fraction === '' ? String(micros / unit) : `${micros / unit}.${fraction}`
}

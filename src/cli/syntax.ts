import { parseArgs, type ParseArgsConfig } from 'node:util'
import { parseDuration } from '../platform/duration.ts'
import { editDistance, isMisspelling } from '../platform/edit-distance.ts'
import { joinWords } from '../platform/text.ts'
import { UsageError } from './failure.ts'

export interface ValueOption {
  /** Placeholder of the value in the usage. */
  value: string
  help: string
  required?: true
  /** With `-`, the value is read from standard input. */
  secret?: true
  choices?: readonly string[]
  /** The value must be a whole number. */
  number?: true
  /** The option can be repeated. */
  multiple?: true
  /** Reads the file that the value names. Runs where the command is typed, because another process may run the command. */
  read?: (value: string) => Promise<string>
}

export interface Flag {
  help: string
}

export type Options = Readonly<Record<string, ValueOption | Flag>>

/** The arguments and options of a command. */
export interface Syntax {
  name: string
  /** Another name of the command. It is accepted, but not shown in lists. */
  alias?: string
  summary: string
  /** Required arguments, in order. */
  args: readonly string[]
  /** Placeholder of further optional arguments. */
  rest?: string
  options: Options
  /** Reads the files that arguments name, by argument; see `read` of an option. */
  read?: Readonly<Record<string, (value: string) => Promise<string>>>
  examples: readonly string[]
  notes?: readonly string[]
}

/** A parsed command line, checked against its syntax. */
export interface Line {
  args: string[]
  rest: string[]
  options: Record<string, string | boolean | string[]>
  /** Every command accepts `--json`. */
  json: boolean
}

/** A parsed command line, typed by the command's syntax. */
export interface TypedLine<Args extends readonly string[], O extends Options> {
  args: { [Index in keyof Args]: string }
  rest: string[]
  options: { [Name in keyof O]: OptionValue<O[Name]> }
  json: boolean
}

type OptionValue<O> = O extends { value: string; multiple: true }
  ? string[] | undefined
  : O extends { value: string; required: true }
    ? string
    : O extends { value: string }
      ? string | undefined
      : boolean | undefined

export const commonOptions = { json: { help: 'Print a JSON document instead of text' } } as const

export function isValueOption(option: ValueOption | Flag): option is ValueOption {
  return 'value' in option
}

export function parseLine(syntax: Syntax, argv: string[]): Line {
  const { values, positionals } = split(syntax, argv)
  const missing = syntax.args[positionals.length]
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`)
  if (syntax.rest === undefined && positionals.length > syntax.args.length)
    throw new UsageError(describeTooMany(syntax, values))
  for (const [name, option] of Object.entries(syntax.options))
    if (isValueOption(option)) checkValue(name, option, values[name])
  const { length } = syntax.args
  const { json, ...options } = values
  return { args: positionals.slice(0, length), rest: positionals.slice(length), options, json: json === true }
}

/** The inverse of `parseLine`, for a line that another process runs. */
export function formatLine({ args, rest, options }: Line): string[] {
  const given = Object.entries(options).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [value].flat().map((one) => `--${name}=${one}`),
  )
  return [...given, '--', ...args, ...rest]
}

function split(syntax: Syntax, argv: string[]): { values: Line['options']; positionals: string[] } {
  const known: Options = { ...syntax.options, ...commonOptions }
  // Not strict, because the errors of Node.js suggest nothing.
  const { tokens, positionals } = parseArgs({
    args: argv,
    options: toParseArgs(known),
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const values: Line['options'] = {}
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { name, rawName } = token
    const option = Object.hasOwn(known, name) ? known[name] : undefined
    if (option === undefined) throw new UsageError(describeUnknownOption(rawName, Object.keys(known)))
    values[name] = isValueOption(option) ? readValue(token, option, values[name]) : readFlag(token)
  }
  return { values, positionals }
}

/** An option as it was given. */
interface Given {
  rawName: string
  value?: string | undefined
  /** True for `--name=value`, undefined without a value. */
  inlineValue?: boolean | undefined
}

function readValue(
  { rawName, value, inlineValue }: Given,
  option: ValueOption,
  earlier: Line['options'][string] | undefined,
): string | string[] {
  if (value === undefined) throw new UsageError(`The value of ${rawName} is missing.`)
  if (!inlineValue && /^-./s.test(value))
    throw new UsageError(
      `The value of ${rawName} is missing. If it begins with a dash, write ${rawName}=${option.value}.`,
    )
  if (option.multiple) return [...(Array.isArray(earlier) ? earlier : []), value]
  if (earlier !== undefined) throw new UsageError(`${rawName} was given twice. Give it once.`)
  return value
}

function readFlag({ rawName, value }: Given): true {
  if (value !== undefined) throw new UsageError(`${rawName} takes no value.`)
  return true
}

function describeUnknownOption(given: string, names: readonly string[]): string {
  const [nearest] = names
    .map((name) => ({ name, distance: editDistance(`--${name}`, given) }))
    .filter(({ distance }) => isMisspelling(given, distance))
    .toSorted((a, b) => a.distance - b.distance)
  return `Unknown option ${given}.${nearest === undefined ? '' : ` Did you mean --${nearest.name}?`}`
}

/** Names the option that lacks its value, which is probably what was given as an argument. It is not repeated. */
function describeTooMany({ name, args, options }: Syntax, values: Line['options']): string {
  const tooMany = `Too many arguments: ${name} takes ${args.length === 0 ? 'none' : joinWords(args, 'and')}.`
  for (const [option, facts] of Object.entries(options))
    if (isValueOption(facts) && facts.required && values[option] === undefined)
      return `${tooMany} Pass the ${facts.value} with --${option}.`
  return tooMany
}

function toParseArgs(options: Options): NonNullable<ParseArgsConfig['options']> {
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => [
      name,
      { type: isValueOption(option) ? ('string' as const) : ('boolean' as const) },
    ]),
  )
}

function checkValue(name: string, option: ValueOption, value: Line['options'][string] | undefined): void {
  if (value === undefined) {
    if (option.required) throw new UsageError(`--${name} ${option.value} is missing.`)
    return
  }
  if (option.choices && !option.choices.includes(String(value)))
    throw new UsageError(`--${name} must be ${joinWords(option.choices, 'or')}.`)
  if (option.number && !/^\d{1,9}$/.test(String(value))) throw new UsageError(`--${name} must be a whole number.`)
}

export function readDuration(option: string, text: string): number {
  const seconds = parseDuration(text)
  if (seconds === undefined) throw new UsageError(`--${option} must be a duration such as 30m, 24h or 7d.`)
  return seconds
}

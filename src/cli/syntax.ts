import { parseArgs, type ParseArgsConfig } from 'node:util'
import { parseDuration } from '../platform/duration.ts'
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
    throw new UsageError(`Too many arguments: ${syntax.name} takes ${syntax.args.join(', ') || 'none'}.`)
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
  try {
    const options = toParseArgs({ ...syntax.options, ...commonOptions })
    const { values, positionals, tokens } = parseArgs({ args: argv, options, allowPositionals: true, tokens: true })
    const names = tokens.flatMap((token) => (token.kind === 'option' && token.value !== undefined ? [token.name] : []))
    const repeated = names.find((name, index) => options[name]?.multiple !== true && names.indexOf(name) !== index)
    if (repeated !== undefined) throw new UsageError(`--${repeated} was given twice. Give it once.`)
    return { values: Object.fromEntries(Object.entries(values).filter(isGiven)), positionals }
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`${error.message.split('. ')[0]}.`)
    throw error
  }
}

function toParseArgs(options: Options): NonNullable<ParseArgsConfig['options']> {
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => [
      name,
      isValueOption(option)
        ? { type: 'string' as const, multiple: option.multiple === true }
        : { type: 'boolean' as const },
    ]),
  )
}

/** No flag is `multiple`, so lists of booleans do not occur, but the type of `parseArgs` includes them. */
function isGiven(entry: [string, unknown]): entry is [string, string | boolean | string[]] {
  return entry[1] !== undefined
}

function checkValue(name: string, option: ValueOption, value: Line['options'][string] | undefined): void {
  if (value === undefined) {
    if (option.required) throw new UsageError(`--${name} ${option.value} is missing.`)
    return
  }
  if (option.choices && !option.choices.includes(String(value)))
    throw new UsageError(`--${name} must be ${option.choices.join(' or ')}.`)
  if (option.number && !/^\d{1,9}$/.test(String(value))) throw new UsageError(`--${name} must be a whole number.`)
}

export function readDuration(option: string, text: string): number {
  const seconds = parseDuration(text)
  if (seconds === undefined) throw new UsageError(`--${option} must be a duration such as 30m, 24h or 7d.`)
  return seconds
}

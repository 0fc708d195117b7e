import { parseArgs, type ParseArgsConfig } from 'node:util'
import { UsageError } from './failure.ts'

export interface ValueOption {
  /** What stands for the value in the usage. */
  value: string
  help: string
  required?: true
  /** `-` reads it from standard input. */
  secret?: true
  choices?: readonly string[]
  /** A whole number. */
  number?: true
  /** Can be given several times. */
  multiple?: true
}

export interface Flag {
  help: string
}

export type Options = Readonly<Record<string, ValueOption | Flag>>

/** What can be typed after the name of a command. */
export interface Syntax {
  name: string
  summary: string
  /** The arguments that must be given, in order. */
  args: readonly string[]
  /** What any number of further arguments are. */
  rest?: string
  options: Options
  examples: readonly string[]
  notes?: readonly string[]
}

/** What was typed, checked against its syntax. */
export interface Line {
  args: string[]
  rest: string[]
  options: Record<string, string | boolean | string[]>
  /** Every command takes `--json`. */
  json: boolean
}

/** The same, typed by its syntax. */
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

export const commonOptions = { json: { help: 'Print one JSON document instead of text for people' } } as const

export function isValueOption(option: ValueOption | Flag): option is ValueOption {
  return 'value' in option
}

export function parseLine(syntax: Syntax, argv: string[]): Line {
  const { values, positionals } = split(syntax, argv)
  const missing = syntax.args[positionals.length]
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`)
  if (syntax.rest === undefined && positionals.length > syntax.args.length)
    throw new UsageError(`${syntax.name} takes ${syntax.args.join(', ') || 'no argument'} and nothing more.`)
  for (const [name, option] of Object.entries(syntax.options))
    if (isValueOption(option)) checkValue(name, option, values[name])
  const { length } = syntax.args
  const { json, ...options } = values
  return { args: positionals.slice(0, length), rest: positionals.slice(length), options, json: json === true }
}

/** The inverse of `parseLine`, for a line that another process carries out. */
export function formatLine({ args, rest, options }: Line): string[] {
  const given = Object.entries(options).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [value].flat().map((one) => `--${name}=${one}`),
  )
  return [...given, '--', ...args, ...rest]
}

function split(syntax: Syntax, argv: string[]): { values: Line['options']; positionals: string[] } {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      options: toParseArgs({ ...syntax.options, ...commonOptions }),
      allowPositionals: true,
    })
    return { values: Object.fromEntries(Object.entries(values).filter(isGiven)), positionals }
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`${error.message.split('. ')[0]}.`)
    throw error
  }
}

function toParseArgs(options: Options): NonNullable<ParseArgsConfig['options']> {
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) =>
      isValueOption(option)
        ? [name, { type: 'string', multiple: option.multiple === true }]
        : [name, { type: 'boolean' }],
    ),
  )
}

/** No flag of ours is `multiple`, so there are no lists of booleans; the type of `parseArgs` cannot know. */
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

const secondsOf = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3600],
  ['d', 86_400],
])

/** Seconds of a time such as `30m` or `24h`; undefined when it is none. */
export function readDuration(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const seconds = secondsOf.get(unit)
  return amount === undefined || seconds === undefined ? undefined : Number(amount) * seconds
}

export function parseDuration(option: string, text: string): number {
  const seconds = readDuration(text)
  if (seconds === undefined) throw new UsageError(`--${option} must be a time such as 30m, 24h or 7d.`)
  return seconds
}

import { z } from 'zod'
import { ServiceError } from '../../contracts/errors.ts'
import { withoutFacts } from '../../contracts/facts/fact.ts'
import { unwrapSchema } from '../../contracts/fields.ts'
import type { InputOf, OutputOf } from '../../contracts/procedure.ts'
import type { Deps } from '../deps.ts'
import type { CommandResult, CommandUser, DataCommand } from './command.ts'
import { UsageError } from './failure.ts'
import { accountFinders, type CommandContract, type FindAccount, runForOperator } from './operator.ts'
import type { Flag, Line, ValueOption } from './syntax.ts'

/** An option. Whether it is a flag, required or repeatable, and its choices, follow from its field in the contract. */
interface OptionRow<Field> {
  /** Placeholder of the value in the usage; absent for a flag. */
  value?: string
  help: string
  /** The field of the input; by default, the name of the option in camelCase. Null: `fields` reads the option. */
  field?: Field | null
  secret?: true
  /** The option has all items of its field, separated by commas. */
  isList?: true
  /** The word for null, such as `off`. */
  off?: string
  /** Converts the text of a value. Throws `UsageError`. */
  read?: (text: string) => unknown
  /** Reads the file that the value names. Runs where the command is typed, before `read`. */
  load?: (path: string) => Promise<string>
}

/** What a command can do that calls more than its procedure, or calls it more than once. */
interface Steps {
  /** Calls a procedure for the account of the command. Fields that it does not accept are rejected. */
  call<P extends CommandContract>(contract: P, fields: object): Promise<OutputOf<P>>
  /** Rejects fields that the procedure of the command does not accept. */
  check(fields: object): void
  report: CommandUser['report']
}

type Arguments = Readonly<Record<string, string | null>>
type Values<Args extends Arguments> = { readonly [Name in keyof Args]: string }

/** How the words of a command become the input of a procedure, and how people read its output. */
interface CommandRow<P extends CommandContract, Args extends Arguments, Output> {
  name: string
  alias?: string
  summary: string
  /** The required arguments in their order, with their fields; ACC is the account. Null: `fields` reads the argument. */
  args?: Args & Readonly<Record<string, (keyof InputOf<P> & string) | null>>
  /** Further arguments: the items of a list. */
  rest?: { placeholder: string; field: keyof InputOf<P> & string }
  /** Reads the files that arguments name, by argument. Runs where the command is typed. */
  load?: Readonly<Record<string, (path: string) => Promise<string>>>
  /** Finds the account, if ACC may also be one that was removed. */
  findAccount?: FindAccount
  options?: Readonly<Record<string, OptionRow<keyof InputOf<P> & string>>>
  notes?: readonly string[]
  examples: readonly string[]
  /** Fields that the table cannot express. Throws `UsageError`. */
  fields?: (line: Line, deps: Deps) => object
  /** The exit code for input that the contract rejects; 2 by default. */
  rejectedWith?: 1
  run?: (steps: Steps, fields: Readonly<Record<string, unknown>>) => Promise<Output>
  text: (output: Output, args: Values<Args>, context: { deps: Deps; line: Line }) => string
  /** The JSON document, if it is not the output. */
  json?: (output: Output, args: Values<Args>) => unknown
  exitCode?: (output: Output) => number
  ifLost?: (output: Output, args: Values<Args>) => string
}

/** Defines a command by the contract of its procedure, and by the few facts that the contract does not have. */
export function contractCommand<
  P extends CommandContract,
  const Args extends Arguments = Arguments,
  Output = OutputOf<P>,
>(contract: P, row: CommandRow<P, Args, Output>): DataCommand {
  const { name, alias, summary, rest, notes, examples } = row
  const options = Object.entries(row.options ?? {})
  return {
    kind: 'data',
    name,
    ...(alias !== undefined && { alias }),
    summary,
    args: Object.keys(row.args ?? {}),
    ...(rest && { rest: rest.placeholder }),
    options: Object.fromEntries(options.map(([option, facts]) => [option, toSyntax(contract, option, facts)])),
    ...(row.load && { read: row.load }),
    ...(notes && { notes }),
    examples,
    needsSchema: true,
    isAudited: contract.audit !== 'nothing',
    run: (deps, line, { report }) => runRow(contract, row, { deps, line, report }),
  }
}

function fieldOf(option: string, { field }: Pick<OptionRow<string>, 'field'>): string | null {
  return field === undefined ? option.replace(/-[a-z]/g, ([, letter = '']) => letter.toUpperCase()) : field
}

/** Throws for a name that is not a field, so that a wrong table fails when it is loaded. */
function schemaOf(contract: CommandContract, field: string): z.core.$ZodType {
  const schema = (contract.input.shape as Readonly<Record<string, z.core.$ZodType>>)[field]
  if (!schema) throw new Error(`the contract has no field ${field}`)
  return schema
}

function toSyntax(contract: CommandContract, option: string, facts: OptionRow<string>): ValueOption | Flag {
  const { value, help, secret, isList, off, read, load } = facts
  if (value === undefined) return { help }
  const field = fieldOf(option, facts)
  if (field === null) return { value, help, ...(secret && { secret }) }
  const schema = schemaOf(contract, field)
  const type = unwrapSchema(schema)
  const isRequired = !z.safeParse(schema, undefined).success
  return {
    value,
    help,
    ...(isRequired && { required: true }),
    ...(secret && { secret }),
    ...(load && { read: load }),
    ...(type instanceof z.ZodEnum && !read && { choices: type.options.map(String) }),
    ...(type instanceof z.ZodNumber && !read && off === undefined && { number: true }),
    ...(type instanceof z.ZodArray && !isList && { multiple: true }),
  }
}

async function runRow<P extends CommandContract, Args extends Arguments, Output>(
  contract: P,
  row: CommandRow<P, Args, Output>,
  { deps, line, report }: { deps: Deps; line: Line; report: CommandUser['report'] },
): Promise<CommandResult> {
  const fields = readFields(contract, row, line, deps)
  const accountId = await findAccount(deps, row, line)
  const parse = <Called extends CommandContract>(called: Called, given: object): InputOf<Called> =>
    parseInput(called, { ...(accountId !== undefined && { accountId }), ...given }, row)
  const call: Steps['call'] = async (called, given) =>
    runForOperator(deps, called, { accountId, input: parse(called, given) })
  const steps: Steps = { call, check: (given) => void parse(contract, given), report }
  // Without `run`, the output is that of the contract.
  const output = row.run ? await row.run(steps, fields) : ((await call(contract, fields)) as Output)
  // `parseLine` has checked the number of arguments.
  const args = Object.fromEntries(Object.keys(row.args ?? {}).map((name, i) => [name, line.args[i]])) as Values<Args>
  return {
    json: withoutFacts(row.json ? row.json(output, args) : output),
    text: row.text(output, args, { deps, line }),
    ...(row.exitCode && { exitCode: row.exitCode(output) }),
    ...(row.ifLost && { ifLost: row.ifLost(output, args) }),
  }
}

type Table = Pick<
  CommandRow<CommandContract, Arguments, unknown>,
  'args' | 'rest' | 'options' | 'rejectedWith' | 'findAccount'
>

function readFields(
  contract: CommandContract,
  row: Table & Pick<CommandRow<never, never, never>, 'fields'>,
  line: Line,
  deps: Deps,
): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  const set = (field: string | null, value: unknown) => {
    if (field !== null && value !== undefined) fields[field] = value
  }
  for (const [index, field] of Object.values(row.args ?? {}).entries()) set(field, line.args[index])
  if (row.rest) set(row.rest.field, line.rest)
  for (const [option, facts] of Object.entries(row.options ?? {}))
    set(fieldOf(option, facts), readOption(contract, option, facts, line))
  return { ...fields, ...row.fields?.(line, deps) }
}

function readOption(contract: CommandContract, option: string, facts: OptionRow<string>, line: Line): unknown {
  const value = line.options[option]
  const field = fieldOf(option, facts)
  if (typeof value === 'boolean' || value === undefined || field === null) return value
  const isNumber = unwrapSchema(schemaOf(contract, field)) instanceof z.ZodNumber
  const { off, read = isNumber ? readNumber(option, off) : String } = facts
  const readOne = (text: string) => (text === off ? null : read(text))
  const items = facts.isList
    ? String(value)
        .split(',')
        .map((item) => item.trim())
    : value
  return Array.isArray(items) ? items.map(readOne) : readOne(items)
}

/** A number that cannot be null has been checked by `parseLine`. */
function readNumber(option: string, off: string | undefined): (text: string) => number {
  return (text) => {
    if (off !== undefined && !/^\d{1,9}$/.test(text)) throw new UsageError(`--${option} must be a number, or ${off}.`)
    return Number(text)
  }
}

/** Returns the account of the command. If an ID belongs to something else, it is the account that has this. */
async function findAccount(
  { db }: Deps,
  { args = {}, findAccount: special }: Table,
  line: Line,
): Promise<string | undefined> {
  for (const [index, placeholder] of Object.keys(args).entries()) {
    const find = special ?? accountFinders[placeholder]
    if (find) return find(db, line.args[index] ?? '')
  }
  return undefined
}

function parseInput<P extends CommandContract>(contract: P, given: object, row: Table): InputOf<P> {
  const parsed = contract.input.safeParse(given)
  if (parsed.success) return parsed.data as InputOf<P>
  const [issue] = parsed.error.issues
  const text = `${nameProblem(issue?.path ?? [], given, row)} ${issue?.message}.`
  throw row.rejectedWith === 1 ? new ServiceError('VALIDATION_ERROR', text) : new UsageError(text)
}

/** Names the option or, because arguments have no names, repeats the argument. Only options can be secret. */
function nameProblem(path: PropertyKey[], given: object, { args = {}, rest, options = {} }: Table): string {
  for (const part of path.toReversed()) {
    const option = Object.entries(options).find(([name, facts]) => (fieldOf(name, facts) ?? fieldOf(name, {})) === part)
    if (option) return option[1].isList ? `--${option[0]} ${quote(path, given)}` : `--${option[0]}`
  }
  const isArgument = [...Object.values(args), rest?.field].some((field) => field === path[0])
  return isArgument ? quote(path, given) : path.join('.')
}

function quote(path: PropertyKey[], given: object): string {
  return JSON.stringify(path.reduce<unknown>((inner, part) => (inner as Record<PropertyKey, unknown>)[part], given))
}

import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { UsageError } from './failure.ts'
import { isValueOption, type Line, type Syntax } from './syntax.ts'

/** Yields each complete line as it arrives. Destroys the socket at the end. */
export async function* readLines(socket: Socket): AsyncGenerator<string, void, void> {
  socket.setEncoding('utf8')
  let rest = ''
  for await (const chunk of socket) {
    const [first = '', ...others] = String(chunk).split('\n')
    rest += first
    for (const line of others) {
      yield rest
      rest = line
    }
  }
}

type OptionValue = Line['options'][string]

/**
 * Replaces each value given as `-` with a line of standard input, in the order of the usage. A single `-` of an option
 * that can be repeated takes all of them. Arguments on the command line are visible in the shell history and the process
 * list.
 */
export async function readSecrets(
  syntax: Syntax,
  line: Line,
  stdin: NodeJS.ReadableStream = process.stdin,
): Promise<Line> {
  const given = Object.entries(syntax.options).flatMap(([name, option]) => {
    const value = line.options[name]
    return isValueOption(option) && option.secret === true && value !== undefined ? [{ name, value }] : []
  })
  if (!given.some(({ value }) => [value].flat().includes('-'))) return line
  const lines = (await text(stdin)).split('\n').map((secret) => secret.trim())
  const secrets = given.map(({ name, value }) => [name, fillIn(name, value, lines)] as const)
  if (lines.some((unused) => unused !== ''))
    throw new UsageError('Standard input has more lines than options that read one (-).')
  return { ...line, options: { ...line.options, ...Object.fromEntries(secrets) } }
}

/** Replaces each value that names a file or a folder with its content. */
export async function readFiles(syntax: Syntax, line: Line): Promise<Line> {
  const options = { ...line.options }
  for (const [name, option] of Object.entries(syntax.options)) {
    const value = options[name]
    if (isValueOption(option) && option.read && typeof value === 'string') options[name] = await option.read(value)
  }
  const args: string[] = []
  for (const [index, value] of line.args.entries()) {
    const read = syntax.read?.[syntax.args[index] ?? '']
    args.push(read ? await read(value) : value)
  }
  return { ...line, args, options }
}

/** Takes lines from the front of `lines`. */
function fillIn(name: string, value: OptionValue, lines: string[]): OptionValue {
  const takeLine = () => requireSecret(name, lines.shift())
  if (!Array.isArray(value)) return value === '-' ? takeLine() : value
  const takesAll = value.indexOf('-') === value.lastIndexOf('-')
  const take = () => (takesAll ? [takeLine(), ...lines.splice(0).filter((line) => line !== '')] : takeLine())
  return value.flatMap((one) => (one === '-' ? take() : one))
}

function requireSecret(name: string, secret: string | undefined): string {
  if (secret === undefined || secret === '')
    throw new UsageError(`--${name} - requires a line on standard input, but there was none.`)
  return secret
}

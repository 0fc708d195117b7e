import { text } from 'node:stream/consumers'
import { isValueOption, type Line, type Syntax } from './syntax.ts'
import { UsageError } from './usage-error.ts'

/**
 * Puts in what was left out of the command line as `-`, one line of standard input each, in the order
 * of the usage. What is typed as an argument ends in the shell's history and in the list of processes.
 */
export async function readSecrets(
  syntax: Syntax,
  line: Line,
  stdin: NodeJS.ReadableStream = process.stdin,
): Promise<Line> {
  const wanted = Object.entries(syntax.options)
    .filter(([name, option]) => isValueOption(option) && option.secret === true && line.options[name] === '-')
    .map(([name]) => name)
  if (wanted.length === 0) return line
  const lines = (await text(stdin)).split('\n').map((secret) => secret.trim())
  const secrets = wanted.map((name, index) => [name, requireSecret(name, lines[index])] as const)
  return { ...line, options: { ...line.options, ...Object.fromEntries(secrets) } }
}

function requireSecret(name: string, secret: string | undefined): string {
  if (secret === undefined || secret === '')
    throw new UsageError(`--${name} - reads a line of standard input, and there was none.`)
  return secret
}

import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import packageJson from '../../package.json' with { type: 'json' }
import { createLogger } from '../platform/log.ts'
import type { Command, CommandUser, Question } from './command.ts'
import { dataCommands, findCommand, findGroup } from './commands.ts'
import { move } from './commands/move.ts'
import { openapi } from './commands/openapi.ts'
import { sandbox } from './commands/sandbox.ts'
import { serve } from './commands/serve.ts'
import { templatePull } from './commands/template-pull.ts'
import { types } from './commands/types.ts'
import { describeFailure } from './failure.ts'
import { describeUnknownCommand, formatCommandHelp, formatCommandList, formatUsage } from './help.ts'
import { readFiles, readSecrets } from './input.ts'
import { type CommandExit, OutputError, withOutputCheck } from './output.ts'
import { runDataCommand } from './run-data-command.ts'
import { parseLine } from './syntax.ts'

export const commands: readonly Command[] = [serve, sandbox, ...dataCommands, templatePull, move, types, openapi]

/** Runs a command line and returns the exit code. */
export async function main(argv: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  if (argv[0] === 'help') return main([...argv.slice(1), '--help'], environment)
  const found = findCommand(commands, argv)
  // A server outlives the reader of its output.
  if (found && servers.has(found.command.name)) return (await runCommand(found, environment)).exitCode
  return withOutputCheck(async () => (found ? runCommand(found, environment) : handleNoCommand(argv)))
}

const servers: ReadonlySet<string> = new Set([serve.name, sandbox.name])

async function runCommand(
  { command, rest }: { command: Command; rest: string[] },
  environment: NodeJS.ProcessEnv,
): Promise<CommandExit> {
  if (requestsHelp(rest)) return print(formatCommandHelp(command))
  try {
    const line = await readFiles(command, await readSecrets(command, parseLine(command, rest)))
    const terminal = line.json ? undefined : findTerminal()
    const user: CommandUser = {
      report: (progress) => (line.json ? undefined : console.error(progress)),
      print: printLines,
      ask: (question) => askAtTerminal(terminal, question),
    }
    const result = await (command.kind === 'local'
      ? command.run(environment, line)
      : runDataCommand({ command, line, user }, environment))
    if (!result.isPrinted) print(line.json ? JSON.stringify(result.json, null, 2) : result.text)
    return { exitCode: result.exitCode ?? 0, ifLost: result.ifLost }
  } catch (failed) {
    if (environment['LOG_LEVEL'] === 'debug') createLogger('debug').debug({ err: failed }, 'the command failed')
    if (failed instanceof OutputError && failed.isClosedPipe) return { exitCode: 1 }
    const { error, exitCode } = describeFailure(failed)
    console.error(exitCode === 2 ? `${error}\n\nUsage:\n  ${formatUsage(command)}` : error)
    return { exitCode }
  }
}

const versionWords: ReadonlySet<string> = new Set(['--version', '-v', 'version'])

function handleNoCommand(argv: string[]): CommandExit {
  const group = findGroup(commands, argv)
  if (argv.length === 0 || requestsHelp(argv)) return print(formatCommandList(group.length > 0 ? group : commands))
  if (versionWords.has(argv[0] ?? '')) return print(packageJson.version)
  console.error(describeUnknownCommand(commands, group, argv))
  return { exitCode: 2 }
}

function requestsHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  return words.slice(0, end < 0 ? undefined : end).some((word) => word === '--help' || word === '-h')
}

/** Resolves once the lines are written, so that the producer does not outrun the reader. */
async function printLines(lines: string): Promise<void> {
  // If the reader closes the pipe (such as `head`), the command fails instead of the process crashing.
  const { stdout } = process
  if (stdout.listenerCount('error') === 0) stdout.on('error', () => {})
  await new Promise<void>((resolve, reject) => {
    stdout.write(`${lines}\n`, (error) => (error ? reject(new OutputError(error)) : resolve()))
  })
}

function print(text: string): CommandExit {
  console.log(text)
  return { exitCode: 0 }
}

/** Where questions are asked. */
export interface Terminal {
  input: NodeJS.ReadableStream
  output: NodeJS.WritableStream
}

export function findTerminal(): Terminal | undefined {
  const { stdin: input, stderr: output } = process
  return input.isTTY && output.isTTY ? { input, output } : undefined
}

/** An empty answer is the preset, and so is a missing terminal. A secret is not echoed. */
export async function askAtTerminal(terminal: Terminal | undefined, question: Question): Promise<string | undefined> {
  const { text, isSecret = false, preset, isOptional = false } = question
  if (!terminal || (preset !== undefined && !isOptional)) return preset
  const { input, output } = terminal
  output.write(`${text} `)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input, output: isSecret ? silent : output, terminal: isSecret })
  // `question` never settles if the input ends.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  try {
    const answer = (await Promise.race([lines.question(''), ended])).trim()
    return answer === '' ? preset : answer
  } finally {
    lines.close()
    if (isSecret) output.write('\n')
  }
}

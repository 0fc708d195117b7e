import packageJson from '../../package.json' with { type: 'json' }
import { createLogger } from '../platform/log.ts'
import type { Command, User } from './command.ts'
import { dataCommands, findCommand, findGroup } from './commands.ts'
import { move } from './commands/move.ts'
import { openapi } from './commands/openapi.ts'
import { sandbox } from './commands/sandbox.ts'
import { templatePull } from './commands/template-pull.ts'
import { serve } from './commands/serve.ts'
import { types } from './commands/types.ts'
import { describeFailure } from './failure.ts'
import { describeUnknownCommand, formatCommandHelp, formatCommandList, formatUsage } from './help.ts'
import { readFiles, readSecrets } from './input.ts'
import { type Ending, OutputError, withOutputCheck } from './output.ts'
import { askAt, findTerminal } from './questions.ts'
import { runDataCommand } from './run-data-command.ts'
import { parseLine } from './syntax.ts'

export const commands: readonly Command[] = [serve, sandbox, ...dataCommands, templatePull, move, types, openapi]

/** Runs a command line and returns the exit code. */
export async function main(argv: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const found = findCommand(commands, argv)
  // A server outlives the reader of its output.
  if (found && servers.has(found.command.name)) return (await runCommand(found, environment)).exitCode
  return withOutputCheck(async () => (found ? runCommand(found, environment) : handleNoCommand(argv)))
}

const servers: ReadonlySet<string> = new Set([serve.name, sandbox.name])

async function runCommand(
  { command, rest }: { command: Command; rest: string[] },
  environment: NodeJS.ProcessEnv,
): Promise<Ending> {
  if (requestsHelp(rest)) return print(formatCommandHelp(command))
  try {
    const line = await readFiles(command, await readSecrets(command, parseLine(command, rest)))
    const terminal = line.json ? undefined : findTerminal()
    const user: User = {
      report: (progress) => (line.json ? undefined : console.error(progress)),
      print: printLines,
      ask: (question) => askAt(terminal, question),
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

function handleNoCommand(argv: string[]): Ending {
  const group = findGroup(commands, argv)
  if (argv.length === 0 || requestsHelp(argv)) return print(formatCommandList(group.length > 0 ? group : commands))
  if (argv[0] === '--version') return print(packageJson.version)
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

function print(text: string): Ending {
  console.log(text)
  return { exitCode: 0 }
}

import { AsyncLocalStorage } from 'node:async_hooks'
import { format } from 'node:util'
import type { CommandResult, CommandUser } from '../../src/cli/command.ts'
import { dataCommands, findCommand } from '../../src/cli/commands.ts'
import { main } from '../../src/cli/main.ts'
import { parseLine } from '../../src/cli/syntax.ts'
import type { Deps } from '../../src/deps.ts'

/** Nobody reads the progress or answers a question. */
export const nobody: CommandUser = {
  report: () => {},
  print: () => Promise.resolve(),
  ask: ({ preset }) => Promise.resolve(preset),
}

/** Runs a command with the dependencies of a test, without a process or a terminal. */
export async function runCommand(deps: Deps, ...words: string[]): Promise<CommandResult> {
  const found = findCommand(dataCommands, words)
  if (!found) throw new Error(`no such command: ${words.join(' ')}`)
  return found.command.run(deps, parseLine(found.command, found.rest), nobody)
}

interface Printed {
  stdout: string
  stderr: string
}

/** The output of each command, since several can run concurrently. */
const printing = new AsyncLocalStorage<Printed>()

/** Runs a command in this process, to save the second that a new process takes to start. */
export async function runHere(
  args: string[],
  environment: NodeJS.ProcessEnv,
): Promise<Printed & { exitCode: number | null }> {
  const printed: Printed = { stdout: '', stderr: '' }
  const exitCode = await printing.run(printed, () => main(args, environment))
  return { exitCode, ...printed }
}

/** Passes output outside of commands to the console of the test. */
function capture(method: 'log' | 'error', stream: keyof Printed): void {
  const original = console[method]
  console[method] = (...values: unknown[]) => {
    const printed = printing.getStore()
    if (printed) printed[stream] += `${format(...values)}\n`
    else original.apply(console, values)
  }
}

capture('log', 'stdout')
capture('error', 'stderr')

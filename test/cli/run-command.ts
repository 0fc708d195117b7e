import type { CommandResult, User } from '../../src/cli/command.ts'
import { dataCommands, findCommand } from '../../src/cli/commands.ts'
import { parseLine } from '../../src/cli/syntax.ts'
import type { Deps } from '../../src/deps.ts'

/** Nobody reads the progress or answers a question. */
export const nobody: User = {
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

import type { CommandResult } from '../../src/cli/command.ts'
import { dataCommands, findCommand } from '../../src/cli/commands.ts'
import { parseLine } from '../../src/cli/syntax.ts'
import type { Deps } from '../../src/deps.ts'

/** Runs a command with the dependencies of a test, without a process or a terminal. */
export async function runCommand(deps: Deps, ...words: string[]): Promise<CommandResult> {
  const found = findCommand(dataCommands, words)
  if (!found) throw new Error(`no such command: ${words.join(' ')}`)
  return found.command.run(
    deps,
    parseLine(found.command, found.rest),
    () => {},
    () => Promise.resolve(),
  )
}

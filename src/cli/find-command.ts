import type { Syntax } from './syntax.ts'

/** The command whose name the words begin with, and the words after it. */
export function findCommand<C extends Syntax>(
  commands: readonly C[],
  words: readonly string[],
): { command: C; rest: string[] } | undefined {
  const command = commands.find(({ name }) => beginsWith(words, name.split(' ')))
  return command && { command, rest: words.slice(command.name.split(' ').length) }
}

/** The commands of a group, such as `key`. */
export function findGroup<C extends Syntax>(commands: readonly C[], words: readonly string[]): C[] {
  const [group] = words
  return commands.filter(({ name }) => group !== undefined && name.startsWith(`${group} `))
}

function beginsWith(words: readonly string[], name: readonly string[]): boolean {
  return name.every((word, index) => words[index] === word)
}

import { editDistance, isMisspelling } from '../platform/edit-distance.ts'
import { joinWords } from '../platform/text.ts'
import type { Command } from './command.ts'
import { commonOptions, type Flag, isValueOption, type Syntax, type ValueOption } from './syntax.ts'

export function formatUsage({ name, args, rest, options }: Syntax): string {
  const parts = Object.entries(options).map(([option, spec]) => formatOptionUsage(option, spec))
  return ['waybill', name, ...args, ...(rest === undefined ? [] : [`[${rest}…]`]), ...parts, '[--json]'].join(' ')
}

export function formatCommandHelp(syntax: Syntax): string {
  const options = Object.entries({ ...syntax.options, ...commonOptions })
  const described = options.map(([name, option]) => [formatOption(name, option), option.help] as const)
  return [
    `${syntax.summary}.`,
    `Usage:\n${indent(formatUsage(syntax))}`,
    ...(syntax.alias === undefined ? [] : [`Alias:\n  waybill ${syntax.alias}`]),
    `Options:\n${indent(formatPairs(described))}`,
    ...(syntax.notes ?? []),
    `Examples:\n${indent(syntax.examples.join('\n'))}`,
  ].join('\n\n')
}

/** Formats the list of commands: all of them, or those of one group, such as `key`. */
export function formatCommandList(commands: readonly Command[]): string {
  return [
    'Usage:\n  waybill <command> [arguments] [--json]',
    `Commands:\n${indent(formatPairs(commands.map(({ name, summary }) => [name, summary])))}`,
    'Run waybill <command> --help for details and examples. In a clone of the repository, use\nnpm run waybill -- <command>. With --json, add -s (npm run -s …), so that npm prints nothing else.',
    'Exit codes: 0 success, 1 failure (see standard error), 2 usage error.',
  ].join('\n\n')
}

/** Suggests the closest command. `group`: the commands of the group that the words name, such as `key`. */
export function describeUnknownCommand(
  commands: readonly Syntax[],
  group: readonly Syntax[],
  words: readonly string[],
): string {
  const given = words.slice(0, group.length > 0 ? 2 : 1).join(' ')
  const unknown = `Unknown command "${given}".`
  const names = commands.flatMap(({ name, alias }) => [name, alias ?? []].flat())
  const [first = '', second = ''] = words
  // The words already name the group, so only its commands are closer.
  const nearest =
    suggestCommand(words, group.length > 0 ? names : [...names, ...listFirstWords(names)]) ??
    suggestCommand([second, first], names)
  const help = 'Run waybill --help for all commands.'
  if (nearest !== undefined) return `${unknown} Did you mean "waybill ${nearest}"?\n${help}`
  if (group.length > 0)
    return `${unknown}\n\nCommands:\n${indent(formatPairs(group.map(({ name, summary }) => [name, summary])))}\n\n${help}`
  const firstWords = listFirstWords(commands.map(({ name }) => name))
  return `${unknown} Commands start with ${joinWords(firstWords, 'or')}.\n${help}`
}

/** The name that is most similar to the first words. */
function suggestCommand(words: readonly string[], names: readonly string[]): string | undefined {
  const [nearest] = names
    .map((name) => {
      const given = words.slice(0, name.split(' ').length).join(' ')
      return { name, given, distance: editDistance(name, given) }
    })
    .filter(({ given, distance }) => isMisspelling(given, distance))
    .toSorted((a, b) => a.distance - b.distance || b.name.length - a.name.length)
  return nearest?.name
}

function listFirstWords(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.split(' ', 1).join('')))]
}

function formatOption(name: string, option: ValueOption | Flag): string {
  return isValueOption(option) ? `--${name} ${option.value}` : `--${name}`
}

function formatOptionUsage(name: string, option: ValueOption | Flag): string {
  const text = formatOption(name, option)
  if (!isValueOption(option)) return `[${text}]`
  if (option.multiple) return `[${text}]…`
  return option.required ? text : `[${text}]`
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ')
}

/** Aligns columns, with two spaces between them. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows]
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines.map((line) => formatRow(line, widths)).join('\n')
}

/** Formats names and values, one pair per line. */
export function formatPairs(pairs: readonly (readonly [string, string | undefined])[]): string {
  const given = pairs.filter(([, value]) => value !== undefined)
  const width = Math.max(...given.map(([name]) => name.length))
  return given.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n')
}

function formatRow(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) => cell.padEnd(widths[column] ?? 0))
    .join('  ')
    .trimEnd()
}

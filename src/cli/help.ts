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

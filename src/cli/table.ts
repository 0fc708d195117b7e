/** Columns as wide as their widest cell, two spaces apart. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows]
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines.map((line) => formatRow(line, widths)).join('\n')
}

/** Names and values, one pair a line. */
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

/** Names that differ more are not misspellings. */
export const maxDistance = 3

/** Whether a name with this distance from an existing one is probably a misspelling of it. Short names need to be closer. */
export function isMisspelling(name: string, distance: number): boolean {
  return distance <= Math.min(maxDistance, Math.max(1, Math.floor(name.length / 4)))
}

/**
 * Damerau–Levenshtein distance (optimal string alignment). Computes only the band of `maxDistance` around the diagonal,
 * so that long names cost little; the result is `Infinity` for larger distances.
 */
export function editDistance(a: string, b: string): number {
  const width = 2 * maxDistance + 1
  // In every row, a column stands for the same offset between the two positions.
  let beforeLast: number[] = []
  let last = Array.from({ length: width }, (_, column) => (column < maxDistance ? Infinity : column - maxDistance))
  for (let i = 1; i <= a.length; i++) {
    const row: number[] = []
    for (let column = 0; column < width; column++) {
      const j = i + column - maxDistance
      if (j < 0 || j > b.length) {
        row.push(Infinity)
        continue
      }
      const replaced = j === 0 ? Infinity : distanceAt(last, column) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = j > 1 && i > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? distanceAt(beforeLast, column) + 1 : Infinity
      row.push(Math.min(distanceAt(last, column + 1) + 1, distanceAt(row, column - 1) + 1, replaced, swapped))
    }
    if (Math.min(...row) > maxDistance) return Infinity
    ;[beforeLast, last] = [last, row]
  }
  return distanceAt(last, b.length - a.length + maxDistance)
}

function distanceAt(row: readonly number[], column: number): number {
  return row[column] ?? Infinity
}

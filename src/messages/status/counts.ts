/** How many items of a callback had each result. */
export interface StatusCounts {
  /** Changed something. */
  applied: number
  /** Already known, or too late to change anything. */
  repeated: number
  /** Not about a message of ours. */
  unknown: number
}

export function noCounts(): StatusCounts {
  return { applied: 0, repeated: 0, unknown: 0 }
}

export function addUp(parts: readonly StatusCounts[]): StatusCounts {
  const sum = noCounts()
  for (const part of parts) addTo(sum, part)
  return sum
}

export function addTo(sum: StatusCounts, { applied, repeated, unknown }: StatusCounts): void {
  sum.applied += applied
  sum.repeated += repeated
  sum.unknown += unknown
}

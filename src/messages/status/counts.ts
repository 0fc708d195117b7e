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
  return parts.reduce(
    (sum, part) => ({
      applied: sum.applied + part.applied,
      repeated: sum.repeated + part.repeated,
      unknown: sum.unknown + part.unknown,
    }),
    noCounts(),
  )
}

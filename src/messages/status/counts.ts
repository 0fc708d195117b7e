/** How many items of a callback had each result. */
export interface StatusCounts {
  /** They changed something. */
  applied: number
  /** They reported what was known already, or came too late to matter. */
  repeated: number
  /** No message of ours. */
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

/** One row of the table. */
export interface Row {
  measure: string
  unit: 'per second' | 'ms' | 'µs' | 'MB' | 'bytes' | 'count'
  ours: number
  other: number
  ratio: Ratio
  goal?: Goal | undefined
}

/** Waybill's figure divided by the other: the median of the rounds with its extremes. */
export interface Ratio {
  median: number
  least: number
  most: number
}

/** A bound on the ratio: a minimum for rates, a maximum for times; or a maximum of Waybill's figure, in its unit. */
export type Goal = { atLeast: number } | { atMost: number } | { oursAtMost: number }

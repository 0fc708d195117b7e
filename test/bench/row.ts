/** One line of the table. */
export interface Row {
  measure: string
  unit: 'per second' | 'ms' | 'MB'
  ours: number
  other: number
  ratio: Ratio
  goal?: Goal | undefined
}

/** Ours divided by the other: the median of the rounds, and the extremes that say how far to trust it. */
export interface Ratio {
  median: number
  least: number
  most: number
}

/** A bound on the ratio: rates want to be high, times low. */
export type Goal = { atLeast: number } | { atMost: number }

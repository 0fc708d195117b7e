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

export interface Sides<T> {
  ours: T
  other: T
}

/** Builds a table row from one figure of each round. */
export function summarize(
  rounds: Sides<number>[],
  { measure, unit, goal }: Pick<Row, 'measure' | 'unit' | 'goal'>,
): Row {
  const ratios = rounds.map(({ ours, other }) => ours / other)
  return {
    measure,
    unit,
    ours: median(rounds.map(({ ours }) => ours)),
    other: median(rounds.map(({ other }) => other)),
    ratio: { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) },
    goal,
  }
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
}

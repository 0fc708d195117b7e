import type { Row } from './row.ts'

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

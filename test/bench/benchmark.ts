import type { Ratio } from './compare.ts'
import type { Stage } from './stage.ts'

/** What `npm run bench -- <name>` runs: two sides, measured in one run on one machine. */
export interface Benchmark {
  name: string
  /** The other side, as the table names it. */
  against: string
  run(stage: Stage): Promise<Row[]>
}

/** One line of the table. */
export interface Row {
  measure: string
  unit: 'per second' | 'ms'
  ours: number
  other: number
  /** Ours divided by the other. */
  ratio: Ratio
  goal?: Goal
}

/** A bound on the ratio: rates want to be high, times low. */
export type Goal = { atLeast: number } | { atMost: number }

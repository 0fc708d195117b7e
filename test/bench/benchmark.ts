import type { Row } from './row.ts'
import type { Stage } from './stage.ts'

/** Runs as `npm run bench -- <name>`: compares two sides in one run on one machine. */
export interface Benchmark {
  name: string
  /** The label of the other side in the table. */
  against: string
  run(stage: Stage): Promise<Row[]>
}

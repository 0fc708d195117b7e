import type { Row } from './row.ts'
import type { Stage } from './stage.ts'

/** What `npm run bench -- <name>` runs: two sides, measured in one run on one machine. */
export interface Benchmark {
  name: string
  /** The other side, as the table names it. */
  against: string
  run(stage: Stage): Promise<Row[]>
}

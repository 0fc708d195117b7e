import { openAgainstAfternoon } from '../against-baseline.ts'
import type { Benchmark } from '../benchmark.ts'
import { toRow } from '../compare.ts'

const upstreamMilliseconds = 50
const connections = 512

/** With an upstream as slow as a good day on the Internet, many sends are in flight at once. */
export const slowUpstream: Benchmark = {
  name: 'slow-upstream',
  against: 'the afternoon version',
  run: async (stage) => {
    await using sides = await openAgainstAfternoon(stage, { upstreamMilliseconds })
    const comparison = await sides.compare(connections)
    const at = `upstream takes ${upstreamMilliseconds} ms, ${connections} connections`
    return [
      toRow(comparison, 'perSecond', { measure: `sends/s, ${at}`, goal: { atLeast: 6 } }),
      toRow(comparison, 'p50', { measure: `p50, ${at}` }),
      toRow(comparison, 'p99', { measure: `p99, ${at}` }),
    ]
  },
}

import { openAgainstBaseline } from '../against-baseline.ts'
import type { Benchmark } from '../benchmark.ts'
import { toRow } from '../compare.ts'

const upstreamMilliseconds = 50
const connections = 512

/** Many concurrent sends to an upstream with a typical Internet latency. */
export const slowUpstream: Benchmark = {
  name: 'slow-upstream',
  against: 'the baseline',
  run: async (stage) => {
    await using sides = await openAgainstBaseline(stage, { upstreamMilliseconds })
    const comparison = await sides.compare(connections)
    const at = `upstream takes ${upstreamMilliseconds} ms, ${connections} connections`
    return [
      toRow(comparison, 'perSecond', { measure: `sends/s, ${at}`, goal: { atLeast: 6 } }),
      toRow(comparison, 'p50', { measure: `p50, ${at}` }),
      toRow(comparison, 'p99', { measure: `p99, ${at}` }),
    ]
  },
}

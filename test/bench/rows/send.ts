import { openAgainstBaseline } from '../against-baseline.ts'
import type { Benchmark } from '../benchmark.ts'
import { toRow } from '../compare.ts'
import type { Goal, Row } from '../row.ts'

const goals: { connections: number; perSecond?: Goal; p99?: Goal }[] = [
  { connections: 64 },
  { connections: 128, perSecond: { atLeast: 8 }, p99: { atMost: 1 } },
  { connections: 256, perSecond: { atLeast: 10 } },
]

/**
 * A complete send: key, rate limit, checks, durable record, an upstream that responds immediately and durable outcome.
 */
export const send: Benchmark = {
  name: 'send',
  against: 'the baseline',
  run: async (stage) => {
    await using sides = await openAgainstBaseline(stage)
    const rows: Row[] = []
    for (const { connections, perSecond, p99 } of goals) {
      const comparison = await sides.compare(connections)
      const at = `${connections} connections`
      rows.push(
        toRow(comparison, 'perSecond', { measure: `sends/s, ${at}`, goal: perSecond }),
        toRow(comparison, 'p50', { measure: `p50, ${at}` }),
        toRow(comparison, 'p99', { measure: `p99, ${at}`, goal: p99 }),
      )
    }
    return rows
  },
}

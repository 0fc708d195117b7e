import { openAgainstBaseline } from '../against-baseline.ts'
import type { Benchmark } from '../benchmark.ts'
import { toRow } from '../compare.ts'

/** One send at a time, which batching must not slow down. */
export const lone: Benchmark = {
  name: 'lone',
  against: 'the baseline',
  run: async (stage) => {
    await using sides = await openAgainstBaseline(stage)
    const comparison = await sides.compare(1)
    return [
      toRow(comparison, 'p50', { measure: 'p50 of a lone send', goal: { atMost: 1 } }),
      toRow(comparison, 'p99', { measure: 'p99 of a lone send' }),
      toRow(comparison, 'perSecond', { measure: 'sends/s, one after the other' }),
    ]
  },
}

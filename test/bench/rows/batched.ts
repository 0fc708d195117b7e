import type { Benchmark } from '../benchmark.ts'
import { compare, toRow } from '../compare.ts'
import { createCustomer } from '../customer.ts'
import type { Goal, Row } from '../row.ts'
import { startProcess } from '../start-process.ts'

const goals: { connections: number; p50?: Goal }[] = [{ connections: 1, p50: { atMost: 1.05 } }, { connections: 128 }]

/** The cost of batching for a single request and its benefit for many concurrent ones. */
export const batched: Benchmark = {
  name: 'batched',
  against: 'the same server without batching',
  run: async (stage) => {
    await using upstream = await startProcess('test/bench/upstream.ts')
    await using batching = await createCustomer(stage, upstream.url)
    await using unbatched = await createCustomer(stage, upstream.url)
    await using ours = await startProcess('src/cli/waybill.js', { args: ['serve'], environment: batching.environment })
    await using other = await startProcess('test/bench/unbatched.ts', {
      args: ['serve'],
      environment: unbatched.environment,
    })
    const targets = { ours: batching.sendThrough(ours.url), other: unbatched.sendThrough(other.url) }
    const rows: Row[] = []
    for (const { connections, p50 } of goals) {
      const comparison = await compare(targets, connections, stage.rounds)
      const at = connections === 1 ? '1 connection' : `${connections} connections`
      rows.push(
        toRow(comparison, 'p50', { measure: `p50 of a send, ${at}`, goal: p50 }),
        toRow(comparison, 'perSecond', { measure: `sends/s, ${at}` }),
      )
    }
    return rows
  },
}

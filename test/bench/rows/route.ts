import type { Benchmark } from '../benchmark.ts'
import { compare, toRow } from '../compare.ts'
import { sendTarget } from '../customer.ts'
import { startProcess } from '../start-process.ts'

const connections = 64

/** The cost of Waybill's HTTP layer (routing, key, headers, validation) compared with a minimal Node.js server. */
export const route: Benchmark = {
  name: 'route',
  against: 'bare node:http, same answer',
  run: async (stage) => {
    await using ours = await startProcess('test/bench/stubbed.ts', { args: ['handler'] })
    await using other = await startProcess('test/bench/bare.ts')
    const targets = { ours: sendTarget(ours.url, 'any'), other: sendTarget(other.url, 'any') }
    const comparison = await compare(targets, connections, stage.rounds)
    return [
      toRow(comparison, 'perSecond', {
        measure: `requests/s of the send route with a stubbed handler, ${connections} connections`,
        goal: { atLeast: 0.85 },
      }),
    ]
  },
}

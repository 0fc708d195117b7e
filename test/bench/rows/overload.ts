import type { Benchmark } from '../benchmark.ts'
import { compare, toRow } from '../compare.ts'
import { createCustomer } from '../customer.ts'
import { startProcess } from '../start-process.ts'

/** The server's limit of concurrent requests (src/http/limits/load-limit.ts). */
const connections = 512

/** Twice as many callers as the server allows: served requests must not become slower. */
export const overload: Benchmark = {
  name: 'overload',
  against: `the same server with ${connections} connections`,
  run: async (stage) => {
    await using upstream = await startProcess('test/bench/upstream.ts')
    await using customer = await createCustomer(stage, upstream.url)
    await using server = await startProcess('src/cli/waybill.js', {
      args: ['serve'],
      environment: customer.environment,
    })
    const target = customer.sendThrough(server.url)
    const both = { ours: target, other: target }
    const callers = { ours: 2 * connections, other: connections }
    const comparison = await compare(both, callers, stage.rounds, { mayRefuse: true })
    const at = `${2 * connections} connections`
    return [
      toRow(comparison, 'p99', { measure: `p99 of served sends, ${at}` }),
      toRow(comparison, 'perSecond', { measure: `served sends/s, ${at}` }),
    ]
  },
}

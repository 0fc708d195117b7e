import type { Benchmark } from '../benchmark.ts'
import { compare, toRow } from '../compare.ts'
import { sendTarget } from '../customer.ts'
import { startProcess } from '../start-process.ts'

const connections = 64

/** The same call over both transports of one server, with a stubbed handler so that only the transports differ. */
export const trpc: Benchmark = {
  name: 'trpc',
  against: 'the same call over REST',
  run: async (stage) => {
    await using server = await startProcess('test/bench/stubbed.ts', { args: ['handler'] })
    const targets = {
      ours: sendTarget(server.url, 'any', '/trpc/message.send'),
      other: sendTarget(server.url, 'any'),
    }
    const comparison = await compare(targets, connections, stage.rounds)
    return [
      toRow(comparison, 'perSecond', {
        measure: `tRPC calls/s with a stubbed handler, ${connections} connections`,
        goal: { atLeast: 0.5 },
      }),
    ]
  },
}

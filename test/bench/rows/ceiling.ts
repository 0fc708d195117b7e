import type { Benchmark } from '../benchmark.ts'
import { compare, toRow } from '../compare.ts'
import { createCustomer, sendTarget } from '../customer.ts'
import { startProcess } from '../start-process.ts'

const connections = 256

/** How much of the speed remains with the database: compares with the same server and upstream without statements. */
export const ceiling: Benchmark = {
  name: 'ceiling',
  against: 'the same server without a database',
  run: async (stage) => {
    await using upstream = await startProcess('test/bench/upstream.ts')
    await using customer = await createCustomer(stage, upstream.url)
    await using ours = await startProcess('src/cli/waybill.js', { args: ['serve'], environment: customer.environment })
    await using other = await startProcess('test/bench/stubbed.ts', { args: ['database', upstream.url] })
    const targets = { ours: customer.sendThrough(ours.url), other: sendTarget(other.url, 'any') }
    const comparison = await compare(targets, connections, stage.rounds)
    return [toRow(comparison, 'perSecond', { measure: `sends/s, ${connections} connections`, goal: { atLeast: 0.6 } })]
  },
}

import { availableParallelism } from 'node:os'
import type { Benchmark } from '../benchmark.ts'
import { compare, toRow } from '../compare.ts'
import { createCustomer } from '../customer.ts'
import type { Stage } from '../stage.ts'
import { startProcess } from '../start-process.ts'

const connections = 256

/**
 * The benefit of a second node under a load that keeps more than one core busy. Each node, PostgreSQL, the upstream and
 * the load generator need a core each; with fewer than five cores, two nodes share the core of one.
 */
export const nodes: Benchmark = {
  name: 'nodes',
  against: 'one node',
  run: async (stage) => {
    await using upstream = await startProcess('test/bench/upstream.ts')
    await using two = await openNodes(stage, upstream.url, 2)
    await using one = await openNodes(stage, upstream.url, 1)
    const comparison = await compare({ ours: two.targets, other: one.targets }, connections, stage.rounds)
    const measure = `sends/s through two \`--role api\` processes, ${connections} connections, ${availableParallelism()} cores`
    return [toRow(comparison, 'perSecond', { measure, goal: { atLeast: 1.6 } })]
  },
}

async function openNodes(stage: Stage, upstreamUrl: string, count: number) {
  await using resources = new AsyncDisposableStack()
  const customer = resources.use(await createCustomer(stage, upstreamUrl))
  const targets = []
  while (targets.length < count) {
    const options = { args: ['serve', '--role', 'api'], environment: customer.environment }
    const node = resources.use(await startProcess('src/cli/waybill.js', options))
    targets.push(customer.sendThrough(node.url))
  }
  const kept = resources.move()
  return { targets, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

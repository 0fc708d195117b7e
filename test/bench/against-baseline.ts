import { compare, type Comparison } from './compare.ts'
import { createCustomer, type Customer } from './customer.ts'
import type { Stage } from './stage.ts'
import { startProcess } from './start-process.ts'
import type { Sides } from './row.ts'

/** Waybill and the baseline, each with its own database but the same upstream. */
export interface AgainstBaseline extends AsyncDisposable {
  /** Throws unless every acknowledged send is stored as sent on both sides. */
  compare(connections: number): Promise<Comparison>
}

export async function openAgainstBaseline(
  stage: Stage,
  { upstreamMilliseconds = 0 }: { upstreamMilliseconds?: number } = {},
): Promise<AgainstBaseline> {
  await using resources = new AsyncDisposableStack()
  const upstream = resources.use(await startProcess('test/bench/upstream.ts', { args: [String(upstreamMilliseconds)] }))
  const open = async (script: string, args: string[]) => {
    const customer = resources.use(await createCustomer(stage, upstream.url))
    const server = resources.use(await startProcess(script, { args, environment: customer.environment }))
    return { customer, target: customer.sendThrough(server.url) }
  }
  const ours = await open('src/cli/waybill.js', ['serve'])
  const other = await open('test/bench/baseline.ts', [])
  const kept = resources.move()
  return {
    compare: async (connections) => {
      const before = await countSent({ ours: ours.customer, other: other.customer })
      const comparison = await compare({ ours: ours.target, other: other.target }, connections, stage.rounds)
      const after = await countSent({ ours: ours.customer, other: other.customer })
      for (const side of ['ours', 'other'] as const) {
        const answered = comparison.answered[side]
        const stored = after[side] - before[side]
        if (stored !== answered)
          throw new Error(`${side}: ${answered} sends were acknowledged and ${stored} are stored`)
      }
      return comparison
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function countSent(customers: Sides<Customer>): Promise<Sides<number>> {
  return { ours: await customers.ours.countSent(), other: await customers.other.countSent() }
}

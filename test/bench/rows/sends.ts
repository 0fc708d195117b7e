import { compare, type Comparison, toRow } from '../compare.ts'
import { createCustomer, type Customer, sendTarget } from '../customer.ts'
import type { Benchmark, Stage } from '../stage.ts'
import { startProcess } from '../start-process.ts'
import type { Goal, Row, Sides } from '../row.ts'
import { storeWeeksOfMessages } from '../stored-messages.ts'

/** Waybill and the baseline, each with its own database but the same upstream. */
interface AgainstBaseline extends AsyncDisposable {
  /** Throws unless every acknowledged send is stored as sent on both sides. */
  compare(connections: number): Promise<Comparison>
}

async function openAgainstBaseline(
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

const batchedGoals: { connections: number; p50?: Goal }[] = [
  { connections: 1, p50: { atMost: 1.05 } },
  { connections: 128 },
]

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
    for (const { connections, p50 } of batchedGoals) {
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

const upstreamMilliseconds = 50
const slowConnections = 512

/** Many concurrent sends to an upstream with a typical Internet latency. */
export const slowUpstream: Benchmark = {
  name: 'slow-upstream',
  against: 'the baseline',
  run: async (stage) => {
    await using sides = await openAgainstBaseline(stage, { upstreamMilliseconds })
    const comparison = await sides.compare(slowConnections)
    const at = `upstream takes ${upstreamMilliseconds} ms, ${slowConnections} connections`
    return [
      toRow(comparison, 'perSecond', { measure: `sends/s, ${at}`, goal: { atLeast: 6 } }),
      toRow(comparison, 'p50', { measure: `p50, ${at}` }),
      toRow(comparison, 'p99', { measure: `p99, ${at}` }),
    ]
  },
}

const routeConnections = 64

/** The cost of Waybill's HTTP layer (routing, key, headers, validation) compared with a minimal Node.js server. */
export const route: Benchmark = {
  name: 'route',
  against: 'bare node:http, same answer',
  run: async (stage) => {
    await using ours = await startProcess('test/bench/stubbed.ts', { args: ['handler'] })
    await using other = await startProcess('test/bench/bare.ts')
    const targets = { ours: sendTarget(ours.url, 'any'), other: sendTarget(other.url, 'any') }
    const comparison = await compare(targets, routeConnections, stage.rounds)
    return [
      toRow(comparison, 'perSecond', {
        measure: `requests/s of the send route with a stubbed handler, ${routeConnections} connections`,
        goal: { atLeast: 0.85 },
      }),
    ]
  },
}

const trpcConnections = 64

/** The same call over both transports of one server, with a stubbed handler so that only the transports differ. */
export const trpc: Benchmark = {
  name: 'trpc',
  against: 'the same call over REST',
  run: async (stage) => {
    await using server = await startProcess('test/bench/stubbed.ts', { args: ['handler'] })
    const targets = { ours: sendTarget(server.url, 'any', '/trpc/message.send'), other: sendTarget(server.url, 'any') }
    const comparison = await compare(targets, trpcConnections, stage.rounds)
    return [
      toRow(comparison, 'perSecond', {
        measure: `tRPC calls/s with a stubbed handler, ${trpcConnections} connections`,
        goal: { atLeast: 0.5 },
      }),
    ]
  },
}

const storedConnections = 128
const storedMessages = { thorough: 5_000_000, quick: 500_000 }

/** The effect of many stored messages on a send. */
export const stored: Benchmark = {
  name: 'stored',
  against: 'an empty database',
  run: async (stage) => {
    const count = stage.isQuick ? storedMessages.quick : storedMessages.thorough
    await using upstream = await startProcess('test/bench/upstream.ts')
    await using grown = await createCustomer(stage, upstream.url)
    await using empty = await createCustomer(stage, upstream.url)
    await storeWeeksOfMessages(grown, count)
    await using ours = await startProcess('src/cli/waybill.js', { args: ['serve'], environment: grown.environment })
    await using other = await startProcess('src/cli/waybill.js', { args: ['serve'], environment: empty.environment })
    const targets = { ours: grown.sendThrough(ours.url), other: empty.sendThrough(other.url) }
    const comparison = await compare(targets, storedConnections, stage.rounds)
    const measure = `sends/s with ${count.toLocaleString('en')} messages stored, ${storedConnections} connections`
    return [toRow(comparison, 'perSecond', { measure, goal: { atLeast: 0.9 } })]
  },
}

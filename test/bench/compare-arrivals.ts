import { addEndpoint } from '../../src/webhooks/endpoints/change.ts'
import { appSecret, createCustomer, type Customer, phoneNumberId } from './customer.ts'
import { type ArrivalResult, measureArrivals } from './run-load.ts'
import { storeNumberedMessages } from './numbered-messages.ts'
import { type Row, type Sides, summarize } from './row.ts'
import type { Stage } from './stage.ts'
import { startProcess } from './start-process.ts'

/** A rate that leaves the machine idle, to measure latency instead of queueing. */
const statusesPerSecond = 100

export interface Disturbance {
  /** Adds the endpoints that may harm the others, before the servers of that side start. */
  disturb: (customer: Customer) => Promise<void>
  /** Resolves when the disturbance has its full effect. */
  settled?: (customer: Customer) => Promise<void>
  /** The label of the measured latency, after the percentile. */
  measure: string
  goals?: Partial<Record<'p50' | 'p99', Row['goal']>>
}

/**
 * Measures from the callback to the webhook of a healthy endpoint, through an api process and a worker process,
 * alternately with and without a disturbance.
 */
export async function compareArrivals(
  stage: Stage,
  { disturb, settled, measure, goals = {} }: Disturbance,
): Promise<Row[]> {
  await using resources = new AsyncDisposableStack()
  const upstream = resources.use(await startProcess('test/bench/upstream.ts'))
  const arrivals = resources.use(await startProcess('test/bench/arrivals.ts'))
  const count = stage.isQuick ? 100 : 300
  const open = async (isDisturbed: boolean) => {
    const customer = resources.use(await createCustomer(stage, upstream.url))
    await addEndpoint(customer.deps, customer.accountId, { url: arrivals.url })
    const messages = await storeNumberedMessages(customer, (stage.rounds.count + 1) * count)
    if (isDisturbed) await disturb(customer)
    const start = (role: string) =>
      startProcess('src/cli/waybill.js', { args: ['serve', '--role', role], environment: customer.environment })
    const { url } = resources.use(await start('api'))
    resources.use(await start('worker'))
    if (isDisturbed) await settled?.(customer)
    let sent = 0
    return () => {
      const callbacks = { url, appSecret, phoneNumberId, messages, statusesPerCallback: 1, sent }
      sent += count
      return measureArrivals(arrivals.url, { callbacks, perSecond: statusesPerSecond, count })
    }
  }
  const ours = await open(true)
  const other = await open(false)
  const both = async () => ({ ours: await ours(), other: await other() })
  // Warms up the compiler and caches of both sides.
  await both()
  const rounds: Sides<ArrivalResult>[] = []
  while (rounds.length < stage.rounds.count) rounds.push(await both())
  return (['p50', 'p99'] as const).map((figure) =>
    summarize(
      rounds.map(({ ours, other }) => ({ ours: ours[figure], other: other[figure] })),
      { measure: `${figure} ${measure}`, unit: 'ms', goal: goals[figure] },
    ),
  )
}

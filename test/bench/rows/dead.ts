import { addEndpoint } from '../../../src/webhooks/endpoints/add.ts'
import type { Benchmark } from '../benchmark.ts'
import { compareDeliveries } from '../compare-deliveries.ts'
import { appSecret, createCustomer, phoneNumberId } from '../customer.ts'
import { addDeadEndpoint, waitingForDead } from '../dead-endpoint.ts'
import { endpointUrls } from '../deliverer.ts'
import { type ArrivalResult, measureArrivals } from '../measure-arrivals.ts'
import { storeNumberedMessages } from '../numbered-messages.ts'
import { startOurDeliverer } from '../our-deliverer.ts'
import type { Row } from '../row.ts'
import type { Stage } from '../stage.ts'
import { startProcess } from '../start-process.ts'
import { startReceiver } from '../start-receiver.ts'
import { type Sides, summarize } from '../summarize.ts'

/** A rate that leaves the machine idle, to measure latency instead of queueing. */
const statusesPerSecond = 100

/** How an endpoint whose attempts all time out affects the deliveries of others. */
export const dead: Benchmark = {
  name: 'dead',
  against: 'without the dead endpoint',
  run: async (stage) => [...(await compareArrivals(stage)), await compareRates(stage)],
}

/** From the callback to the webhook, through an api process and a worker process. */
async function compareArrivals(stage: Stage): Promise<Row[]> {
  await using resources = new AsyncDisposableStack()
  const upstream = resources.use(await startProcess('test/bench/upstream.ts'))
  const receiver = resources.use(await startReceiver())
  const arrivals = resources.use(await startProcess('test/bench/arrivals.ts'))
  const count = stage.isQuick ? 100 : 300
  const open = async (isDisturbed: boolean) => {
    const customer = resources.use(await createCustomer(stage, upstream.url))
    await addEndpoint(customer.deps, customer.accountId, { url: arrivals.url })
    const messages = await storeNumberedMessages(customer, (stage.rounds.count + 1) * count)
    if (isDisturbed) await addDeadEndpoint(customer, receiver)
    const start = (role: string) =>
      startProcess('src/cli/waybill.js', { args: ['serve', '--role', role], environment: customer.environment })
    const { url } = resources.use(await start('api'))
    resources.use(await start('worker'))
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
      { measure: `${figure} from a status to its webhook while ${waiting} wait for a dead endpoint`, unit: 'ms' },
    ),
  )
}

async function compareRates(stage: Stage): Promise<Row> {
  await using upstream = await startProcess('test/bench/upstream.ts')
  await using receiver = await startReceiver()
  const start = (part: string, isDisturbed: boolean) =>
    startOurDeliverer(stage, {
      upstreamUrl: upstream.url,
      urls: endpointUrls(receiver.url, part),
      ...(isDisturbed && { prepare: (customer) => addDeadEndpoint(customer, receiver) }),
    })
  await using ours = await start('ours', true)
  await using other = await start('other', false)
  const measure = `deliveries/s to the others while ${waiting} wait for a dead endpoint`
  // Awaited here, before the processes end.
  return await compareDeliveries(
    stage,
    { ours, other },
    { count: stage.isQuick ? 4_000 : 16_000, receiver },
    { measure },
  )
}

const waiting = waitingForDead.toLocaleString('en')

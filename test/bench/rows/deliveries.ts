import { setTimeout as delay } from 'node:timers/promises'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { appSecret, createCustomer, type Customer, phoneNumberId } from '../customer.ts'
import { type ArrivalResult, measureArrivals } from '../run-load.ts'
import { storeNumberedMessages } from '../numbered-messages.ts'
import { type Goal, type Row, type Sides, summarize } from '../row.ts'
import type { Benchmark, Stage } from '../stage.ts'
import { startProcess } from '../start-process.ts'
import { createAccount } from '../../../src/accounts/account.ts'
import { endpointUrls, startBareDeliverer } from '../deliverer.ts'
import { compareDeliveries } from '../compare-deliveries.ts'
import { queueDeliveries, startOurDeliverer } from '../our-deliverer.ts'
import { startPgBossDeliverer } from '../pg-boss-deliverer.ts'
import { type Receiver, startReceiver } from '../start-receiver.ts'

/** A rate that leaves the machine idle, to measure latency instead of queueing. */
const statusesPerSecond = 100

interface Disturbance {
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
async function compareArrivals(stage: Stage, { disturb, settled, measure, goals = {} }: Disturbance): Promise<Row[]> {
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

const receivers: { milliseconds: number; measure: string; goal?: Goal }[] = [
  { milliseconds: 0, measure: 'deliveries/s, the receiver responds immediately', goal: { atLeast: 2.5 } },
  { milliseconds: 50, measure: 'deliveries/s, the receiver takes 50 ms' },
]

/** From a full queue to signed and recorded POSTs, by one worker process. */
export const deliveries: Benchmark = {
  name: 'deliveries',
  against: 'pg-boss, the same POST as a job',
  run: async (stage) => {
    const rows: Row[] = []
    for (const receiver of receivers) rows.push(await measure(stage, receiver))
    return rows
  },
}

async function measure(stage: Stage, { milliseconds, ...line }: (typeof receivers)[number]): Promise<Row> {
  await using upstream = await startProcess('test/bench/upstream.ts')
  await using receiver = await startReceiver({ milliseconds })
  await using ours = await startOurDeliverer(stage, {
    upstreamUrl: upstream.url,
    urls: endpointUrls(receiver.url, 'ours'),
  })
  await using other = await startPgBossDeliverer(stage, endpointUrls(receiver.url, 'other'))
  // Awaited here, before the processes end.
  return await compareDeliveries(stage, { ours, other }, { count: stage.isQuick ? 4_000 : 16_000, receiver }, line)
}

/** The cost of the queue, the leases and the records, which the other side lacks. */
export const deliveriesBare: Benchmark = {
  name: 'deliveries-bare',
  against: 'a bare loop of signed POSTs, no database',
  run: async (stage) => {
    await using upstream = await startProcess('test/bench/upstream.ts')
    await using receiver = await startReceiver()
    await using ours = await startOurDeliverer(stage, {
      upstreamUrl: upstream.url,
      urls: endpointUrls(receiver.url, 'ours'),
    })
    await using other = await startBareDeliverer(endpointUrls(receiver.url, 'other'))
    const rounds = { count: stage.isQuick ? 4_000 : 16_000, receiver }
    const measure = 'deliveries/s, the receiver responds immediately'
    return [await compareDeliveries(stage, { ours, other }, rounds, { measure, goal: { atLeast: 0.65 } })]
  },
}

const waitingForDead = 100_000

/** How an endpoint whose attempts all time out affects the deliveries of others. */
export const dead: Benchmark = {
  name: 'dead',
  against: 'without the dead endpoint',
  run: async (stage) => [...(await compareLatencies(stage)), await compareRates(stage)],
}

async function compareLatencies(stage: Stage): Promise<Row[]> {
  await using receiver = await startReceiver()
  // Awaited here, before the receiver ends.
  return await compareArrivals(stage, {
    disturb: (customer) => addDeadEndpoint(customer, receiver),
    measure: `from a status to its webhook while ${waiting} wait for a dead endpoint`,
  })
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

/** An endpoint that never responds, so that each attempt times out, and its waiting deliveries. */
async function addDeadEndpoint(customer: Customer, receiver: Receiver): Promise<void> {
  const { endpointId } = await addEndpoint(customer.deps, customer.accountId, { url: `${receiver.url}/dead` })
  await queueDeliveries(customer, [endpointId], waitingForDead)
}

const troubled = { slow: 20, dead: 5, failing: 5 }
const waitingForEach = 3_000
/** An account can have 20 endpoints. */
const perAccount = 15
/** Time until the windows of the slow endpoints stop growing. */
const warmUpMilliseconds = 20_000

/** How endpoints that respond slowly, fail or never respond affect the deliveries of a healthy one. */
export const slow: Benchmark = {
  name: 'slow',
  against: 'alone',
  run: async (stage) => {
    await using receiver = await startProcess('test/bench/troubled-receiver.ts')
    // Awaited here, before the receiver ends.
    return await compareArrivals(stage, {
      disturb: (customer) => addTroubledEndpoints(customer, receiver.url),
      settled: () => delay(warmUpMilliseconds),
      measure: 'from a status to its webhook beside 20 slow, 5 dead and 5 failing endpoints',
      goals: { p99: { atMost: 1.5 } },
    })
  },
}

async function addTroubledEndpoints(customer: Customer, url: string): Promise<void> {
  const urls = Object.entries(troubled).flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, index) => `${url}/${kind}/${index}`),
  )
  for (let added = 0; added < urls.length; added += perAccount) {
    const { accountId } = await createAccount(customer.deps, { name: 'In trouble' })
    const endpointIds: string[] = []
    for (const url of urls.slice(added, added + perAccount))
      endpointIds.push((await addEndpoint(customer.deps, accountId, { url })).endpointId)
    await queueDeliveries({ ...customer, accountId }, endpointIds, endpointIds.length * waitingForEach)
  }
}

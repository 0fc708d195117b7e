/**
 * `npm run bench -- --against DIR` compares this checkout with another one, for example the version before a change.
 * Each side sets up its schema with its own code and runs as its own process. Both share the load generator, the
 * upstream and the receivers.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { compare, toRow } from './compare.ts'
import { compareDeliveries } from './compare-deliveries.ts'
import { appSecret, phoneNumberId } from './customer.ts'
import { endpointUrls } from './deliverer.ts'
import { load, root, startProcess } from './start-process.ts'
import { type Row, type Sides, summarize } from './row.ts'
import type { Stage } from './stage.ts'
import { startReceiver } from './start-receiver.ts'
import type { Target } from './run-load.ts'

const sendConnections = [64, 128, 256]
const callbackLoads = [
  { statusesPerCallback: 1, connections: 64 },
  { statusesPerCallback: 100, connections: 8 },
]
/** Each message can be reported twice; enough for the fastest measured run. */
const storedMessages = { thorough: 400_000, quick: 120_000 }
/** No server listens at this address, because no worker runs while statuses are measured. */
const unusedEndpointUrl = 'http://127.0.0.1:9'

export async function compareSends(stage: Stage, otherRoot: string): Promise<Row[]> {
  await using resources = new AsyncDisposableStack()
  const upstream = resources.use(await startProcess('test/bench/upstream.ts', { args: ['0'] }))
  const open = async (checkout: string) => {
    const { createCustomer } = await load<typeof import('./customer.ts')>(checkout, 'customer.ts')
    const customer = resources.use(await createCustomer(stage, upstream.url))
    const server = resources.use(
      await startProcess('src/cli/waybill.js', { root: checkout, args: ['serve'], environment: customer.environment }),
    )
    return customer.sendThrough(server.url)
  }
  const targets = { ours: await open(root), other: await open(otherRoot) }
  const rows: Row[] = []
  for (const connections of sendConnections) {
    const comparison = await compare(targets, connections, stage.rounds)
    rows.push(
      toRow(comparison, 'perSecond', { measure: `sends/s, ${connections} connections` }),
      toRow(comparison, 'p99', { measure: `p99 of a send, ${connections} connections` }),
    )
  }
  const lone = await compare(targets, 1, stage.rounds)
  return [...rows, toRow(lone, 'p50', { measure: 'p50 of a lone send' })]
}

export async function compareStatuses(stage: Stage, otherRoot: string): Promise<Row[]> {
  const rows: Row[] = []
  for (const callbackLoad of callbackLoads) rows.push(await compareCallbacks(stage, otherRoot, callbackLoad))
  return rows
}

async function compareCallbacks(
  stage: Stage,
  otherRoot: string,
  { statusesPerCallback, connections }: (typeof callbackLoads)[number],
): Promise<Row> {
  await using resources = new AsyncDisposableStack()
  const upstream = resources.use(await startProcess('test/bench/upstream.ts'))
  const open = async (checkout: string) => {
    const { createCustomer } = await load<typeof import('./customer.ts')>(checkout, 'customer.ts')
    const { storeNumberedMessages } = await load<typeof import('./numbered-messages.ts')>(
      checkout,
      'numbered-messages.ts',
    )
    const { addEndpoint } = await load<typeof import('../../src/webhooks/endpoints/change.ts')>(
      checkout,
      // The first two paths are those of older versions.
      '../../src/webhook/add-endpoint.ts',
      '../../src/webhooks/endpoints/add.ts',
      '../../src/webhooks/endpoints/change.ts',
    )
    const customer = resources.use(await createCustomer(stage, upstream.url))
    await addEndpoint(customer.deps, customer.accountId, { url: unusedEndpointUrl })
    const count = stage.isQuick ? storedMessages.quick : storedMessages.thorough
    const messages = await storeNumberedMessages(customer, count)
    const secret = customer.environment['META_APP_SECRET'] ?? appSecret
    const { url } = resources.use(
      await startProcess('src/cli/waybill.js', {
        root: checkout,
        args: ['serve', '--role', 'api'],
        environment: customer.environment,
      }),
    )
    return (sent: number): Target => ({ url, appSecret: secret, phoneNumberId, messages, statusesPerCallback, sent })
  }
  const targets = { ours: await open(root), other: await open(otherRoot) }
  const comparison = await compare(targets, connections, stage.rounds)
  return toRow(comparison, 'perSecond', {
    measure: `statuses/s, ${statusesPerCallback} per callback`,
    times: statusesPerCallback,
  })
}

export async function compareWorkers(stage: Stage, otherRoot: string): Promise<Row[]> {
  await using upstream = await startProcess('test/bench/upstream.ts')
  await using receiver = await startReceiver({ milliseconds: 0 })
  const open = async (checkout: string, side: string) => {
    const { startOurDeliverer } = await load<typeof import('./our-deliverer.ts')>(checkout, 'our-deliverer.ts')
    return startOurDeliverer(stage, { upstreamUrl: upstream.url, urls: endpointUrls(receiver.url, side) })
  }
  await using ours = await open(root, 'ours')
  await using other = await open(otherRoot, 'other')
  const count = stage.isQuick ? 4_000 : 16_000
  return [await compareDeliveries(stage, { ours, other }, { count, receiver }, { measure: 'deliveries/s' })]
}

/** Time until the window of the endpoint stops growing. */
const slowWarmUpMilliseconds = 20_000
const slowRoundSeconds = 10

/** Deliveries to one endpoint that responds after two seconds. Both sides run at once, since they mostly wait. */
export async function compareSlowEndpoint(stage: Stage, otherRoot: string): Promise<Row[]> {
  await using resources = new AsyncDisposableStack()
  const upstream = resources.use(await startProcess('test/bench/upstream.ts'))
  const receiver = resources.use(await startProcess('test/bench/troubled-receiver.ts'))
  const open = async (checkout: string) => {
    const { createCustomer } = await load<typeof import('./customer.ts')>(checkout, 'customer.ts')
    const { queueDeliveries } = await load<typeof import('./our-deliverer.ts')>(checkout, 'our-deliverer.ts')
    const { addEndpoint } = await load<typeof import('../../src/webhooks/endpoints/change.ts')>(
      checkout,
      // The first path is that of older versions.
      '../../src/webhooks/endpoints/add.ts',
      '../../src/webhooks/endpoints/change.ts',
    )
    const customer = resources.use(await createCustomer(stage, upstream.url))
    const { accountId, deps, environment } = customer
    const { endpointId } = await addEndpoint(deps, accountId, { url: `${receiver.url}/slow` })
    await queueDeliveries(customer, [endpointId], 20_000)
    resources.use(
      await startProcess('src/cli/waybill.js', { root: checkout, args: ['serve', '--role', 'worker'], environment }),
    )
    return async () => {
      const { rows } = await sql<{ count: number }>`
        select count(*)::integer as count from webhook_finished_deliveries where outcome = 'delivered'`.execute(deps.db)
      return rows[0]?.count ?? 0
    }
  }
  const count = { ours: await open(root), other: await open(otherRoot) }
  const countBoth = async () => ({ ours: await count.ours(), other: await count.other() })
  await delay(slowWarmUpMilliseconds)
  const rounds: Sides<number>[] = []
  while (rounds.length < stage.rounds.count) {
    const before = await countBoth()
    await delay(slowRoundSeconds * 1_000)
    const after = await countBoth()
    rounds.push({
      ours: (after.ours - before.ours) / slowRoundSeconds,
      other: (after.other - before.other) / slowRoundSeconds,
    })
  }
  return [
    summarize(rounds, { measure: 'deliveries/s to an endpoint that takes 2 s', unit: 'per second', goal: undefined }),
  ]
}

import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import type { Row, Sides } from '../row.ts'
import { compare, toRow } from '../compare.ts'
import { appSecret, createCustomer, type Customer, phoneNumberId } from '../customer.ts'
import { storeNumberedMessages } from '../numbered-messages.ts'
import type { Benchmark, Stage } from '../stage.ts'
import { startProcess } from '../start-process.ts'
import type { Target } from '../run-load.ts'

/** Fewer concurrent callbacks with a hundred statuses, since each keeps the other side busy for long. */
const loads = [
  { statusesPerCallback: 1, connections: 64 },
  { statusesPerCallback: 100, connections: 8 },
]
/** Each message can be reported twice; enough for the fastest measured run. */
const messages = { thorough: 400_000, quick: 120_000 }

/**
 * Signed callbacks in which every status changes a message and one endpoint subscribes to it, so that each status
 * causes an update, an event and a delivery. All are durable before the response to the callback. No worker runs.
 */
export const statuses: Benchmark = {
  name: 'statuses',
  against: 'one transaction per status',
  run: async (stage) => {
    const rows: Row[] = []
    for (const load of loads) rows.push(await measure(stage, load))
    return rows
  },
}

async function measure(stage: Stage, { statusesPerCallback, connections }: (typeof loads)[number]): Promise<Row> {
  await using resources = new AsyncDisposableStack()
  const upstream = resources.use(await startProcess('test/bench/upstream.ts'))
  const open = async (script: string, args: string[]) => {
    const customer = resources.use(await createCustomer(stage, upstream.url))
    await addEndpoint(customer.deps, customer.accountId, { url: nobody })
    const stored = await storeNumberedMessages(customer, stage.isQuick ? messages.quick : messages.thorough)
    const { url } = resources.use(await startProcess(script, { args, environment: customer.environment }))
    const target = (sent: number): Target => ({
      url,
      appSecret,
      phoneNumberId,
      messages: stored,
      statusesPerCallback,
      sent,
    })
    return { customer, target }
  }
  const ours = await open('src/cli/waybill.js', ['serve', '--role', 'api'])
  const other = await open('test/bench/status-by-status.ts', [])
  const comparison = await compare({ ours: ours.target, other: other.target }, connections, stage.rounds)
  await checkDeliveries({ ours: ours.customer, other: other.customer }, comparison.answered, statusesPerCallback)
  return toRow(comparison, 'perSecond', {
    measure: `statuses/s, ${statusesPerCallback} per callback, ${connections} connections`,
    times: statusesPerCallback,
    goal: { atLeast: 10 },
  })
}

const nobody = 'http://127.0.0.1:9'

/** Throws unless each status of an acknowledged callback has a delivery. */
async function checkDeliveries(customers: Sides<Customer>, answered: Sides<number>, each: number): Promise<void> {
  for (const side of ['ours', 'other'] as const) {
    const { count } = await customers[side].deps.db
      .selectFrom('webhook_deliveries')
      .innerJoin('events', (join) =>
        join
          .onRef('events.account_id', '=', 'webhook_deliveries.account_id')
          .onRef('events.id', '=', 'webhook_deliveries.event_id'),
      )
      .select(({ fn }) => fn.countAll<string>().as('count'))
      .executeTakeFirstOrThrow()
    if (Number(count) !== answered[side] * each)
      throw new Error(`${side}: ${answered[side] * each} statuses were acknowledged and ${count} have a delivery`)
  }
}

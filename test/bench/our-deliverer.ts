import { sql } from 'kysely'
import { webhooks } from '../../contracts/events.ts'
import { addEndpoint } from '../../src/webhooks/endpoints/change.ts'
import { createCustomer, type Customer } from './customer.ts'
import type { Deliverer } from './deliverer.ts'
import { numberDigits, numberedIdStart } from './numbered-ids.ts'
import { openForFilling } from './open-for-filling.ts'
import type { Stage } from './stage.ts'
import { startProcess, until } from './start-process.ts'

/** Waybill's worker alone in its process. `prepare` adds data before it starts. */
export async function startOurDeliverer(
  stage: Stage,
  {
    upstreamUrl,
    urls,
    prepare,
  }: { upstreamUrl: string; urls: string[]; prepare?: (customer: Customer) => Promise<void> },
): Promise<Deliverer> {
  await using resources = new AsyncDisposableStack()
  const customer = resources.use(await createCustomer(stage, upstreamUrl))
  const endpointIds: string[] = []
  for (const url of urls) endpointIds.push((await addEndpoint(customer.deps, customer.accountId, { url })).endpointId)
  await prepare?.(customer)
  resources.use(
    await startProcess('src/cli/waybill.js', {
      args: ['serve', '--role', 'worker'],
      environment: customer.environment,
    }),
  )
  const kept = resources.move()
  let queued = 0
  return {
    deliver: async (count) => {
      queued += count
      await queueDeliveries(customer, endpointIds, count)
    },
    settled: () => until(async () => (await countDelivered(customer, endpointIds)) === queued),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Stores events for the endpoints alternately, in one statement on the server, without notifying a worker. */
export async function queueDeliveries(customer: Customer, endpointIds: string[], count: number): Promise<void> {
  await using db = openForFilling(customer)
  const { accountId } = customer
  const event = webhooks['message.delivered'].example
  const eventIdStart = numberedIdStart('evt', new Date())
  const deliveryIdStart = numberedIdStart('dlv', new Date())
  await db.transaction().execute(async (trx) => {
    await sql`
      with numbered as (
        select n, lpad(n::text, ${sql.lit(numberDigits)}, '0') as place from generate_series(0, ${count} - 1) as n
      ), told as (
        insert into events (account_id, id, type, message_id, payload, created_at)
        select ${accountId}, ${eventIdStart}::text || place, ${event.type}, ${event.data.messageId},
          ${JSON.stringify(event)}, now()
        from numbered
      )
      insert into webhook_deliveries (account_id, event_id, endpoint_id, id, due_at, created_at)
      select ${accountId}, ${eventIdStart}::text || place, (${endpointIds}::text[])[1 + n % ${endpointIds.length}],
        ${deliveryIdStart}::text || place, now(), now()
      from numbered`.execute(trx)
    await sql`analyze events, webhook_deliveries`.execute(trx)
  })
}

async function countDelivered({ deps, accountId }: Customer, endpointIds: string[]): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from webhook_finished_deliveries
    where account_id = ${accountId} and endpoint_id = any (${endpointIds}) and outcome = 'delivered'`.execute(deps.db)
  return rows[0]?.count ?? 0
}

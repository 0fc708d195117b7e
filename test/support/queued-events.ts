import { z } from 'zod'
import type { Deps } from '../../src/deps.ts'

const Event = z.looseObject({ type: z.string(), data: z.record(z.string(), z.unknown()) })

/** The events of an account that wait for delivery, each with its endpoint, in the order in which they happened. */
export async function listQueuedEvents(
  { db }: Pick<Deps, 'db'>,
  accountId: string,
): Promise<{ endpointId: string; event: z.infer<typeof Event> }[]> {
  const rows = await db
    .selectFrom('webhook_deliveries')
    .innerJoin('events', (join) =>
      join
        .onRef('events.id', '=', 'webhook_deliveries.event_id')
        .onRef('events.account_id', '=', 'webhook_deliveries.account_id'),
    )
    .select(['endpoint_id', 'payload'])
    .where('webhook_deliveries.account_id', '=', accountId)
    .orderBy('events.id')
    .execute()
  return rows.map(({ endpoint_id, payload }) => ({ endpointId: endpoint_id, event: Event.parse(JSON.parse(payload)) }))
}

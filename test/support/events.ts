import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import type { Deps } from '../../src/deps.ts'
import type { Database } from '../../src/platform/db/schema.ts'

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

interface RecordedEvent {
  type: string
  timestamp: string
  data: object
}

/** The events of an account, or of one of its messages, in the order in which they happened. */
export async function listRecordedEvents(
  { db }: Pick<Deps, 'db'>,
  { accountId }: { accountId: string },
  messageId?: string,
): Promise<RecordedEvent[]> {
  let query = db.selectFrom('events').select('payload').where('account_id', '=', accountId).orderBy('id')
  if (messageId !== undefined) query = query.where('message_id', '=', messageId)
  return (await query.execute()).map(({ payload }) => JSON.parse(payload))
}

export interface GivenEvent {
  accountId: string
  id: string
  type: string
  messageId: string
  payload: string
  createdAt: Date
}

/** Inserts events at given times with a due delivery for each subscribed endpoint. */
export async function insertEvents(
  db: Kysely<Database>,
  events: readonly GivenEvent[],
  newDeliveryId: () => string,
): Promise<void> {
  const columns = [
    events.map((event) => event.accountId),
    events.map((event) => event.id),
    events.map((event) => event.type),
    events.map((event) => event.messageId),
    events.map((event) => event.payload),
  ].map((column) => sql`${column}::text[]`)
  await sql`
    insert into events (account_id, id, type, message_id, payload, created_at)
    select * from unnest(${sql.join(columns)}, ${events.map((event) => event.createdAt)}::timestamptz[])`.execute(db)
  const endpoints = await db.selectFrom('webhook_endpoints').select(['id', 'account_id', 'events']).execute()
  const rows = events.flatMap((event) =>
    endpoints
      .filter((endpoint) => endpoint.account_id === event.accountId && endpoint.events.includes(event.type))
      .map((endpoint) => ({ account_id: event.accountId, event_id: event.id, endpoint_id: endpoint.id })),
  )
  await sql`
    insert into webhook_deliveries (account_id, event_id, endpoint_id, id, due_at, created_at)
    select *, now(), now() from unnest(
      ${rows.map((row) => row.account_id)}::text[], ${rows.map((row) => row.event_id)}::text[],
      ${rows.map((row) => row.endpoint_id)}::text[], ${rows.map(newDeliveryId)}::text[]
    )`.execute(db)
}

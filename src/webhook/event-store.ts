import type { Kysely, Selectable } from 'kysely'
import type { Database, EventsTable } from '../db/schema.ts'
import { statement } from '../db/statement.ts'

export type EventRow = Selectable<EventsTable>

export interface NewEvent {
  accountId: string
  id: string
  type: string
  messageId: string
  /** The body of the webhook, byte for byte. */
  payload: string
  createdAt: Date
}

const findEndpoints = statement<{ id: string; account_id: string; events: string[] }>(
  'find_endpoints_to_tell',
  'select id, account_id, events from webhook_endpoints where account_id = any ($1::text[])',
)

const insertAll = statement<object>(
  'insert_events',
  `with told as (
    insert into events (account_id, id, type, message_id, payload, created_at)
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
  )
  insert into webhook_deliveries (account_id, event_id, endpoint_id, id, due_at, created_at)
  select *, now(), now() from unnest($7::text[], $8::text[], $9::text[], $10::text[])`,
)

/**
 * Writes events and, for each endpoint that asked for their type, a delivery that is due at once. A
 * disabled endpoint gets its deliveries too: they wait until it is enabled again. Call it in the
 * transaction of the change that the events tell. `newDeliveryId` gives a `dlv_` id.
 */
export async function insertEvents(
  db: Kysely<Database>,
  events: readonly NewEvent[],
  newDeliveryId: () => string,
): Promise<void> {
  if (events.length === 0) return
  const endpoints = await findEndpoints(db, [[...new Set(events.map((event) => event.accountId))]])
  const deliveries = events.flatMap((event) =>
    endpoints
      .filter((endpoint) => endpoint.account_id === event.accountId && endpoint.events.includes(event.type))
      .map((endpoint) => ({ event, endpointId: endpoint.id, id: newDeliveryId() })),
  )
  await insertAll(db, [
    events.map((event) => event.accountId),
    events.map((event) => event.id),
    events.map((event) => event.type),
    events.map((event) => event.messageId),
    events.map((event) => event.payload),
    events.map((event) => event.createdAt),
    deliveries.map(({ event }) => event.accountId),
    deliveries.map(({ event }) => event.id),
    deliveries.map((delivery) => delivery.endpointId),
    deliveries.map((delivery) => delivery.id),
  ])
}

export interface EventFilter {
  type?: string | undefined
  messageId?: string | undefined
  /** Ids carry their time: the first id of a period bounds it. */
  fromId?: string | undefined
  untilId: string
  /** Only events behind this one: the last of the page before. */
  afterId?: string | undefined
}

/** Oldest first; at most `limit`. */
export function findEvents(
  db: Kysely<Database>,
  accountId: string,
  filter: EventFilter,
  limit: number,
): Promise<EventRow[]> {
  const { type, messageId, fromId, untilId, afterId } = filter
  let query = db.selectFrom('events').selectAll().where('account_id', '=', accountId).where('id', '<', untilId)
  if (type !== undefined) query = query.where('type', '=', type)
  if (messageId !== undefined) query = query.where('message_id', '=', messageId)
  if (fromId !== undefined) query = query.where('id', '>=', fromId)
  if (afterId !== undefined) query = query.where('id', '>', afterId)
  return query.orderBy('id').limit(limit).execute()
}

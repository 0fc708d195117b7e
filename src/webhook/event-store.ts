import { sql, type Kysely, type Selectable } from 'kysely'
import type { Database, EventsTable } from '../db/schema.ts'

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

/**
 * Writes events and, for each endpoint that asked for their type, a delivery that is due at once. A
 * disabled endpoint gets its deliveries too: they wait until it is enabled again. Call it in the
 * transaction of the change that the events tell. `newDeliveryId` gives a `dlv_` id.
 */
export async function insertEvents(
  db: Kysely<Database>,
  events: NewEvent[],
  newDeliveryId: () => string,
): Promise<void> {
  if (events.length === 0) return
  await db
    .insertInto('events')
    .values(
      events.map((event) => ({
        account_id: event.accountId,
        id: event.id,
        type: event.type,
        message_id: event.messageId,
        payload: event.payload,
        created_at: event.createdAt,
      })),
    )
    .execute()
  const accountIds = [...new Set(events.map((event) => event.accountId))]
  const endpoints = await db
    .selectFrom('webhook_endpoints')
    .select(['id', 'account_id', 'events'])
    .where('account_id', 'in', accountIds)
    .execute()
  const deliveries = events.flatMap((event) =>
    endpoints
      .filter((endpoint) => endpoint.account_id === event.accountId && endpoint.events.includes(event.type))
      .map((endpoint) => ({
        id: newDeliveryId(),
        accountId: event.accountId,
        endpointId: endpoint.id,
        eventId: event.id,
      })),
  )
  if (deliveries.length === 0) return
  await sql`
    insert into webhook_deliveries (id, account_id, endpoint_id, event_id, due_at, created_at)
    select id, account_id, endpoint_id, event_id, now(), now()
    from unnest(
      ${deliveries.map((delivery) => delivery.id)}::text[], ${deliveries.map((delivery) => delivery.accountId)}::text[],
      ${deliveries.map((delivery) => delivery.endpointId)}::text[], ${deliveries.map((delivery) => delivery.eventId)}::text[]
    ) as d (id, account_id, endpoint_id, event_id)`.execute(db)
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

/** The database's time: the clocks of the nodes may differ from it and from each other. */
export async function readDatabaseClock(db: Kysely<Database>): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db)
  const now = rows[0]?.now
  if (!now) throw new Error('the database did not tell its time')
  return now
}

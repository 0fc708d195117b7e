import { type Kysely, sql } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'

export interface EndpointKeys {
  accountId: string
  endpointId: string
}

/** Event IDs from `fromId` (inclusive) to `untilId` (exclusive). */
export interface EventRange {
  fromId: string
  untilId: string
}

/** Returns IDs of events of these types, oldest first, at most `limit`. */
export async function findEventIds(
  db: Kysely<Database>,
  accountId: string,
  types: readonly string[],
  { fromId, untilId }: EventRange,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('events')
    .select('id')
    .where('account_id', '=', accountId)
    .where('id', '>=', fromId)
    .where('id', '<', untilId)
    .where('type', 'in', types)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

export interface WaitingDelivery {
  id: string
  event_id: string
}

/** Returns waiting and running deliveries of a range of events. */
export function findWaitingDeliveries(
  db: Kysely<Database>,
  { accountId, endpointId }: EndpointKeys,
  { fromId, untilId }: EventRange,
): Promise<WaitingDelivery[]> {
  return db
    .selectFrom('webhook_deliveries')
    .select(['id', 'event_id'])
    .where('account_id', '=', accountId)
    .where('endpoint_id', '=', endpointId)
    .where('event_id', '>=', fromId)
    .where('event_id', '<', untilId)
    .execute()
}

/** Returns those of the deliveries whose last attempt failed with this error. */
export async function filterByLastError(
  db: Kysely<Database>,
  accountId: string,
  deliveryIds: readonly string[],
  { error, since }: { error: string; since: Date },
): Promise<Set<string>> {
  if (deliveryIds.length === 0) return new Set()
  const { rows } = await sql<{ id: string }>`
    select candidate.id
    from unnest(${deliveryIds}::text[]) as candidate (id)
    cross join lateral (
      select error from webhook_attempts
      where delivery_id = candidate.id and account_id = ${accountId}
        -- Skips older partitions, because no attempt precedes its event.
        and started_at >= ${since}::timestamptz - interval '1 hour'
      order by started_at desc limit 1
    ) last
    where last.error = ${error}`.execute(db)
  return new Set(rows.map(({ id }) => id))
}

export interface FinishedDelivery {
  id: string
  event_id: string
  outcome: 'delivered' | 'failed'
}

/** Returns finished deliveries of a range of events to the endpoint. */
export function findFinishedDeliveries(
  db: Kysely<Database>,
  { accountId, endpointId }: EndpointKeys,
  { fromId, untilId }: EventRange,
): Promise<FinishedDelivery[]> {
  return db
    .selectFrom('webhook_finished_deliveries')
    .select(['id', 'event_id', 'outcome'])
    .where('account_id', '=', accountId)
    .where('endpoint_id', '=', endpointId)
    .where('event_id', '>=', fromId)
    .where('event_id', '<', untilId)
    .execute()
}

export interface RecoveredDelivery {
  id: string
  eventId: string
}

/** Queues deliveries, due now, and deletes the rows of those that had finished. */
export async function queueRecovered(
  db: Kysely<Database>,
  { accountId, endpointId }: EndpointKeys,
  deliveries: readonly RecoveredDelivery[],
): Promise<void> {
  const ids = deliveries.map(({ id }) => id)
  const eventIds = deliveries.map(({ eventId }) => eventId)
  await sql`
    delete from webhook_finished_deliveries
    where account_id = ${accountId} and id = any(${ids}::text[])`.execute(db)
  await sql`
    insert into webhook_deliveries (id, account_id, endpoint_id, event_id, due_at, created_at)
    select id, ${accountId}, ${endpointId}, event_id, now(), now()
    from unnest(${ids}::text[], ${eventIds}::text[]) as recovered (id, event_id)`.execute(db)
}

import type { Kysely, Selectable } from 'kysely'
import { arrayOf } from '../db/array-of.ts'
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

/** Any number that no other two-part advisory lock of the database begins with. */
const recordingLock = 9_292_456
/** The second part of the lock counts seconds from here (2024-01-01), so that it fits 31 bits until 2092. */
const recordingEpochSeconds = 1_704_067_200
const settlingSeconds = 2

const markRecording = statement<{ now: Date }>(
  'start_recording',
  // Materialized: the second time is read when the lock is held.
  `with marked as materialized (
    select pg_advisory_xact_lock_shared(
      ${recordingLock}, (floor(extract(epoch from clock_timestamp())) - ${recordingEpochSeconds})::integer
    )
  )
  select clock_timestamp() as now from marked`,
)

/**
 * Marks the transaction as one that records events from now on, for all to see until it has ended, and
 * returns the database's time, from which their ids are made. Lock the messages before: of two events of
 * a message, the later one then has the larger id.
 */
export async function startRecording(trx: Kysely<Database>): Promise<Date> {
  const [row] = await markRecording(trx, [])
  if (!row) throw new Error('the database did not tell its time')
  return row.now
}

const readSettled = statement<{ settled_until: Date }>(
  'read_settled',
  // The statement's time lies before the look at the locks, and ids are made behind theirs: a transaction that
  // is not seen here has ended, or makes ids that are later. The lock is released after the commit is visible.
  `select least(
    statement_timestamp() - interval '${settlingSeconds} seconds',
    to_timestamp(min(objid::bigint) + ${recordingEpochSeconds})
  ) as settled_until
  from pg_locks
  where locktype = 'advisory' and classid = ${recordingLock} and objsubid = 2
    and database = (select oid from pg_database where datname = current_database())`,
)

/**
 * No event will appear any more whose id is from before this time: whoever records one marked an earlier
 * one. The two seconds are for a clock that is set back a little. Ask in a statement before that of the list.
 */
export async function readSettledTime(db: Kysely<Database>): Promise<Date> {
  const [row] = await readSettled(db, [])
  if (!row) throw new Error('the database did not tell its time')
  return row.settled_until
}

/**
 * Writes events and, for each endpoint that asked for their type, a delivery that is due at once. A
 * disabled endpoint gets its deliveries too: they wait until it is enabled again. Call it in the
 * transaction of the change that the events tell, after `startRecording`. `newDeliveryId` gives a `dlv_` id.
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
    arrayOf(events, (event) => event.accountId),
    arrayOf(events, (event) => event.id),
    arrayOf(events, (event) => event.type),
    arrayOf(events, (event) => event.messageId),
    events.map((event) => event.payload),
    arrayOf(events, (event) => event.createdAt),
    arrayOf(deliveries, ({ event }) => event.accountId),
    arrayOf(deliveries, ({ event }) => event.id),
    arrayOf(deliveries, ({ endpointId }) => endpointId),
    arrayOf(deliveries, ({ id }) => id),
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

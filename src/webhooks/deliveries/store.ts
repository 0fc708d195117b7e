import { type Kysely, type Selection, sql } from 'kysely'
import { longerThanLeaseSeconds, readDatabaseClock } from '../../platform/db/clock.ts'
import type { Database } from '../../platform/db/schema.ts'
import { requeuedGeneration } from '../queue/store.ts'

/** Maximum number of rows per statement, so that each statement is short. */
const batchSize = 10_000

/**
 * Makes a batch of an endpoint's deliveries that are not due yet due now, restarts their retry schedules and returns their
 * number. Call it until it returns 0. Those that a worker is claiming are skipped, so that they keep their lease.
 */
export async function makeDeliveriesDue(db: Kysely<Database>, accountId: string, endpointId: string): Promise<number> {
  const { numAffectedRows } = await sql`
    update webhook_deliveries set due_at = now(), attempts = 0
    where ctid = any(array(
      select ctid from webhook_deliveries
      where account_id = ${accountId} and endpoint_id = ${endpointId} and not claimed and due_at > now()
      order by due_at limit ${sql.lit(batchSize)}
      for update skip locked
    ))`.execute(db)
  return Number(numAffectedRows ?? 0)
}

/**
 * Restarts the retry schedules of an endpoint's deliveries that are already due. Reads a limited range of due times at a
 * time, because few of a large backlog may have been attempted.
 */
export async function restartOverdue(db: Kysely<Database>, accountId: string, endpointId: string): Promise<void> {
  // Rounded up. What becomes due later is not read: an endpoint with many events would never come to an end.
  const end = new Date((await readDatabaseClock(db)).getTime() + 1)
  // A text, because a date would lose the microseconds.
  for (let after: string | null = '-infinity'; after !== null;) {
    const { rows }: { rows: { last: string | null }[] } = await sql<{ last: string | null }>`
      with batch as materialized (
        select ctid as row_id, due_at, attempts from webhook_deliveries
        where account_id = ${accountId} and endpoint_id = ${endpointId} and not claimed
          and due_at > ${after}::timestamptz and due_at <= ${end}
        order by due_at fetch first ${sql.lit(batchSize)} rows with ties
      ), restarted as (
        update webhook_deliveries set attempts = 0
        where ctid = any(array(select row_id from batch where attempts > 0)) and not claimed
      )
      select max(due_at)::text as last from batch`.execute(db)
    after = rows[0]?.last ?? null
  }
}

/** Makes one delivery due now, unless it may be in progress. Returns whether it is waiting. */
export async function makeDeliveryDue(db: Kysely<Database>, accountId: string, deliveryId: string): Promise<boolean> {
  return (await makeEachDue(db, accountId, [deliveryId])) > 0
}

/**
 * Makes deliveries due now and restarts their retry schedules, so that a manual retry does not use up the last attempt.
 * Returns how many of them are waiting. Those that may be in progress are counted, but not locked: the statement that
 * records their attempts locks them first and then the endpoint, whose lock the caller holds.
 */
export async function makeEachDue(
  db: Kysely<Database>,
  accountId: string,
  deliveryIds: readonly string[],
): Promise<number> {
  const isGiven = sql`account_id = ${accountId} and id = any(${deliveryIds}::text[])`
  const { rows } = await sql<{ waiting: number }>`
    with made_due as (
      update webhook_deliveries set due_at = least(due_at, now()), attempts = 0
      where ${isGiven}
        and not (claimed and due_at <= now() + make_interval(secs => ${sql.lit(longerThanLeaseSeconds)}))
    )
    select count(*)::integer as waiting from webhook_deliveries where ${isGiven}`.execute(db)
  return rows[0]?.waiting ?? 0
}

/** Deletes a batch of an endpoint's waiting deliveries and returns their number. Call it until it returns 0. */
export async function deleteWaitingDeliveries(
  db: Kysely<Database>,
  accountId: string,
  endpointId: string,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from webhook_deliveries
    where account_id = ${accountId} and id in (
      select id from webhook_deliveries
      where account_id = ${accountId} and endpoint_id = ${endpointId} limit ${sql.lit(batchSize)}
    )`.execute(db)
  return Number(numAffectedRows ?? 0)
}

/** Moves a finished delivery back to the queue, due now and with a new retry schedule. Returns whether it was found. */
export async function requeueDelivery(db: Kysely<Database>, accountId: string, deliveryId: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    with removed as (
      delete from webhook_finished_deliveries where account_id = ${accountId} and id = ${deliveryId} returning *
    )
    insert into webhook_deliveries (id, account_id, endpoint_id, event_id, due_at, created_at, generation)
    select id, account_id, endpoint_id, event_id, now(), created_at, ${sql.raw(requeuedGeneration)} from removed`.execute(
    db,
  )
  return Number(numAffectedRows ?? 0) > 0
}

export interface DeliveryKeys {
  accountId: string
  endpointId: string
  eventId: string
}

/** Reads all accounts, because operators pass a delivery ID without its account. */
export async function findDelivery(db: Kysely<Database>, deliveryId: string): Promise<DeliveryKeys | undefined> {
  // Deliveries are keyed by account first, so each account is queried separately.
  const { rows } = await sql<DeliveryKeys>`
    select found.* from accounts cross join lateral (
      select account_id as "accountId", endpoint_id as "endpointId", event_id as "eventId" from webhook_deliveries
      where account_id = accounts.id and id = ${deliveryId}
      union all
      select account_id, endpoint_id, event_id from webhook_finished_deliveries
      where account_id = accounts.id and id = ${deliveryId}
    ) found
    limit 1`.execute(db)
  return rows[0]
}

export async function findOwnDelivery(
  db: Kysely<Database>,
  accountId: string,
  deliveryId: string,
): Promise<DeliveryKeys | undefined> {
  const inTable = (table: 'webhook_deliveries' | 'webhook_finished_deliveries') =>
    db
      .selectFrom(table)
      .select(['account_id as accountId', 'endpoint_id as endpointId', 'event_id as eventId'])
      .where('account_id', '=', accountId)
      .where('id', '=', deliveryId)
  return inTable('webhook_deliveries').unionAll(inTable('webhook_finished_deliveries')).executeTakeFirst()
}

export async function isEventKept(db: Kysely<Database>, accountId: string, eventId: string): Promise<boolean> {
  const row = await db
    .selectFrom('events')
    .select('id')
    .where('account_id', '=', accountId)
    .where('id', '=', eventId)
    .executeTakeFirst()
  return row !== undefined
}

export async function findPayload(
  db: Kysely<Database>,
  accountId: string,
  eventId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('events')
    .select('payload')
    .where('account_id', '=', accountId)
    .where('id', '=', eventId)
    .executeTakeFirst()
  return row?.payload
}

export interface DeliveryRow {
  id: string
  eventId: string
  state: 'waiting' | 'delivered' | 'failed'
  createdAt: Date
  /** Null if the delivery is finished. */
  dueAt: Date | null
  /** Null while the delivery is waiting. */
  finishedAt: Date | null
  /** Null if the event is older than the retention period. */
  type: string | null
  messageId: string | null
}

const foundColumns = sql`found.id, found.event_id as "eventId", found.state, found.created_at as "createdAt",
      found.due_at as "dueAt", found.finished_at as "finishedAt"`

/** Returns deliveries of an endpoint, newest event first. `beforeEventId` is the last event of the previous page. */
export async function findDeliveries(
  db: Kysely<Database>,
  { accountId, endpointId, state }: { accountId: string; endpointId: string; state: DeliveryRow['state'] | undefined },
  { beforeEventId, limit }: { beforeEventId: string | undefined; limit: number },
): Promise<DeliveryRow[]> {
  const page = sql`
    account_id = ${accountId} and endpoint_id = ${endpointId}
    ${beforeEventId === undefined ? sql`` : sql`and event_id < ${beforeEventId}`}`
  const waiting = sql`
    (select id, event_id, 'waiting' as state, created_at, due_at, null::timestamptz as finished_at
    from webhook_deliveries where ${page} order by event_id desc limit ${limit})`
  const finished = sql`
    (select id, event_id, outcome as state, created_at, null::timestamptz as due_at, finished_at
    from webhook_finished_deliveries
    where ${page} ${state === undefined ? sql`` : sql`and outcome = ${state}`}
    order by event_id desc limit ${limit})`
  const both = sql`${waiting} union all ${finished}`
  const { rows } = await sql<DeliveryRow>`
    select ${foundColumns}, events.type, events.message_id as "messageId"
    from (${state === undefined ? both : state === 'waiting' ? waiting : finished}) found
    left join events on events.account_id = ${accountId} and events.id = found.event_id
    order by found.event_id desc, found.id desc
    limit ${limit}`.execute(db)
  return rows
}

export interface MessageDeliveryRow extends DeliveryRow {
  endpointId: string
  url: string
  enabled: boolean
}

/** Returns deliveries of one message to existing endpoints, oldest event first. */
export async function findDeliveriesOfMessage(
  db: Kysely<Database>,
  accountId: string,
  messageId: string,
  limit: number,
): Promise<MessageDeliveryRow[]> {
  const { rows } = await sql<MessageDeliveryRow>`
    with message_events as materialized (
      select id, type, message_id from events where account_id = ${accountId} and message_id = ${messageId}
    ), found as (
      select id, endpoint_id, event_id, 'waiting' as state, created_at, due_at, null::timestamptz as finished_at
      from webhook_deliveries
      where account_id = ${accountId} and event_id in (select id from message_events)
        and endpoint_id in (select id from webhook_endpoints where account_id = ${accountId})
      union all
      select id, endpoint_id, event_id, outcome, created_at, null, finished_at
      from webhook_finished_deliveries
      where account_id = ${accountId} and event_id in (select id from message_events)
        and endpoint_id in (select id from webhook_endpoints where account_id = ${accountId})
    )
    select ${foundColumns}, found.endpoint_id as "endpointId", message_events.type,
      message_events.message_id as "messageId", endpoints.url, endpoints.enabled
    from found
    join message_events on message_events.id = found.event_id
    join webhook_endpoints endpoints on endpoints.id = found.endpoint_id and endpoints.account_id = ${accountId}
    order by found.event_id, found.id
    limit ${limit}`.execute(db)
  return rows
}

const attemptColumns = [
  'delivery_id as deliveryId',
  'started_at as startedAt',
  'duration_ms as durationMilliseconds',
  'status_code as statusCode',
  'error',
  'response_start as responseStart',
] as const

export type AttemptRow = Selection<Database, 'webhook_attempts', (typeof attemptColumns)[number]>

/** Returns attempts in the order in which they were made. */
export function findAttempts(db: Kysely<Database>, accountId: string, deliveryIds: string[]): Promise<AttemptRow[]> {
  if (deliveryIds.length === 0) return Promise.resolve([])
  return db
    .selectFrom('webhook_attempts')
    .select(attemptColumns)
    .where('account_id', '=', accountId)
    .where('delivery_id', 'in', deliveryIds)
    .orderBy('started_at')
    .execute()
}

import { type Kysely, sql } from 'kysely'
import type { EventPage, listEvents as contract } from '../../contracts/api/event.ts'
import type { MessageEvent, WebhookEvent } from '../../contracts/events.ts'
import type { InputOf } from '../../contracts/procedure.ts'
import type { Caller } from '../accounts/authenticate.ts'
import type { Deps } from '../deps.ts'
import { arraysOf, type Columns, type Lists, listsOf, namesOf } from '../platform/db/columns.ts'
import type { Database } from '../platform/db/schema.ts'
import { statement } from '../platform/db/statement.ts'
import { encodeIdsInOrder, firstIdAt, spanOfIdsInOrder } from '../platform/ids.ts'
import type { TraceContext, Tracing } from '../platform/telemetry/tracing.ts'

/**
 * Events become visible in the order of their IDs (see `recordEvents`), so a reader that continues after its last event
 * misses none.
 */
export async function listEvents(
  deps: Pick<Deps, 'db'>,
  caller: Caller,
  input: InputOf<typeof contract>,
): Promise<EventPage> {
  const { cursor, limit, from, until, type, messageId } = input
  const rows = await findEvents(
    deps.db,
    caller.accountId,
    {
      type,
      messageId,
      from: from === undefined ? undefined : new Date(from),
      until: until === undefined ? undefined : new Date(until),
      afterId: cursor,
    },
    // One extra event shows whether there is a next page.
    limit + 1,
  )
  const items = rows
    .slice(0, limit)
    // As webhooks deliver it: a later version, which runs beside this one, can record types and values unknown here.
    .map((row) => ({ eventId: row.id, event: JSON.parse(row.payload) as MessageEvent }))
  const last = items.at(-1)
  return { items, ...(rows.length > limit && last && { nextCursor: last.eventId }) }
}

interface NewEvent {
  accountId: string
  id: string
  type: string
  /** Of the message, template, WhatsApp account or endpoint that the event is about. */
  subjectId: string
  /** The body of the webhook, byte for byte. */
  payload: string
  createdAt: Date
}

/** An event before it is recorded, which adds its ID and time. */
export type UnrecordedEvent = Pick<NewEvent, 'accountId' | 'type' | 'subjectId' | 'payload'> & {
  /** An endpoint that does not receive the event, because the event is about it. */
  exceptEndpointId?: string
  /** The trace that caused the event; the active one by default. */
  trace?: TraceContext | undefined
}

/** `id` is that of the message, template, WhatsApp account or endpoint that the event is about. */
export function toUnrecordedEvent(
  { accountId, id }: Pick<NewEvent, 'accountId' | 'id'>,
  event: WebhookEvent,
  trace?: TraceContext,
): UnrecordedEvent {
  return { accountId, type: event.type, subjectId: id, payload: JSON.stringify(event), trace }
}

/** Evaluated at each use, because it must return the time after a wait for a row lock. */
const clockMilliseconds = `floor(extract(epoch from clock_timestamp()) * 1000)::bigint`

interface AdvancedClockRow {
  accountId: string
  /** The timestamp of the last ID of the batch. */
  last: number
  /** The database clock, which may have been set back. */
  clock: number
  endpointId: string | null
  events: string[] | null
}

interface ClockAdvance {
  accountId: string
  /** Milliseconds from the first to the last ID that the account needs. */
  spanMilliseconds: number
}

const advanceColumns: Columns<ClockAdvance> = {
  accountId: { name: 'account_id', type: 'word' },
  spanMilliseconds: { name: 'span', type: 'bigint' },
}

const advanceClocks = statement<Lists<ClockAdvance>, AdvancedClockRow>(
  'start_recording',
  ($) => `with advanced as (
    insert into event_clocks as c (account_id, last_milliseconds, ahead_milliseconds)
    select account_id, ${clockMilliseconds} + span, span
    from unnest(${arraysOf($, advanceColumns)}) as r (${namesOf(advanceColumns)}) order by account_id
    on conflict (account_id) do update set
      last_milliseconds = greatest(c.last_milliseconds + 1, ${clockMilliseconds}) + excluded.ahead_milliseconds,
      ahead_milliseconds = greatest(
        c.ahead_milliseconds,
        greatest(c.last_milliseconds + 1 - ${clockMilliseconds}, 0) + excluded.ahead_milliseconds
      )
    returning account_id, last_milliseconds, ${clockMilliseconds} as clock
  )
  select a.account_id as "accountId", a.last_milliseconds::float8 as last, a.clock::float8 as clock,
    e.id as "endpointId", e.events
  from advanced a left join webhook_endpoints e on e.account_id = a.account_id`,
)

const eventColumns: Columns<NewEvent> = {
  accountId: { name: 'account_id', type: 'word' },
  id: { name: 'id', type: 'word' },
  type: { name: 'type', type: 'word' },
  subjectId: { name: 'message_id', type: 'word' },
  payload: { name: 'payload', type: 'json' },
  createdAt: { name: 'created_at', type: 'timestamptz' },
}

/** The field names differ from those of an event, because one statement takes both. */
interface NewDelivery {
  deliveryAccountId: string
  eventId: string
  endpointId: string
  deliveryId: string
}

const deliveryColumns: Columns<NewDelivery> = {
  deliveryAccountId: { name: 'account_id', type: 'word' },
  eventId: { name: 'event_id', type: 'word' },
  endpointId: { name: 'endpoint_id', type: 'word' },
  deliveryId: { name: 'id', type: 'word' },
}

const insertAll = statement<Lists<NewEvent> & Lists<NewDelivery>>('insert_events', ($) =>
  writeInsert(namesOf(eventColumns), arraysOf($, eventColumns), arraysOf($, deliveryColumns)),
)

interface TracedEvent extends NewEvent {
  traceparent: string | undefined
}

const tracedColumns: Columns<TracedEvent> = { ...eventColumns, traceparent: { name: 'traceparent', type: 'text' } }

/** Used while tracing is enabled. */
const insertAllTraced = statement<Lists<TracedEvent> & Lists<NewDelivery>>('insert_traced_events', ($) =>
  writeInsert(namesOf(tracedColumns), arraysOf($, tracedColumns), arraysOf($, deliveryColumns)),
)

/** `due_at` is not `now()`, because the transaction may have begun before the clock was set back. */
function writeInsert(eventNames: string, events: string, deliveries: string): string {
  return `with recorded as (
    insert into events (${eventNames}) select * from unnest(${events})
  )
  insert into webhook_deliveries (${namesOf(deliveryColumns)}, due_at, created_at)
  select *, clock_timestamp(), now() from unnest(${deliveries})`
}

/**
 * Records events and, for each endpoint subscribed to their type, a delivery that is due immediately. A disabled
 * endpoint gets deliveries too; they wait until it is enabled. Call it last in the transaction that causes the events:
 * each account's row in `event_clocks` stays locked until the commit, so that its events become visible in the order of
 * their IDs, even if the clock is set back. A reader that continues after its last event therefore misses none.
 */
export async function recordEvents(
  deps: Pick<Deps, 'newId' | 'randomBytes' | 'tracing'>,
  trx: Kysely<Database>,
  events: readonly UnrecordedEvent[],
): Promise<void> {
  if (events.length === 0) return
  const counts = new Map<string, number>()
  for (const { accountId } of events) counts.set(accountId, (counts.get(accountId) ?? 0) + 1)
  const advances = Array.from(counts, ([accountId, count]) => ({
    accountId,
    spanMilliseconds: spanOfIdsInOrder(count),
  }))
  const rows = await advanceClocks(trx, listsOf(advanceColumns, advances))
  const recorded = assignIds(events, counts, rows, deps.randomBytes)
  const rowsByAccount = Map.groupBy(rows, (row) => row.accountId)
  const deliveries = recorded.flatMap(({ accountId, id: eventId, type, exceptEndpointId }) =>
    (rowsByAccount.get(accountId) ?? []).flatMap(({ endpointId, events: types }) =>
      endpointId !== null && endpointId !== exceptEndpointId && types?.includes(type) === true
        ? [{ deliveryAccountId: accountId, eventId, endpointId, deliveryId: deps.newId('dlv') }]
        : [],
    ),
  )
  const deliveryLists = listsOf(deliveryColumns, deliveries)
  const { tracing } = deps
  if (!tracing) return void (await insertAll(trx, { ...listsOf(eventColumns, recorded), ...deliveryLists }))
  const traced = recorded.map((event) => ({ ...event, traceparent: findTraceparent(tracing, event) }))
  await insertAllTraced(trx, { ...listsOf(tracedColumns, traced), ...deliveryLists })
}

function findTraceparent(tracing: Tracing, { trace = tracing.active() }: UnrecordedEvent): string | undefined {
  return trace && tracing.toTraceparent(trace)
}

/** Assigns ascending IDs to each account's events, up to the timestamp that its clock row was advanced to. */
function assignIds(
  events: readonly UnrecordedEvent[],
  counts: ReadonlyMap<string, number>,
  rows: readonly AdvancedClockRow[],
  randomBytes: Deps['randomBytes'],
): (UnrecordedEvent & NewEvent)[] {
  const reserved = new Map<string, { ids: Iterator<string>; createdAt: Date }>()
  for (const { accountId, last, clock } of rows) {
    if (reserved.has(accountId)) continue
    const count = counts.get(accountId) ?? 0
    const first = last - spanOfIdsInOrder(count)
    const ids = encodeIdsInOrder('evt', first, count, randomBytes).values()
    // The IDs can be ahead of the clock. Otherwise, an event is recorded at the timestamp in its ID.
    reserved.set(accountId, { ids, createdAt: new Date(Math.min(clock, first)) })
  }
  return events.map((event) => {
    const range = reserved.get(event.accountId)
    const id = range?.ids.next()
    if (!range || !id || id.done === true) throw new Error('an account has fewer IDs than events')
    return { ...event, id: id.value, createdAt: range.createdAt }
  })
}

interface EventFilter {
  type?: string | undefined
  messageId?: string | undefined
  /** Range of recording times, by the database clock. */
  from?: Date | undefined
  until?: Date | undefined
  /** Returns only events after this one, which may already be deleted. */
  afterId?: string | undefined
}

/** Returns at most `limit` events of messages in the order in which they were recorded. */
async function findEvents(
  db: Kysely<Database>,
  accountId: string,
  filter: EventFilter,
  limit: number,
): Promise<Pick<NewEvent, 'id' | 'payload'>[]> {
  const { type, messageId, from, until, afterId } = filter
  // Events of WhatsApp accounts and templates are delivered, but not listed.
  let query = db
    .selectFrom('events')
    .select(['id', 'payload'])
    .where('account_id', '=', accountId)
    .where('type', 'like', 'message.%')
  if (type !== undefined) query = query.where('type', '=', type)
  if (messageId !== undefined) query = query.where('message_id', '=', messageId)
  // The timestamp in an ID is never before the time of its event and is ahead of it by a known maximum at most, so the
  // search can be limited to a range of IDs.
  if (from !== undefined) query = query.where('id', '>=', firstIdAt('evt', from)).where('created_at', '>=', from)
  if (until !== undefined) {
    const bound = new Date(until.getTime() + (await readAheadMilliseconds(db, accountId)))
    query = query.where('id', '<', firstIdAt('evt', bound)).where('created_at', '<', until)
  }
  if (afterId !== undefined) query = query.where('id', '>', afterId)
  return query.orderBy('id').limit(limit).execute()
}

async function readAheadMilliseconds(db: Kysely<Database>, accountId: string): Promise<number> {
  const row = await db
    .selectFrom('event_clocks')
    .select('ahead_milliseconds as aheadMilliseconds')
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return Number(row?.aheadMilliseconds ?? 0)
}

/** Returns the ID of the last event of an account; undefined if it has none. */
export async function findLastEventId(db: Kysely<Database>, accountId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('events')
    .select('id')
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/** Longer than the replication lag of any standby that is promoted. */
const maxLostSeconds = 60

/**
 * A promoted standby may lack the latest events, which readers have already seen. If its clock is also behind their
 * IDs, the next IDs skip that range. Otherwise, a reader whose cursor is a lost event would miss new ones. Writes to
 * all accounts, in the order in which batches lock them.
 */
export async function skipLostEventIds(db: Kysely<Database>): Promise<void> {
  await sql`
    with ahead as (
      select account_id from event_clocks where last_milliseconds > ${sql.raw(clockMilliseconds)} order by account_id for update
    )
    update event_clocks set last_milliseconds = last_milliseconds + ${sql.lit(maxLostSeconds * 1000)}
    from ahead where event_clocks.account_id = ahead.account_id`.execute(db)
}

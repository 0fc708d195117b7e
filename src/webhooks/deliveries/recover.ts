import { type Kysely, sql } from 'kysely'
import type { z } from 'zod'
import type {
  countRecoverable as countContract,
  recoverDeliveries as contract,
} from '../../../contracts/dashboard/webhook.ts'
import { invalidField, ServiceError } from '../../../contracts/errors.ts'
import { factTexts } from '../../../contracts/facts/fact.ts'
import type { Deps } from '../../deps.ts'
import { readDatabaseClock } from '../../platform/db/clock.ts'
import type { Database } from '../../platform/db/schema.ts'
import { firstIdAt, timeOfId } from '../../platform/ids.ts'
import { endpointNotFound } from '../endpoints/endpoint.ts'
import { type EndpointRow, findEndpoint, lockEndpoint } from '../endpoints/store.ts'
import { findLastEventId } from '../events.ts'
import { requeuedGeneration } from '../queue/store.ts'
import { makeEachDue } from './store.ts'

/** Maximum number of events per transaction, because it holds the endpoint's lock. */
const batchSize = 5_000

/** Which deliveries a recovery queues; by default, all missed ones. */
interface RecoveryFilter {
  /** Only deliveries whose last attempt failed with this error, or the fact of this code. */
  error?: string | undefined
  /** Whether to make waiting deliveries due now, too. */
  includeWaiting?: boolean | undefined
}

/** Event IDs contain the database time. If its clock was set back, existing IDs may be ahead of it. */
async function rangeSince({ db }: Pick<Deps, 'db'>, accountId: string, since: Date): Promise<EventRange> {
  const now = await readDatabaseClock(db)
  const lastId = await findLastEventId(db, accountId)
  const lastAt = lastId === undefined ? now : timeOfId(lastId)
  if (!(since <= now || since <= lastAt))
    throw new ServiceError('VALIDATION_ERROR', 'The time must be in the past.', { field: 'since' })
  const until = lastAt < now ? now : new Date(lastAt.getTime() + 1)
  return { fromId: firstIdAt('evt', since), untilId: firstIdAt('evt', until) }
}

interface Recoverable {
  /** Events to queue. `id` is the ID of the failed delivery; undefined if there was none. */
  missed: { eventId: string; id: string | undefined }[]
  /** IDs of deliveries to make due now. */
  waiting: string[]
}

/**
 * Selects the events that were neither delivered nor are waiting. A delivery that failed before is reused, so that its
 * attempts stay together.
 */
function selectRecoverable(
  eventIds: readonly string[],
  waiting: readonly WaitingDelivery[],
  finished: readonly FinishedDelivery[],
): Recoverable {
  const covered = new Set(waiting.map((delivery) => delivery.eventId))
  const failed = new Map<string, string>()
  for (const { id, eventId, outcome } of finished) {
    if (outcome === 'delivered') covered.add(eventId)
    else failed.set(eventId, id)
  }
  return {
    missed: eventIds
      .filter((eventId) => !covered.has(eventId))
      .map((eventId) => ({ eventId, id: failed.get(eventId) })),
    waiting: waiting.map(({ id }) => id),
  }
}

/** Reads waiting deliveries first, so that one that finishes in between is seen twice instead of missed. */
async function findRecoverable(
  db: Kysely<Database>,
  endpoint: EndpointKeys,
  { eventIds, range }: { eventIds: readonly string[]; range: EventRange },
  { error, includeWaiting = false }: RecoveryFilter,
): Promise<Recoverable> {
  const waiting = await findWaitingDeliveries(db, endpoint, range)
  const finished = await findFinishedDeliveries(db, endpoint, range)
  const { missed, waiting: waitingIds } = selectRecoverable(eventIds, waiting, finished)
  const selected = { missed, waiting: includeWaiting ? waitingIds : [] }
  if (error === undefined) return selected
  const ids = [...missed.flatMap(({ id }) => (id === undefined ? [] : [id])), ...selected.waiting]
  const matching = await filterByLastError(db, endpoint.accountId, ids, {
    error: factTexts.get(error) ?? error,
    since: timeOfId(range.fromId),
  })
  return {
    missed: missed.filter(({ id }) => id !== undefined && matching.has(id)),
    waiting: selected.waiting.filter((id) => matching.has(id)),
  }
}

/** Holds the endpoint's lock, so that concurrent recoveries do not queue the same event twice. */
function recoverBatch(
  deps: Pick<Deps, 'db' | 'newId'>,
  endpoint: EndpointKeys,
  range: EventRange,
  filter: RecoveryFilter,
): Promise<{ recovered: number; remaining: EventRange | undefined }> {
  return deps.db.transaction().execute(async (trx) => {
    const row = await lockEndpoint(trx, endpoint.accountId, endpoint.endpointId)
    if (!row) throw endpointNotFound(endpoint.endpointId)
    const { remaining, ...batch } = await findBatch(trx, row, range)
    const { missed, waiting } = await findRecoverable(trx, endpoint, batch, filter)
    const deliveries = missed.map(({ eventId, id }) => ({ eventId, id: id ?? deps.newId('dlv') }))
    if (deliveries.length > 0) await queueRecovered(trx, endpoint, deliveries)
    const madeDue = waiting.length > 0 ? await makeEachDue(trx, endpoint.accountId, waiting) : 0
    return { recovered: deliveries.length + madeDue, remaining }
  })
}

async function findBatch(
  db: Kysely<Database>,
  endpoint: Pick<EndpointRow, 'accountId' | 'id' | 'events'>,
  range: EventRange,
): Promise<{ eventIds: string[]; range: EventRange; remaining: EventRange | undefined }> {
  // One extra event shows where the next batch starts.
  const found = await findEventIds(db, endpoint, range, batchSize + 1)
  const next = found[batchSize]
  if (next === undefined) return { eventIds: found, range, remaining: undefined }
  return {
    eventIds: found.slice(0, batchSize),
    range: { ...range, untilId: next },
    remaining: { ...range, fromId: next },
  }
}

/** Counts the deliveries that a recovery would queue, without a lock. Counts the first batch of events only. */
export async function countRecoverable(
  deps: Pick<Deps, 'db'>,
  { accountId, endpointId, since, ...filter }: z.output<(typeof countContract)['input']>,
): Promise<z.output<(typeof countContract)['output']>> {
  const row = await findEndpoint(deps.db, accountId, endpointId)
  const range = await rangeSince(deps, accountId, new Date(since))
  if (!row) throw endpointNotFound(endpointId)
  const { remaining, ...batch } = await findBatch(deps.db, row, range)
  const { missed, waiting } = await findRecoverable(deps.db, { accountId, endpointId }, batch, filter)
  return { missed: missed.length, waiting: waiting.length, isPartial: remaining !== undefined }
}

/**
 * Queues the events that the endpoint missed since a given time: events whose delivery failed, and events without a
 * delivery because the endpoint did not exist or did not subscribe to their type. Runs one part; `next` identifies the
 * next one. It can be repeated after an interruption, because events that are already waiting are skipped.
 */
export async function recoverPart(
  deps: Pick<Deps, 'db' | 'newId' | 'notifications' | 'secrets'>,
  { accountId, endpointId, since, next, ...filter }: z.output<(typeof contract)['input']>,
): Promise<z.output<(typeof contract)['output']>> {
  const recovery = { accountId, endpointId, since, ...filter }
  const range =
    next === undefined ? await rangeSince(deps, accountId, new Date(since)) : openRange(deps, recovery, next)
  const { recovered, remaining } = await recoverBatch(deps, { accountId, endpointId }, range, filter)
  // Wakes the workers.
  if (recovered > 0) deps.notifications.notify('deliveries')
  return {
    recovered,
    reachedAt: timeOfId(remaining?.fromId ?? range.untilId).toISOString(),
    ...(remaining && { next: sealRange(deps, recovery, remaining) }),
  }
}

type Recovery = Omit<z.output<(typeof contract)['input']>, 'next'>

/**
 * Only the first part of a recovery is recorded in the audit log. So what continues it must come from this server, and
 * continues nothing else.
 */
function sealRange({ secrets }: Pick<Deps, 'secrets'>, recovery: Recovery, { fromId, untilId }: EventRange): string {
  return secrets.encrypt(`${fromId}.${untilId}`, purposeOf(recovery))
}

function openRange({ secrets }: Pick<Deps, 'secrets'>, recovery: Recovery, sealed: string): EventRange {
  try {
    const [fromId = '', untilId = ''] = secrets.decrypt(sealed, purposeOf(recovery)).split('.')
    return { fromId, untilId }
  } catch {
    throw invalidField('next', 'must be the `next` value of the previous part.')
  }
}

function purposeOf({ accountId, endpointId, since, error = '', includeWaiting = false }: Recovery): string {
  return `recovery ${JSON.stringify([accountId, endpointId, since, error, includeWaiting])}`
}

interface EndpointKeys {
  accountId: string
  endpointId: string
}

/** Event IDs from `fromId` (inclusive) to `untilId` (exclusive). */
interface EventRange {
  fromId: string
  untilId: string
}

/** Returns IDs of events for this endpoint, oldest first, at most `limit`. It gets no event about its own failure. */
async function findEventIds(
  db: Kysely<Database>,
  { accountId, id: endpointId, events: types }: Pick<EndpointRow, 'accountId' | 'id' | 'events'>,
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
    .where(({ not, and }) => not(and({ type: 'endpoint.failing', message_id: endpointId })))
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

interface WaitingDelivery {
  id: string
  eventId: string
}

/** Returns waiting and running deliveries of a range of events. */
function findWaitingDeliveries(
  db: Kysely<Database>,
  { accountId, endpointId }: EndpointKeys,
  { fromId, untilId }: EventRange,
): Promise<WaitingDelivery[]> {
  return db
    .selectFrom('webhook_deliveries')
    .select(['id', 'event_id as eventId'])
    .where('account_id', '=', accountId)
    .where('endpoint_id', '=', endpointId)
    .where('event_id', '>=', fromId)
    .where('event_id', '<', untilId)
    .execute()
}

/** Returns those of the deliveries whose last attempt failed with this error. */
async function filterByLastError(
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

interface FinishedDelivery {
  id: string
  eventId: string
  outcome: 'delivered' | 'failed'
}

/** Returns finished deliveries of a range of events to the endpoint. */
function findFinishedDeliveries(
  db: Kysely<Database>,
  { accountId, endpointId }: EndpointKeys,
  { fromId, untilId }: EventRange,
): Promise<FinishedDelivery[]> {
  return db
    .selectFrom('webhook_finished_deliveries')
    .select(['id', 'event_id as eventId', 'outcome'])
    .where('account_id', '=', accountId)
    .where('endpoint_id', '=', endpointId)
    .where('event_id', '>=', fromId)
    .where('event_id', '<', untilId)
    .execute()
}

interface RecoveredDelivery {
  id: string
  eventId: string
}

/** Queues deliveries, due now, and deletes the rows of those that had finished. */
async function queueRecovered(
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
    insert into webhook_deliveries (id, account_id, endpoint_id, event_id, due_at, created_at, generation)
    select id, ${accountId}, ${endpointId}, event_id, now(), now(), ${sql.raw(requeuedGeneration)}
    from unnest(${ids}::text[], ${eventIds}::text[]) as recovered (id, event_id)`.execute(db)
}

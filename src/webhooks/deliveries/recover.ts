import type { Kysely } from 'kysely'
import type { z } from 'zod'
import type {
  countRecoverable as countContract,
  recoverDeliveries as contract,
} from '../../../contracts/dashboard/webhook.ts'
import { invalidField, ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import { readDatabaseClock } from '../../platform/db/clock.ts'
import type { Database } from '../../platform/db/schema.ts'
import { firstIdAt, timeOfId } from '../../platform/ids.ts'
import { endpointNotFound } from '../endpoints/endpoint.ts'
import { type EndpointRow, findEndpoint, lockEndpoint } from '../endpoints/store.ts'
import { findLastEventId } from '../events/store.ts'
import {
  type EventRange,
  findEventIds,
  filterByLastError,
  findFinishedDeliveries,
  findWaitingDeliveries,
  type FinishedDelivery,
  queueRecovered,
  type RecoveryPlace,
  type WaitingDelivery,
} from './recovery-store.ts'
import { makeEachDue } from './store.ts'

/** Maximum number of events per transaction, which holds the endpoint's lock. */
const batchSize = 5_000

/** What a recovery redelivers; by default, all that was missed. */
interface RecoveryChoice {
  /** Only deliveries whose last attempt failed with this error. */
  error?: string | undefined
  /** Deliveries that wait for their next attempt are sent now, too. */
  includeWaiting?: boolean | undefined
}

export interface Recovery {
  endpointId: string
  /** Number of deliveries that were queued. */
  recovered: number
}

/**
 * Queues the events that the endpoint missed since a given time: events whose delivery failed, and events without a
 * delivery because the endpoint did not exist or did not subscribe to their type. It can be repeated after an
 * interruption, because events that are already waiting are skipped.
 */
export async function recoverDeliveries(
  deps: Pick<Deps, 'db' | 'newId' | 'announcements'>,
  accountId: string,
  endpointId: string,
  since: Date,
  onProgress: (recovered: number) => void = () => {},
  choice: RecoveryChoice = {},
): Promise<Recovery> {
  let range: EventRange | undefined = await rangeSince(deps, accountId, since)
  let recovered = 0
  while (range) {
    const part = await recoverPart(deps, { accountId, endpointId }, range, choice)
    recovered += part.recovered
    range = part.rest
    if (range) onProgress(recovered)
  }
  return { endpointId, recovered }
}

/** Event IDs carry the database time. IDs from before its clock was set back may be ahead of it. */
async function rangeSince({ db }: Pick<Deps, 'db'>, accountId: string, since: Date): Promise<EventRange> {
  const now = await readDatabaseClock(db)
  const lastId = await findLastEventId(db, accountId)
  const lastAt = lastId === undefined ? now : timeOfId(lastId)
  if (!(since <= now || since <= lastAt))
    throw new ServiceError('VALIDATION_ERROR', 'The time must be in the past.', { field: 'since' })
  const until = lastAt < now ? now : new Date(lastAt.getTime() + 1)
  return { fromId: firstIdAt('evt', since), untilId: firstIdAt('evt', until) }
}

/** Processes a few thousand events. `rest` is the remaining range. */
async function recoverPart(
  deps: Pick<Deps, 'db' | 'newId' | 'announcements'>,
  place: RecoveryPlace,
  range: EventRange,
  choice: RecoveryChoice = {},
): Promise<{ recovered: number; rest: EventRange | undefined }> {
  const part = await recoverBatch(deps, place, range, choice)
  if (part.recovered > 0) deps.announcements.announce('deliveries')
  return part
}

interface Recoverable {
  /** To be queued: `id` is that of the delivery that failed, or undefined if there was none. */
  missed: { eventId: string; id: string | undefined }[]
  /** IDs of deliveries to be made due. */
  waiting: string[]
}

/**
 * Chooses the events to deliver: those neither waiting nor delivered. A delivery that failed before is reused, so that
 * its attempts stay together. With an `error`, only deliveries with that error are chosen.
 */
function chooseRecovered(
  eventIds: readonly string[],
  waiting: readonly WaitingDelivery[],
  finished: readonly FinishedDelivery[],
): Recoverable {
  const covered = new Set(waiting.map((delivery) => delivery.event_id))
  const failed = new Map<string, string>()
  for (const { id, event_id: eventId, outcome } of finished) {
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

/** Reads waiting deliveries first: one that finishes in between is then seen twice instead of missed. */
async function findRecoverable(
  db: Kysely<Database>,
  place: RecoveryPlace,
  { eventIds, part }: { eventIds: readonly string[]; part: EventRange },
  { error, includeWaiting = false }: RecoveryChoice,
): Promise<Recoverable> {
  const waiting = await findWaitingDeliveries(db, place, part)
  const finished = await findFinishedDeliveries(db, place, part)
  const { missed, waiting: waitingIds } = chooseRecovered(eventIds, waiting, finished)
  const chosen = { missed, waiting: includeWaiting ? waitingIds : [] }
  if (error === undefined) return chosen
  const ids = [...missed.flatMap(({ id }) => (id === undefined ? [] : [id])), ...chosen.waiting]
  const matching = await filterByLastError(db, place.accountId, ids, { error, since: timeOfId(part.fromId) })
  return {
    missed: missed.filter(({ id }) => id !== undefined && matching.has(id)),
    waiting: chosen.waiting.filter((id) => matching.has(id)),
  }
}

/** Holds the endpoint's lock, so that concurrent recoveries do not queue the same event twice. */
function recoverBatch(
  deps: Pick<Deps, 'db' | 'newId'>,
  place: RecoveryPlace,
  range: EventRange,
  choice: RecoveryChoice,
): Promise<{ recovered: number; rest: EventRange | undefined }> {
  return deps.db.transaction().execute(async (trx) => {
    const endpoint = await lockEndpoint(trx, place.accountId, place.endpointId)
    const { rest, ...batch } = await findBatch(trx, { ...place, endpoint }, range)
    const { missed, waiting } = await findRecoverable(trx, place, batch, choice)
    const deliveries = missed.map(({ eventId, id }) => ({ eventId, id: id ?? deps.newId('dlv') }))
    if (deliveries.length > 0) await queueRecovered(trx, place, deliveries)
    const made = waiting.length > 0 ? await makeEachDue(trx, place.accountId, waiting) : 0
    return { recovered: deliveries.length + made, rest }
  })
}

async function findBatch(
  db: Kysely<Database>,
  { accountId, endpointId, endpoint }: RecoveryPlace & { endpoint: EndpointRow | undefined },
  range: EventRange,
): Promise<{ eventIds: string[]; part: EventRange; rest: EventRange | undefined }> {
  if (!endpoint) throw endpointNotFound(endpointId)
  // One extra event shows where the next batch starts.
  const found = await findEventIds(db, accountId, endpoint.events, range, batchSize + 1)
  const next = found[batchSize]
  const rest = next === undefined ? undefined : { ...range, fromId: next }
  return { eventIds: found.slice(0, batchSize), part: rest ? { ...range, untilId: rest.fromId } : range, rest }
}

/** Counts what a recovery would queue, without a lock. Only the first events are counted. */
export async function countRecoverable(
  deps: Pick<Deps, 'db'>,
  { accountId, endpointId, since, ...choice }: z.output<(typeof countContract)['input']>,
): Promise<z.output<(typeof countContract)['output']>> {
  const place = { accountId, endpointId }
  const endpoint = await findEndpoint(deps.db, accountId, endpointId)
  const range = await rangeSince(deps, accountId, new Date(since))
  const { rest, ...batch } = await findBatch(deps.db, { ...place, endpoint }, range)
  const { missed, waiting } = await findRecoverable(deps.db, place, batch, choice)
  return { missed: missed.length, waiting: waiting.length, isPartial: rest !== undefined }
}

/** Runs one part of a recovery. `next` identifies the following part. */
export async function recoverStepwise(
  deps: Pick<Deps, 'db' | 'newId' | 'announcements'>,
  { accountId, endpointId, since, next, ...choice }: z.output<(typeof contract)['input']>,
): Promise<z.output<(typeof contract)['output']>> {
  const range = next === undefined ? await rangeSince(deps, accountId, new Date(since)) : decodeRange(next)
  const { recovered, rest } = await recoverPart(deps, { accountId, endpointId }, range, choice)
  return {
    recovered,
    reachedAt: timeOfId(rest?.fromId ?? range.untilId).toISOString(),
    ...(rest && { next: encodeRange(rest) }),
  }
}

function encodeRange({ fromId, untilId }: EventRange): string {
  return `${fromId}.${untilId}`
}

function decodeRange(text: string): EventRange {
  const [, fromId, untilId] = /^(evt_[0-9a-z]{26})\.(evt_[0-9a-z]{26})$/.exec(text) ?? []
  if (fromId === undefined || untilId === undefined) throw invalidField('next', 'must be the next of the part before.')
  return { fromId, untilId }
}

import type { Kysely } from 'kysely'
import type { z } from 'zod'
import type { recoverDeliveries as contract } from '../../../contracts/dashboard/webhook.ts'
import { invalidField, ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import { readDatabaseClock } from '../../platform/db/clock.ts'
import type { Database } from '../../platform/db/schema.ts'
import { firstIdAt, timeOfId } from '../../platform/ids.ts'
import { endpointNotFound } from '../endpoints/endpoint.ts'
import { lockEndpoint } from '../endpoints/store.ts'
import { findLastEventId } from '../events/store.ts'
import {
  type EventRange,
  findEventIds,
  findFinishedDeliveries,
  findWaitingEventIds,
  type FinishedDelivery,
  queueRecovered,
  type RecoveredDelivery,
  type RecoveryPlace,
} from './recovery-store.ts'

/** Maximum number of events per transaction, which holds the endpoint's lock. */
const batchSize = 5_000

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
): Promise<Recovery> {
  let range: EventRange | undefined = await rangeSince(deps, accountId, since)
  let recovered = 0
  while (range) {
    const part = await recoverPart(deps, { accountId, endpointId }, range)
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
): Promise<{ recovered: number; rest: EventRange | undefined }> {
  const part = await recoverBatch(deps, place, range)
  if (part.recovered > 0) deps.announcements.announce('deliveries')
  return part
}

/**
 * Chooses the events to deliver: those neither waiting nor delivered. A delivery that failed before is reused, so that
 * its attempts stay together.
 */
function chooseRecovered(
  eventIds: readonly string[],
  waiting: readonly string[],
  finished: readonly FinishedDelivery[],
  newId: () => string,
): RecoveredDelivery[] {
  const covered = new Set(waiting)
  const failed = new Map<string, string>()
  for (const { id, event_id: eventId, outcome } of finished) {
    if (outcome === 'delivered') covered.add(eventId)
    else failed.set(eventId, id)
  }
  return eventIds
    .filter((eventId) => !covered.has(eventId))
    .map((eventId) => ({ eventId, id: failed.get(eventId) ?? newId() }))
}

/** Holds the endpoint's lock, so that concurrent recoveries do not queue the same event twice. */
function recoverBatch(
  deps: Pick<Deps, 'db' | 'newId'>,
  place: RecoveryPlace,
  range: EventRange,
): Promise<{ recovered: number; rest: EventRange | undefined }> {
  return deps.db.transaction().execute(async (trx) => {
    const { eventIds, rest } = await findBatch(trx, place, range)
    const part = rest ? { ...range, untilId: rest.fromId } : range
    // Reads waiting deliveries first: one that finishes in between is then seen twice instead of missed.
    const waiting = await findWaitingEventIds(trx, place, part)
    const finished = await findFinishedDeliveries(trx, place, part)
    const deliveries = chooseRecovered(eventIds, waiting, finished, () => deps.newId('dlv'))
    if (deliveries.length > 0) await queueRecovered(trx, place, deliveries)
    return { recovered: deliveries.length, rest }
  })
}

async function findBatch(
  db: Kysely<Database>,
  { accountId, endpointId }: RecoveryPlace,
  range: EventRange,
): Promise<{ eventIds: string[]; rest: EventRange | undefined }> {
  const endpoint = await lockEndpoint(db, accountId, endpointId)
  if (!endpoint) throw endpointNotFound(endpointId)
  // One extra event shows where the next batch starts.
  const found = await findEventIds(db, accountId, endpoint.events, range, batchSize + 1)
  const next = found[batchSize]
  return {
    eventIds: found.slice(0, batchSize),
    rest: next === undefined ? undefined : { ...range, fromId: next },
  }
}

/** Runs one part of a recovery. `next` identifies the following part. */
export async function recoverStepwise(
  deps: Pick<Deps, 'db' | 'newId' | 'announcements'>,
  { accountId, endpointId, since, next }: z.output<(typeof contract)['input']>,
): Promise<z.output<(typeof contract)['output']>> {
  const range = next === undefined ? await rangeSince(deps, accountId, new Date(since)) : decodeRange(next)
  const { recovered, rest } = await recoverPart(deps, { accountId, endpointId }, range)
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

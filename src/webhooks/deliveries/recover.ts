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

/** Events looked at in one transaction, which holds up changes of the endpoint for as long. */
const batchSize = 5_000

export interface Recovery {
  endpointId: string
  /** How many deliveries were queued. */
  recovered: number
}

/**
 * Queues what the endpoint should have got since a time and did not: events whose delivery failed, and
 * those that never had one, since they happened before the endpoint was there or asked for their type.
 * Stopped in the middle, it can be run again: what waits already is left alone.
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

/** Ids of events carry the database's time, and those of before its clock was set back may be ahead of it. */
export async function rangeSince({ db }: Pick<Deps, 'db'>, accountId: string, since: Date): Promise<EventRange> {
  const now = await readDatabaseClock(db)
  const lastId = await findLastEventId(db, accountId)
  const lastAt = lastId === undefined ? now : timeOfId(lastId)
  if (!(since <= now || since <= lastAt))
    throw new ServiceError('VALIDATION_ERROR', 'There is nothing to recover since a time that is yet to come.', {
      field: 'since',
    })
  const until = lastAt < now ? now : new Date(lastAt.getTime() + 1)
  return { fromId: firstIdAt('evt', since), untilId: firstIdAt('evt', until) }
}

/** Looks at some thousand events; `rest` is what is left to be looked at. */
export async function recoverPart(
  deps: Pick<Deps, 'db' | 'newId' | 'announcements'>,
  place: RecoveryPlace,
  range: EventRange,
): Promise<{ recovered: number; rest: EventRange | undefined }> {
  const part = await recoverBatch(deps, place, range)
  if (part.recovered > 0) deps.announcements.announce('deliveries')
  return part
}

/**
 * Which deliveries bring the events that wait for none and were not delivered. One that failed before is
 * made again, so that its attempts stay together.
 */
export function chooseRecovered(
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

/** Under the lock of the endpoint, so that two recoveries at once do not queue the same event twice. */
function recoverBatch(
  deps: Pick<Deps, 'db' | 'newId'>,
  place: RecoveryPlace,
  range: EventRange,
): Promise<{ recovered: number; rest: EventRange | undefined }> {
  return deps.db.transaction().execute(async (trx) => {
    const { eventIds, rest } = await findBatch(trx, place, range)
    const part = rest ? { ...range, untilId: rest.fromId } : range
    // In this order: a delivery that is finished in between is then seen twice, and not missed.
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
  // One more than a batch holds tells where the next one begins.
  const found = await findEventIds(db, accountId, endpoint.events, range, batchSize + 1)
  const next = found[batchSize]
  return {
    eventIds: found.slice(0, batchSize),
    rest: next === undefined ? undefined : { ...range, fromId: next },
  }
}

/** One part of a recovery; `next` names the part after it. */
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

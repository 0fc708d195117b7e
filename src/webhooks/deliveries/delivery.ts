import type { Kysely } from 'kysely'
import type { Attempt, Delivery, listDeliveries as contract } from '../../../contracts/dashboard/webhook.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import { readDeliveryFailure } from '../../../contracts/facts/deliveries.ts'
import { withFacts } from '../../../contracts/facts/fact.ts'
import type { OutputOf } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { endpointNotFound } from '../endpoints/endpoint.ts'
import { findEndpoint, lockEndpoint } from '../endpoints/store.ts'
import {
  type AttemptRow,
  type DeliveryKeys,
  type DeliveryRow,
  findAttempts,
  findDeliveries,
  findOwnDelivery,
  findPayload,
  isEventKept,
  makeDeliveryDue,
  requeueDelivery,
} from './store.ts'

export interface DeliveryFilter {
  state?: DeliveryRow['state'] | undefined
  /** `nextCursor` of the previous page. */
  cursor?: string | undefined
  /** Deliveries per page, 1 to 100. */
  limit?: number | undefined
  /** Whether responses are included that can repeat what a recipient wrote; true by default. */
  withReplies?: boolean | undefined
}

export type DeliveryPage = OutputOf<typeof contract>

const defaultLimit = 20
const maxLimit = 100

/** Lists waiting and finished deliveries of an endpoint, newest first, with all attempts. */
export async function listDeliveries(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  endpointId: string,
  { state, cursor, limit = defaultLimit, withReplies = true }: DeliveryFilter = {},
): Promise<DeliveryPage> {
  checkFilter({ cursor, limit })
  const endpoint = await findEndpoint(deps.db, accountId, endpointId)
  if (!endpoint) throw endpointNotFound(endpointId)
  // One extra row shows whether there is a next page.
  const page = { beforeEventId: cursor, limit: limit + 1 }
  const found = await findDeliveries(deps.db, { accountId, endpointId, state }, page)
  const rows = found.slice(0, limit)
  const attempts = Map.groupBy(
    await findAttempts(
      deps.db,
      accountId,
      rows.map((row) => row.id),
    ),
    (attempt) => attempt.deliveryId,
  )
  const last = rows.at(-1)
  return {
    items: rows.map((row) => toDelivery(row, attempts.get(row.id) ?? [], { enabled: endpoint.enabled, withReplies })),
    ...(found.length > limit && last && { nextCursor: last.eventId }),
  }
}

function checkFilter({ cursor, limit }: { cursor: string | undefined; limit: number }): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit)
    throw new ServiceError('SETTING_REFUSED', `The limit must be between 1 and ${maxLimit} deliveries.`)
  if (cursor !== undefined && !/^evt_[0-9a-z]{26}$/.test(cursor))
    throw new ServiceError('SETTING_REFUSED', 'The cursor must be the nextCursor of the previous page.')
}

interface DeliveryView {
  /** Whether the endpoint is enabled. */
  enabled: boolean
  withReplies: boolean
}

export function toDelivery(row: DeliveryRow, attempts: AttemptRow[], { enabled, withReplies }: DeliveryView): Delivery {
  const withResponses = withReplies || !canRepeatReply(row)
  return {
    deliveryId: row.id,
    eventId: row.eventId,
    ...(row.type !== null && { type: row.type }),
    ...(row.messageId !== null && row.type?.startsWith('message.') === true && { messageId: row.messageId }),
    state: row.state,
    createdAt: row.createdAt.toISOString(),
    ...(row.dueAt && enabled && { nextAttemptAt: row.dueAt.toISOString() }),
    ...(row.finishedAt && { finishedAt: row.finishedAt.toISOString() }),
    // Numbered here, because the stored numbers restart when a delivery is retried.
    attempts: attempts.map((attempt, index) => toAttempt(attempt, index + 1, withResponses)),
  }
}

/** An endpoint can return what it was sent. The type of a deleted event is unknown. */
function canRepeatReply({ type }: DeliveryRow): boolean {
  return type === null || type === 'message.replied'
}

function toAttempt(row: AttemptRow, number: number, withResponse: boolean): Attempt {
  return {
    number,
    startedAt: row.startedAt.toISOString(),
    durationMilliseconds: row.durationMilliseconds,
    ...(row.statusCode !== null && { statusCode: row.statusCode }),
    ...(row.error !== null && withFacts({ error: readDeliveryFailure(row.error) })),
    ...(withResponse && row.responseStart !== null && { responseStart: row.responseStart }),
  }
}

/** Returns the request body of a delivery. */
export async function readPayload(
  { db }: Pick<Deps, 'db'>,
  accountId: string,
  deliveryId: string,
): Promise<{ eventId: string; payload: string }> {
  const { eventId } = await requireDelivery(db, accountId, deliveryId)
  const payload = await findPayload(db, accountId, eventId)
  if (payload === undefined)
    throw new ServiceError('NOT_FOUND', `The event of ${deliveryId} is older than the retention period.`)
  return { eventId, payload }
}

export interface RetriedDelivery {
  deliveryId: string
  endpointId: string
  eventId: string
  /** A disabled endpoint receives the delivery once it is enabled. */
  endpointState: 'enabled' | 'disabled'
}

/** Retries a delivery now: a waiting one becomes due, a finished one is queued again. */
export async function retryDelivery(
  deps: Pick<Deps, 'db' | 'notifications'>,
  { accountId, endpointId, eventId }: DeliveryKeys,
  deliveryId: string,
): Promise<RetriedDelivery> {
  const endpointState = await deps.db.transaction().execute(async (trx) => {
    // Holds the endpoint's lock, so that a concurrent recovery does not miss the delivery while it is moved.
    const endpoint = await lockEndpoint(trx, accountId, endpointId)
    if (!endpoint) throw new ServiceError('SETTING_REFUSED', `Cannot retry ${deliveryId}: its endpoint was removed.`)
    if (!(await isEventKept(trx, accountId, eventId)))
      throw new ServiceError(
        'SETTING_REFUSED',
        `Cannot retry ${deliveryId}: its event is older than the retention period.`,
      )
    if (!(await queueNow(trx, accountId, deliveryId))) throw deliveryNotFound(deliveryId)
    return endpoint.enabled ? 'enabled' : 'disabled'
  })
  deps.notifications.notify('deliveries')
  return { deliveryId, endpointId, eventId, endpointState }
}

/** Returns the endpoint and event of a delivery of this account. */
export async function requireDelivery(
  db: Kysely<Database>,
  accountId: string,
  deliveryId: string,
): Promise<DeliveryKeys> {
  const keys = await findOwnDelivery(db, accountId, deliveryId)
  if (!keys) throw deliveryNotFound(deliveryId)
  return keys
}

async function queueNow(db: Kysely<Database>, accountId: string, deliveryId: string): Promise<boolean> {
  return (await makeDeliveryDue(db, accountId, deliveryId)) || (await requeueDelivery(db, accountId, deliveryId))
}

export function deliveryNotFound(deliveryId: string): ServiceError {
  return new ServiceError('NOT_FOUND', `Delivery ${JSON.stringify(deliveryId)} was not found.`, {
    remedy: 'List the deliveries of an endpoint: waybill webhook deliveries <endpoint>',
  })
}

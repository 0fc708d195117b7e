import { ServiceError } from '../../../contracts/errors.ts'
import type { Attempt, Delivery, listDeliveries as contract } from '../../../contracts/dashboard/webhook.ts'
import type { OutputOf } from '../../../contracts/procedure.ts'
import { readDeliveryFailure } from '../../../contracts/facts/deliveries.ts'
import { withFacts } from '../../../contracts/facts/fact.ts'
import type { Deps } from '../../deps.ts'
import { endpointNotFound } from '../endpoints/endpoint.ts'
import { findEndpoint } from '../endpoints/store.ts'
import { type AttemptRow, type DeliveryRow, findAttempts, findDeliveries } from './store.ts'

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
    (attempt) => attempt.delivery_id,
  )
  const last = rows.at(-1)
  return {
    items: rows.map((row) => toDelivery(row, attempts.get(row.id) ?? [], { enabled: endpoint.enabled, withReplies })),
    ...(found.length > limit && last && { nextCursor: last.event_id }),
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
    eventId: row.event_id,
    ...(row.type !== null && { type: row.type }),
    ...(row.message_id !== null && row.type?.startsWith('message.') === true && { messageId: row.message_id }),
    state: row.state,
    createdAt: row.created_at.toISOString(),
    ...(row.due_at && enabled && { nextAttemptAt: row.due_at.toISOString() }),
    ...(row.finished_at && { finishedAt: row.finished_at.toISOString() }),
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
    startedAt: row.started_at.toISOString(),
    durationMilliseconds: row.duration_ms,
    ...(row.status_code !== null && { statusCode: row.status_code }),
    ...(row.error !== null && withFacts({ error: readDeliveryFailure(row.error) })),
    ...(withResponse && row.response_start !== null && { responseStart: row.response_start }),
  }
}

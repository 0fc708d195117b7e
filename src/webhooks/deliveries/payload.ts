import { ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import { requireDelivery } from './retry.ts'
import { findPayload } from './store.ts'

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

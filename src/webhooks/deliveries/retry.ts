import type { Kysely } from 'kysely'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { lockEndpoint } from '../endpoints/store.ts'
import { type DeliveryPlace, findOwnDelivery, isEventKept, makeDeliveryDue, requeueDelivery } from './store.ts'

export interface RetriedDelivery {
  deliveryId: string
  endpointId: string
  eventId: string
  /** A disabled endpoint gets it once it is enabled. */
  endpointState: 'enabled' | 'disabled'
}

/** Has a delivery go now: one that waits need not wait longer, one that is finished is made again. */
export async function retryDelivery(
  deps: Pick<Deps, 'db' | 'announcements'>,
  { accountId, endpointId, eventId }: DeliveryPlace,
  deliveryId: string,
): Promise<RetriedDelivery> {
  const endpointState = await deps.db.transaction().execute(async (trx) => {
    // Under its lock, so that a recovery does not miss the delivery while it moves.
    const endpoint = await lockEndpoint(trx, accountId, endpointId)
    if (!endpoint)
      throw new ServiceError(
        'SETTING_REFUSED',
        `The endpoint of ${deliveryId} was removed: there is nowhere to send it.`,
      )
    if (!(await isEventKept(trx, accountId, eventId)))
      throw new ServiceError(
        'SETTING_REFUSED',
        `The event of ${deliveryId} is no longer kept: there is nothing to send.`,
      )
    if (!(await queueNow(trx, accountId, deliveryId))) throw deliveryNotFound(deliveryId)
    return endpoint.enabled ? 'enabled' : 'disabled'
  })
  deps.announcements.announce('deliveries')
  return { deliveryId, endpointId, eventId, endpointState }
}

/** Where a delivery of this account goes. */
export async function requireDelivery(
  db: Kysely<Database>,
  accountId: string,
  deliveryId: string,
): Promise<DeliveryPlace> {
  const place = await findOwnDelivery(db, accountId, deliveryId)
  if (!place) throw deliveryNotFound(deliveryId)
  return place
}

async function queueNow(db: Kysely<Database>, accountId: string, deliveryId: string): Promise<boolean> {
  return (await makeDeliveryDue(db, accountId, deliveryId)) || (await requeueDelivery(db, accountId, deliveryId))
}

export function deliveryNotFound(deliveryId: string): ServiceError {
  return new ServiceError('NOT_FOUND', `There is no delivery ${JSON.stringify(deliveryId)}.`, {
    remedy: 'Those of an endpoint are listed by: waybill webhook deliveries <endpoint>',
  })
}

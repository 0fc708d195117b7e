import type { Kysely } from 'kysely'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { lockEndpoint } from '../endpoints/store.ts'
import { type DeliveryKeys, findOwnDelivery, isEventKept, makeDeliveryDue, requeueDelivery } from './store.ts'

export interface RetriedDelivery {
  deliveryId: string
  endpointId: string
  eventId: string
  /** A disabled endpoint receives the delivery once it is enabled. */
  endpointState: 'enabled' | 'disabled'
}

/** Retries a delivery now: a waiting one becomes due, a finished one is queued again. */
export async function retryDelivery(
  deps: Pick<Deps, 'db' | 'announcements'>,
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
  deps.announcements.announce('deliveries')
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

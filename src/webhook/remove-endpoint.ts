import type { Deps } from '../deps.ts'
import { deleteWaitingDeliveries } from './delivery-store.ts'
import { deleteEndpoint } from './endpoint-store.ts'
import { noSuchEndpoint } from './endpoint.ts'

export interface RemovedEndpoint {
  endpointId: string
  /** How many deliveries waited for it, and are gone. */
  dropped: number
}

/** Forgets the endpoint, its secrets and what waits for it. The events stay. */
export async function removeEndpoint(
  deps: Pick<Deps, 'db'>,
  accountId: string,
  endpointId: string,
): Promise<RemovedEndpoint> {
  if (!(await deleteEndpoint(deps.db, accountId, endpointId))) throw noSuchEndpoint(endpointId)
  let dropped = 0
  for (;;) {
    const deleted = await deleteWaitingDeliveries(deps.db, accountId, endpointId)
    if (deleted === 0) return { endpointId, dropped }
    dropped += deleted
  }
}

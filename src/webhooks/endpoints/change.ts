import type { Endpoint } from '../../../contracts/dashboard/webhook.ts'
import type { Deps } from '../../deps.ts'
import { deleteWaitingDeliveries, makeDeliveriesDue } from '../deliveries/store.ts'
import { endpointNotFound, requireEndpoint } from './endpoint.ts'
import { changeEndpoint, deleteEndpoint } from './store.ts'

/** What waited goes now: the waits that its failures had grown to belong to the past. */
export async function enableEndpoint(
  deps: Pick<Deps, 'db' | 'now' | 'announcements'>,
  accountId: string,
  endpointId: string,
): Promise<Endpoint> {
  const { waiting } = await requireEndpoint(deps.db, accountId, endpointId, deps.now())
  await makeAllDue(deps, accountId, endpointId, waiting)
  const changes = { enabled: true, disabled_reason: null, failing_since: null }
  if (!(await changeEndpoint(deps.db, accountId, endpointId, changes))) throw endpointNotFound(endpointId)
  deps.announcements.announce('deliveries')
  return requireEndpoint(deps.db, accountId, endpointId, deps.now())
}

/** Not more than were there at first: those of an endpoint that was never disabled may fail meanwhile. */
async function makeAllDue({ db }: Pick<Deps, 'db'>, accountId: string, endpointId: string, waiting: number) {
  for (let left = waiting; left > 0;) {
    const made = await makeDeliveriesDue(db, accountId, endpointId)
    if (made === 0) return
    left -= made
  }
}

/** Its deliveries wait from now on, those of new events too. One that is under way is not called back. */
export async function disableEndpoint(
  deps: Pick<Deps, 'db' | 'now'>,
  accountId: string,
  endpointId: string,
  { by = 'an operator' }: { by?: 'an operator' | 'its owner' } = {},
): Promise<Endpoint> {
  const changes = { enabled: false, disabled_reason: `disabled by ${by}` }
  if (!(await changeEndpoint(deps.db, accountId, endpointId, changes))) throw endpointNotFound(endpointId)
  return requireEndpoint(deps.db, accountId, endpointId, deps.now())
}

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
  if (!(await deleteEndpoint(deps.db, accountId, endpointId))) throw endpointNotFound(endpointId)
  let dropped = 0
  for (;;) {
    const deleted = await deleteWaitingDeliveries(deps.db, accountId, endpointId)
    if (deleted === 0) return { endpointId, dropped }
    dropped += deleted
  }
}

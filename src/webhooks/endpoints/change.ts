import type { Endpoint } from '../../../contracts/dashboard/webhook.ts'
import { disabledReasons } from '../../../contracts/facts/deliveries.ts'
import { type Fact, inEnglish } from '../../../contracts/facts/fact.ts'
import type { Deps } from '../../deps.ts'
import { deleteWaitingDeliveries, makeDeliveriesDue } from '../deliveries/store.ts'
import { endpointNotFound, requireEndpoint } from './endpoint.ts'
import { changeEndpoint, deleteEndpoint } from './store.ts'

/** Makes waiting deliveries due now, because delays from past failures no longer apply. */
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

/**
 * Stops after the initial number, because deliveries of an enabled endpoint may fail and wait again in the meantime.
 */
export async function makeAllDue({ db }: Pick<Deps, 'db'>, accountId: string, endpointId: string, waiting: number) {
  for (let remaining = waiting; remaining > 0;) {
    const madeDue = await makeDeliveriesDue(db, accountId, endpointId)
    if (madeDue === 0) return
    remaining -= madeDue
  }
}

/** Disables an endpoint. Its deliveries wait, including those of new events. A running attempt is not aborted. */
export async function disableEndpoint(
  deps: Pick<Deps, 'db' | 'now'>,
  accountId: string,
  endpointId: string,
  { reason = disabledReasons.byOperator() }: { reason?: Fact } = {},
): Promise<Endpoint> {
  const changes = { enabled: false, disabled_reason: inEnglish(reason) }
  if (!(await changeEndpoint(deps.db, accountId, endpointId, changes))) throw endpointNotFound(endpointId)
  return requireEndpoint(deps.db, accountId, endpointId, deps.now())
}

export interface RemovedEndpoint {
  endpointId: string
  /** Number of waiting deliveries that were deleted. */
  dropped: number
}

/** Removes the endpoint, its secrets and its waiting deliveries. Events are kept. */
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

import type { Deps } from '../deps.ts'
import { makeDeliveriesDue } from './delivery-store.ts'
import { changeEndpoint } from './endpoint-store.ts'
import { noSuchEndpoint, requireEndpoint, type Endpoint } from './endpoint.ts'

/** What waited goes now: the waits that its failures had grown to belong to the past. */
export async function enableEndpoint(
  deps: Pick<Deps, 'db' | 'now' | 'announcements'>,
  accountId: string,
  endpointId: string,
): Promise<Endpoint> {
  const { waiting } = await requireEndpoint(deps.db, accountId, endpointId, deps.now())
  await makeAllDue(deps, accountId, endpointId, waiting)
  const changes = { enabled: true, disabled_reason: null, failing_since: null }
  if (!(await changeEndpoint(deps.db, accountId, endpointId, changes))) throw noSuchEndpoint(endpointId)
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

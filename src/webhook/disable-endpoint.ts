import type { Deps } from '../deps.ts'
import { changeEndpoint } from './endpoint-store.ts'
import { noSuchEndpoint, requireEndpoint, type Endpoint } from './endpoint.ts'

/** Its deliveries wait from now on, those of new events too. One that is under way is not called back. */
export async function disableEndpoint(
  deps: Pick<Deps, 'db' | 'now'>,
  accountId: string,
  endpointId: string,
  { by = 'an operator' }: { by?: 'an operator' | 'its owner' } = {},
): Promise<Endpoint> {
  const changes = { enabled: false, disabled_reason: `disabled by ${by}` }
  if (!(await changeEndpoint(deps.db, accountId, endpointId, changes))) throw noSuchEndpoint(endpointId)
  return requireEndpoint(deps.db, accountId, endpointId, deps.now())
}

import { requireAccount } from '../account/account.ts'
import type { Deps } from '../deps.ts'
import { findEndpointSummaries } from './endpoint-store.ts'
import { toEndpoint, type Endpoint } from './endpoint.ts'

/** Oldest first. */
export async function listEndpoints(deps: Pick<Deps, 'db' | 'now'>, accountId: string): Promise<Endpoint[]> {
  await requireAccount(deps.db, accountId)
  const rows = await findEndpointSummaries(deps.db, accountId)
  return rows.map((row) => toEndpoint(row, deps.now()))
}

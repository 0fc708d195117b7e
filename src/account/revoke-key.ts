import type { Deps } from '../deps.ts'
import { requireAccount } from './account.ts'
import { deleteKey } from './store.ts'

/** Spec, Authentication, 5: all requests are rejected until a new key is generated. False: there was no key. */
export async function revokeKey(deps: Pick<Deps, 'db'>, accountId: string): Promise<{ revoked: boolean }> {
  await requireAccount(deps.db, accountId)
  return { revoked: await deleteKey(deps.db, accountId) }
}

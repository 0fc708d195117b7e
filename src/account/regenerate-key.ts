import type { Deps } from '../deps.ts'
import { requireAccount } from './account.ts'
import { issueKey, type IssuedKey } from './issued-key.ts'
import { replaceKey } from './store.ts'

/** Spec, Authentication, 4: the old key is invalidated immediately. Without an old key this generates one. */
export async function regenerateKey(
  deps: Pick<Deps, 'db' | 'now' | 'randomBytes'>,
  accountId: string,
): Promise<IssuedKey> {
  await requireAccount(deps.db, accountId)
  const { issued, row } = issueKey(deps, accountId)
  await replaceKey(deps.db, row)
  return issued
}

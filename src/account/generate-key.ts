import type { Deps } from '../deps.ts'
import { requireAccount } from './account.ts'
import { issueKey, type IssuedKey } from './issued-key.ts'
import { OperatorError } from './operator-error.ts'
import { insertKey } from './store.ts'

/** Refuses when there is a key: replacing one breaks whoever uses it, and that has its own verb. */
export async function generateKey(
  deps: Pick<Deps, 'db' | 'now' | 'randomBytes'>,
  accountId: string,
): Promise<IssuedKey> {
  await requireAccount(deps.db, accountId)
  const { issued, row } = issueKey(deps, accountId)
  if (!(await insertKey(deps.db, row)))
    throw new OperatorError(`Account ${accountId} has a key already.`, {
      remedy: `To replace it, which makes the old one useless at once: waybill key regenerate ${accountId}`,
    })
  return issued
}

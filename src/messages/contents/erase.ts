import type { Deps } from '../../deps.ts'
import { retryLocked } from '../../platform/db/retry-locked.ts'
import type { NumberMatcher } from '../erasure/number.ts'
import { decryptContent } from './content.ts'
import { deleteContents, readContents } from './store.ts'

/**
 * Deletes the contents that name a number, such as a message to somebody else with the number of their driver. Reads all
 * accounts unless one is given. What no key decrypts remains unread, and expires.
 */
export async function eraseFromContents(
  { db, secrets }: Pick<Deps, 'db' | 'secrets'>,
  { matcher, accountId }: { matcher: NumberMatcher; accountId: string | undefined },
): Promise<{ erased: number; accountIds: string[] }> {
  const accountIds = new Set<string>()
  let erased = 0
  for await (const rows of readContents(db, { accountId })) {
    const found = rows.filter((row) => {
      const text = decryptContent(secrets, row, row.ciphertext)
      return text !== undefined && matcher.erase(text) !== text
    })
    for (const [id, ofAccount] of Map.groupBy(found, (row) => row.accountId)) {
      erased += await retryLocked(() =>
        deleteContents(
          db,
          id,
          ofAccount.map(({ messageId }) => messageId),
        ),
      )
      accountIds.add(id)
    }
  }
  return { erased, accountIds: [...accountIds] }
}

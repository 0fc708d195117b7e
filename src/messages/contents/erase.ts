import type { Deps } from '../../deps.ts'
import { retryLocked } from '../../platform/db/retry-locked.ts'
import type { NumberMatcher } from '../erasure/number.ts'
import { decryptContent } from './content.ts'
import { deleteContents, readContents } from './store.ts'

/**
 * Deletes the contents that mention a number, such as a message that tells another recipient the number of their
 * driver. Reads all accounts unless one is given. Contents that no key decrypts cannot be searched; they expire.
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

import { changes } from '../../../contracts/changes.ts'
import { discardUnwrittenRequests } from '../../accounts/requests/store.ts'
import type { Deps } from '../../deps.ts'
import { retryLocked } from '../../platform/db/retry-locked.ts'
import { awaitRunningWrites } from '../../platform/db/running-writes.ts'
import { eraseFromContents } from '../contents/erase.ts'
import { eraseSuppressions } from '../suppressions/erased-store.ts'
import { readHashKey } from '../suppressions/recipient-hash.ts'
import { spellingsOf } from '../suppressions/number-key.ts'
import { matchNumbers } from './number.ts'
import { endClaimsOfErased, eraseSomeMessages, findAccountsWithMessagesTo } from './store.ts'
import { type ErasedRows, sweep, type SweepProgress } from './sweep.ts'

export interface Erasure {
  /** Digits only, in any of its spellings. */
  number: string
  /** All accounts if absent. */
  accountId?: string | undefined
}

export interface Erased {
  /** Accounts that had stored the number. */
  accountIds: string[]
  /** Messages to the number. They are kept without it. */
  messages: number
  /** Other rows that contained the number, by table. */
  rows: ErasedRows
  /** Whether the last search found no trace of the number. */
  complete: boolean
}

export interface ErasureHooks {
  report?: (progress: SweepProgress) => void
  /** Runs the change of one account, and records it in the audit log. */
  audited: <Result>(accountId: string, what: string, run: () => Promise<Result>) => Promise<Result>
}

const messageBatchSize = 200
/** While the number keeps being written, each search can find it again. */
const maxSearches = 5

/**
 * Removes a person's number from everything that is stored. Messages are kept without a recipient, so that counts do
 * not change, and suppressions are kept with a hash in place of the number. Each step is a short transaction, and a
 * repeated erasure continues where an interrupted one stopped. Whatever is recorded during the erasure is erased too; a
 * message that is requested afterwards is kept.
 */
export async function eraseRecipient(
  deps: Pick<Deps, 'db' | 'secrets' | 'randomBytes'>,
  { number, accountId }: Erasure,
  { report, audited }: ErasureHooks,
): Promise<Erased> {
  const { db } = deps
  const hashKey = await readHashKey(deps)
  // A recipient can reply from another spelling of the number than the one that messages were sent to.
  const numbers = spellingsOf(number)
  const matcher = matchNumbers(numbers)
  const rows: ErasedRows = {}
  const recorded = new Set<string>()
  let messages = 0

  async function eraseMessages(): Promise<number> {
    const found = await findAccountsWithMessagesTo(db, numbers)
    let erased = 0
    for (const id of found.filter((one) => accountId === undefined || one === accountId))
      erased += await inAuditOf(id, () => eraseMessagesOf(id))
    messages += erased
    return erased
  }

  async function eraseMessagesOf(id: string): Promise<number> {
    let erased = 0
    for (;;) {
      const count = await retryLocked(() =>
        eraseSomeMessages(db, { accountId: id, numbers, matcher }, messageBatchSize),
      )
      erased += count
      if (count < messageBatchSize) return erased
    }
  }

  /** Records one entry per account, even if several steps change it. */
  function inAuditOf<Result>(id: string, run: () => Promise<Result>): Promise<Result> {
    if (recorded.has(id)) return run()
    recorded.add(id)
    return audited(id, changes.eraseRecipient(), run)
  }

  if (accountId !== undefined) await inAuditOf(accountId, () => Promise.resolve())
  await discardUnwrittenRequests(db)
  await eraseMessages()
  for (let search = 1; search <= maxSearches; search += 1) {
    const hashed = await retryLocked(() => eraseSuppressions(db, hashKey, { number, accountId }))
    if (hashed.length > 0) rows['suppressions'] = (rows['suppressions'] ?? 0) + hashed.length
    const swept = await sweep(db, { matcher, accountId }, report)
    for (const [table, count] of Object.entries(swept.erased)) rows[table] = (rows[table] ?? 0) + count
    const inContents = await eraseFromContents(deps, { matcher, accountId })
    if (inContents.erased > 0) rows['message_contents'] = (rows['message_contents'] ?? 0) + inContents.erased
    for (const id of [...hashed, ...swept.accountIds, ...inContents.accountIds])
      await inAuditOf(id, () => Promise.resolve())
    const settled = await awaitRunningWrites(db)
    const late = await eraseMessages()
    for (const id of recorded) await retryLocked(() => endClaimsOfErased(db, id))
    const found = hashed.length + swept.accountIds.size + inContents.erased + late
    const isClean = found === 0 && settled
    if (isClean) return { accountIds: [...recorded].sort(), messages, rows, complete: true }
  }
  return { accountIds: [...recorded].sort(), messages, rows, complete: false }
}

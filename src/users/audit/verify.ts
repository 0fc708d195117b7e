import type { Kysely } from 'kysely'
import type { Database } from '../../platform/db/schema.ts'
import { type AuditDeps, openAuditLog } from './append.ts'
import {
  type AuditKeys,
  type ChainFault,
  type ChainLink,
  chainStart,
  findEntryFault,
  findHeadFault,
  isEqual,
  missing,
  readAuditKeys,
  sealHead,
  toHex,
} from './chain.ts'
import {
  type AuditChainRow,
  type AuditEntryRow,
  deleteAuditEntriesUpTo,
  findAccountsWithEntriesBefore,
  findAuditChain,
  findAuditEntries,
  findFirstSequenceSince,
  lockAuditChain,
  updateAuditChain,
} from './store.ts'

const entriesPerPage = 500

/**
 * Yields the entries of an account in the order of the chain, page by page, because a log can be larger than memory.
 */
export async function* readAuditEntries(
  db: Kysely<Database>,
  accountId: string,
  { after }: { after?: number | undefined } = {},
): AsyncGenerator<AuditEntryRow[], void, void> {
  for (let last = after; ;) {
    const page = await findAuditEntries(db, accountId, { after: last, limit: entriesPerPage })
    last = page.at(-1)?.sequence
    if (last === undefined) return
    yield page
  }
}

export interface AuditVerification {
  accountId: string
  ok: boolean
  entries: number
  /**
   * The last entry; null if there are no entries. A copy of its hash that is stored elsewhere can be passed as
   * `expectedHash` later.
   */
  head: { sequence: number; hash: string } | null
  /** The last expired entry; null if none has expired. */
  expired: { sequence: number; hash: string } | null
  /** The first invalid entry, and what is wrong with it. */
  fault?: ChainFault
}

/**
 * Recomputes the chain of an account. `expectedHash` is the hash of an entry that must exist or be the last one that
 * expired.
 */
export async function verifyAudit(
  deps: AuditDeps,
  accountId: string,
  { expectedHash }: { expectedHash?: string | undefined } = {},
): Promise<AuditVerification> {
  await openAuditLog(deps)
  const first = await verifyChain(deps, accountId, expectedHash)
  // Entries can expire and keys can be created during the first check, so a failure is checked again.
  return first.ok ? first : verifyChain(deps, accountId, expectedHash)
}

async function verifyChain(
  deps: Pick<AuditDeps, 'db' | 'secrets'>,
  accountId: string,
  expectedHash: string | undefined,
): Promise<AuditVerification> {
  const { db } = deps
  const keys = await readAuditKeys(deps)
  const startHead = await findAuditChain(db, accountId)
  let previous: ChainLink = startHead
    ? { sequence: startHead.expiredSequence, hash: startHead.expiredHash }
    : chainStart
  // Before anything has expired, there is no expired hash to compare.
  const isExpired = previous.sequence > 0 && toHex(previous.hash) === expectedHash
  let [entries, expectedFound] = [0, expectedHash === undefined || isExpired]
  const result = (head: AuditChainRow | undefined, fault?: ChainFault): AuditVerification => ({
    accountId,
    ok: fault === undefined,
    entries,
    head: head && head.sequence > 0 ? { sequence: head.sequence, hash: toHex(head.hash) } : null,
    expired:
      head && head.expiredSequence > 0 ? { sequence: head.expiredSequence, hash: toHex(head.expiredHash) } : null,
    ...(fault && { fault }),
  })
  for (let after: number | undefined; ; after = previous.sequence) {
    const read = entries
    for await (const page of readAuditEntries(db, accountId, { after }))
      for (const entry of page) {
        const fault = findEntryFault(previous, entry, keys)
        if (fault) return result(startHead, fault)
        previous = entry
        entries += 1
        expectedFound ||= toHex(entry.hash) === expectedHash
      }
    // Read after the entries, so that the head is not older than the last of them.
    const head = await findAuditChain(db, accountId)
    if (head && head.sequence > previous.sequence && entries > read) continue
    const fault = findEndFault(previous, head, keys)
    if (fault || expectedFound) return result(head, fault)
    const expired =
      head && head.expiredSequence > 0 ? `; it may be one of the ${head.expiredSequence} that expired` : ''
    return result(head, {
      sequence: previous.sequence,
      reason: `no entry has the expected hash${expired}. Otherwise the log was rolled back or replaced`,
    })
  }
}

/** Returns what is wrong with the head if `last` is the last entry. */
function findEndFault(last: ChainLink, head: AuditChainRow | undefined, keys: AuditKeys): ChainFault | undefined {
  const { sequence } = last
  if (!head) return sequence === 0 ? undefined : { sequence, reason: 'the head of the chain is missing' }
  const headFault = findHeadFault(head, keys)
  if (headFault !== undefined) return { sequence, reason: headFault }
  if (head.sequence > sequence) return missing(sequence + 1, head.sequence)
  if (head.sequence < sequence) return { sequence: head.sequence + 1, reason: 'it follows the head: it was inserted' }
  if (!isEqual(head.hash, last.hash)) return { sequence, reason: 'it is not the entry that the head names' }
  return undefined
}

/**
 * Deletes entries before that time and keeps the number and hash of the last deleted one. Verifies the entries first,
 * because deleting entries that were tampered with would delete the evidence.
 */
export async function expireAuditEntries(deps: AuditDeps, before: Date): Promise<void> {
  const { keys, current } = await openAuditLog(deps)
  for (const accountId of await findAccountsWithEntriesBefore(deps.db, before)) {
    const fault = await deps.db.transaction().execute(async (trx) => {
      const head = await lockAuditChain(trx, accountId)
      if (!head) return missingHeadFault
      const firstKept = await findFirstSequenceSince(trx, accountId, before)
      const last = firstKept === undefined ? head.sequence : firstKept - 1
      const found = await verifyUpTo(trx, head, last, keys)
      if ('reason' in found) return found
      if (found.sequence === head.expiredSequence) return undefined
      await deleteAuditEntriesUpTo(trx, accountId, found.sequence)
      const moved = { ...head, expiredSequence: found.sequence, expiredHash: found.hash }
      await updateAuditChain(trx, sealHead(moved, current))
      return undefined
    })
    if (fault)
      deps.log.error(
        { accountId, ...fault },
        'did not delete expired audit log entries because their verification failed; run: waybill audit verify',
      )
  }
}

const missingHeadFault: ChainFault = { sequence: 0, reason: 'the head of the chain is missing' }

/** Returns the last entry up to `last` if all entries until there are valid, or else the fault. */
async function verifyUpTo(
  trx: Kysely<Database>,
  head: AuditChainRow,
  last: number,
  keys: AuditKeys,
): Promise<ChainLink | ChainFault> {
  const headFault = findHeadFault(head, keys)
  if (headFault !== undefined) return { sequence: head.sequence, reason: headFault }
  let previous: ChainLink = { sequence: head.expiredSequence, hash: head.expiredHash }
  for await (const page of readAuditEntries(trx, head.accountId))
    for (const entry of page) {
      if (entry.sequence > last) return previous
      const fault = findEntryFault(previous, entry, keys)
      if (fault) return fault
      previous = entry
    }
  return findEndFault(previous, head, keys) ?? previous
}

import { type AuditDeps, openAuditLog } from './append.ts'
import { encodeTime, toHex } from './chain.ts'
import type { AuditChainRow, AuditEntryRow } from './store.ts'
import { findAuditChain } from './store.ts'
import { readAuditEntries } from './verify.ts'

/**
 * Yields the audit log of an account as JSON Lines, several lines at a time: all entries of the chain, oldest first,
 * then the head as it was at the start. Meant to be stored before an account is removed.
 */
export async function* exportAudit(deps: AuditDeps, accountId: string): AsyncGenerator<string[], void, void> {
  await openAuditLog(deps)
  const head = await findAuditChain(deps.db, accountId)
  if (!head) return
  for await (const page of readAuditEntries(deps.db, accountId)) {
    const entries = page.filter(({ sequence }) => sequence <= head.sequence)
    if (entries.length > 0) yield entries.map((entry) => JSON.stringify(toEntryLine(entry)))
    if (entries.length < page.length) break
  }
  yield [JSON.stringify(toHeadLine(head))]
}

/** Contains the hashed fields, under the names of the table in SECURITY.md. */
function toEntryLine(entry: AuditEntryRow) {
  return {
    type: 'entry',
    accountId: entry.account_id,
    sequence: entry.sequence,
    startSequence: entry.start_sequence,
    id: entry.id,
    outcome: entry.outcome,
    who: entry.who,
    what: entry.what,
    address: entry.address,
    at: encodeTime(entry.created_at),
    keyId: entry.key_id,
    ...(entry.hash_version > 1 && { version: entry.hash_version, fact: entry.fact }),
    hash: toHex(entry.hash),
    mac: toHex(entry.mac),
  }
}

function toHeadLine(head: AuditChainRow) {
  return {
    type: 'head',
    accountId: head.account_id,
    sequence: head.sequence,
    hash: toHex(head.hash),
    expiredSequence: head.expired_sequence,
    expiredHash: toHex(head.expired_hash),
    keyId: head.key_id,
    mac: toHex(head.mac),
  }
}

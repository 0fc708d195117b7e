import type { z } from 'zod'
import type { AuditEntry, listAudit as contract } from '../../../contracts/dashboard/user.ts'
import { readActor } from '../../../contracts/facts/changes.ts'
import { type Fact, type Sentence, withFacts } from '../../../contracts/facts/fact.ts'
import { findMemberships } from '../store.ts'
import { appendAuditEntry, type AuditDeps, openAuditLog } from './append.ts'
import { encodeTime, toHex } from './chain.ts'
import {
  type AuditActionRow,
  type AuditChainRow,
  type AuditEntryRow,
  findAuditActions,
  findAuditChain,
} from './store.ts'
import { readAuditEntries } from './verify.ts'

/** Retention of the audit log. */
export const auditKeptDays = 365

export interface Change {
  accountId: string
  who: string
  what: Sentence
  address: string
}

/**
 * Appends an entry before the change, so that a change interrupted by a crash is recorded too, and one with the outcome
 * after it.
 */
export async function audited<Result>(deps: AuditDeps, change: Change, run: () => Promise<Result>): Promise<Result> {
  const { accountId } = change
  const id = deps.newId('aud')
  const startSequence = await appendAuditEntry(deps, { ...change, id, outcome: 'started' })
  const complete = async (outcome: 'done' | 'refused') => {
    try {
      await appendAuditEntry(deps, { ...change, id, outcome, startSequence })
    } catch (error) {
      // The change has already happened. Reporting a failure would make the caller repeat it.
      deps.log.warn({ err: error, accountId, id }, 'could not write the outcome of a change to the audit log')
    }
  }
  try {
    const result = await run()
    await complete('done')
    return result
  } catch (error) {
    await complete('refused')
    throw error
  }
}

/**
 * Records a change to a user's sign-in in the audit log of each of their accounts. It is written afterwards, so that
 * rejected attempts do not fill the log.
 */
export async function recordOwnChange(
  deps: AuditDeps,
  { userId, email }: { userId: string; email: string },
  change: { what: Sentence; address: string; outcome: 'done' | 'refused' },
): Promise<void> {
  return recordForUser(deps, userId, { who: email, ...change })
}

/** Records a change that concerns a user in the audit log of each of their accounts. */
export async function recordForUser(
  deps: AuditDeps,
  userId: string,
  change: { who: string; what: Sentence; address: string; outcome: 'done' | 'refused' },
): Promise<void> {
  try {
    for (const { accountId } of await findMemberships(deps.db, userId))
      await appendAuditEntry(deps, { accountId, id: deps.newId('aud'), ...change })
  } catch (error) {
    // As above, the change has already happened.
    deps.log.warn({ err: error, userId }, 'could not write a change to the audit log')
  }
}

/** Returns a row per action that combines its start and its outcome. */
export async function listAudit(
  deps: AuditDeps,
  { accountId, cursor, limit, from, until, ...filter }: z.output<(typeof contract)['input']>,
): Promise<z.output<(typeof contract)['output']>> {
  await openAuditLog(deps)
  const before = cursor === undefined ? undefined : Number(cursor)
  // One extra row shows whether there is a next page.
  const times = { from: toDate(from), until: toDate(until) }
  const rows = await findAuditActions(deps.db, accountId, { before, ...filter, ...times, limit: limit + 1 })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { items: page.map(toAuditEntry), ...(rows.length > limit && last && { nextCursor: String(last.sequence) }) }
}

function toDate(at: string | undefined): Date | undefined {
  return at === undefined ? undefined : new Date(at)
}

function toAuditEntry(row: AuditActionRow): z.output<typeof AuditEntry> {
  const { who, address, facts } = withFacts({ who: readActor(row.who), address: readActor(row.address) })
  return {
    id: row.id,
    at: encodeTime(row.createdAt),
    who,
    what: row.what,
    address,
    outcome: row.outcome,
    facts: { ...facts, ...(row.fact !== null && { what: JSON.parse(row.fact) as Fact }) },
  }
}

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
    accountId: entry.accountId,
    sequence: entry.sequence,
    startSequence: entry.startSequence,
    id: entry.id,
    outcome: entry.outcome,
    who: entry.who,
    what: entry.what,
    address: entry.address,
    at: encodeTime(entry.createdAt),
    keyId: entry.keyId,
    ...(entry.hashVersion > 1 && { version: entry.hashVersion, fact: entry.fact }),
    hash: toHex(entry.hash),
    mac: toHex(entry.mac),
  }
}

function toHeadLine(head: AuditChainRow) {
  return {
    type: 'head',
    accountId: head.accountId,
    sequence: head.sequence,
    hash: toHex(head.hash),
    expiredSequence: head.expiredSequence,
    expiredHash: toHex(head.expiredHash),
    keyId: head.keyId,
    mac: toHex(head.mac),
  }
}

import type { z } from 'zod'
import type { AuditEntry, listAudit as contract } from '../../../contracts/dashboard/owner.ts'
import { findMemberships } from '../store.ts'
import { appendAuditEntry, type AuditDeps, openAuditLog } from './append.ts'
import { encodeTime } from './chain.ts'
import { type AuditActionRow, findAuditActions } from './store.ts'

/** How long the audit log is kept. */
export const auditKeptDays = 365

export interface Change {
  accountId: string
  who: string
  what: string
  address: string
}

/**
 * Appends an entry before the change, so that one which a crash interrupts is recorded too, and a second entry
 * with the outcome after it.
 */
export async function audited<Result>(deps: AuditDeps, change: Change, run: () => Promise<Result>): Promise<Result> {
  const { accountId } = change
  const id = deps.newId('aud')
  const startSequence = await appendAuditEntry(deps, { ...change, id, outcome: 'started' })
  const complete = async (outcome: 'done' | 'refused') => {
    try {
      await appendAuditEntry(deps, { ...change, id, outcome, startSequence })
    } catch (error) {
      // The change stands as it is: to call it failed for this would have it made twice.
      deps.log.warn({ err: error, accountId, id }, 'the outcome of a change could not be written to the audit log')
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
 * What a person changed of how they sign in counts for all their accounts, and is written to each. It is
 * written afterwards: what is refused for its number alone must not fill the log.
 */
export async function recordOwnChange(
  deps: AuditDeps,
  { ownerId, email }: { ownerId: string; email: string },
  { what, address, outcome }: { what: string; address: string; outcome: 'done' | 'refused' },
): Promise<void> {
  try {
    for (const { accountId } of await findMemberships(deps.db, ownerId))
      await appendAuditEntry(deps, { accountId, id: deps.newId('aud'), who: email, what, address, outcome })
  } catch (error) {
    // As above: the change stands as it is.
    deps.log.warn({ err: error, ownerId }, 'a change could not be written to the audit log')
  }
}

/** A row per action: its start and its outcome in one. */
export async function listAudit(
  deps: AuditDeps,
  { accountId, cursor, limit }: z.output<(typeof contract)['input']>,
): Promise<z.output<(typeof contract)['output']>> {
  await openAuditLog(deps)
  const before = cursor === undefined ? undefined : Number(cursor)
  // One more than asked for tells whether there is a next page.
  const rows = await findAuditActions(deps.db, accountId, { before, limit: limit + 1 })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { items: page.map(toAuditEntry), ...(rows.length > limit && last && { nextCursor: String(last.sequence) }) }
}

function toAuditEntry({ id, created_at, who, what, address, outcome }: AuditActionRow): z.output<typeof AuditEntry> {
  return { id, at: encodeTime(created_at), who, what, address, outcome }
}

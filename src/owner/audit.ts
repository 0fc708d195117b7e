import type { z } from 'zod'
import type { AuditEntry, listAudit as contract } from '../../contracts/settings/owner.ts'
import type { Deps } from '../deps.ts'
import { findAuditEntries, insertAuditEntry, setOutcome, type AuditRow } from './audit-store.ts'
import { findMemberships } from './store.ts'

/** How long the audit log is kept. */
export const auditKeptDays = 365

export interface Change {
  accountId: string
  who: string
  what: string
  address: string
}

/**
 * Written before the change, so that one which a dying server leaves behind is seen too, and completed
 * after it.
 */
export async function audited<Result>(
  { db, newId, log }: Pick<Deps, 'db' | 'newId' | 'log'>,
  { accountId, ...entry }: Change,
  change: () => Promise<Result>,
): Promise<Result> {
  const id = newId('aud')
  await insertAuditEntry(db, { account_id: accountId, id, ...entry })
  const complete = async (outcome: 'done' | 'refused') => {
    try {
      await setOutcome(db, { accountId, id }, outcome)
    } catch (error) {
      // The change stands as it is: to call it failed for this would have it made twice.
      log.warn({ err: error, accountId, id }, 'the outcome of a change could not be written to the audit log')
    }
  }
  try {
    const result = await change()
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
  { db, newId, log }: Pick<Deps, 'db' | 'newId' | 'log'>,
  { ownerId, email }: { ownerId: string; email: string },
  { what, address, outcome }: { what: string; address: string; outcome: 'done' | 'refused' },
): Promise<void> {
  try {
    for (const { accountId } of await findMemberships(db, ownerId))
      await insertAuditEntry(db, { account_id: accountId, id: newId('aud'), who: email, what, address, outcome })
  } catch (error) {
    // As above: the change stands as it is.
    log.warn({ err: error, ownerId }, 'a change could not be written to the audit log')
  }
}

export async function listAudit(
  { db }: Pick<Deps, 'db'>,
  { accountId, cursor, limit }: z.output<(typeof contract)['input']>,
): Promise<z.output<(typeof contract)['output']>> {
  // One more than asked for tells whether there is a next page.
  const rows = await findAuditEntries(db, accountId, { beforeId: cursor, limit: limit + 1 })
  const items = rows.slice(0, limit).map(toAuditEntry)
  const last = items.at(-1)
  return { items, ...(rows.length > limit && last && { nextCursor: last.id }) }
}

function toAuditEntry({ id, created_at, who, what, address, outcome }: AuditRow): z.output<typeof AuditEntry> {
  return { id, at: created_at.toISOString(), who, what, address, outcome }
}

import { sql, type Kysely } from 'kysely'
import type { z } from 'zod'
import type { listAudit as contract } from '../../contracts/settings/owner.ts'
import type { Database } from '../db/schema.ts'
import type { Deps } from '../deps.ts'

export interface Change {
  accountId: string
  who: string
  what: string
  address: string
}

const keptDays = 365

/**
 * Written before the change, so that one which a dying server leaves behind is seen too, and completed
 * after it.
 */
export async function audited<Result>(
  { db, newId }: Pick<Deps, 'db' | 'newId'>,
  { accountId, ...entry }: Change,
  change: () => Promise<Result>,
): Promise<Result> {
  const row = { account_id: accountId, id: newId('aud') }
  await db
    .insertInto('audit_log')
    .values({ ...row, ...entry })
    .execute()
  const complete = (outcome: 'done' | 'refused') =>
    db
      .updateTable('audit_log')
      .set({ outcome })
      .where('account_id', '=', row.account_id)
      .where('id', '=', row.id)
      .execute()
  try {
    const result = await change()
    await complete('done')
    return result
  } catch (error) {
    await complete('refused').catch(() => undefined)
    throw error
  }
}

export async function listAudit(
  { db }: Pick<Deps, 'db'>,
  { accountId, cursor, limit }: z.output<(typeof contract)['input']>,
): Promise<z.output<(typeof contract)['output']>> {
  const rows = await db
    .selectFrom('audit_log')
    .selectAll()
    .where('account_id', '=', accountId)
    .$if(cursor !== undefined, (query) => query.where('id', '<', cursor ?? ''))
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return {
    items: items.map(({ id, who, what, address, outcome, created_at }) => ({
      id,
      at: created_at.toISOString(),
      who,
      what,
      address,
      outcome,
    })),
    ...(rows.length > limit && last && { nextCursor: last.id }),
  }
}

/** Of all accounts: what is older than a year. */
export async function deleteOldAudit(db: Kysely<Database>): Promise<void> {
  await db
    .deleteFrom('audit_log')
    .where('created_at', '<', sql<Date>`now() - make_interval(days => ${keptDays})`)
    .execute()
}

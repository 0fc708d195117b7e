import { sql, type Insertable, type Kysely, type Selectable } from 'kysely'
import type { AuditLogTable, Database } from '../db/schema.ts'

export type AuditRow = Selectable<AuditLogTable>

export async function insertAuditEntry(db: Kysely<Database>, row: Insertable<AuditLogTable>): Promise<void> {
  await db.insertInto('audit_log').values(row).execute()
}

export async function setOutcome(
  db: Kysely<Database>,
  { accountId, id }: { accountId: string; id: string },
  outcome: 'done' | 'refused',
): Promise<void> {
  await db.updateTable('audit_log').set({ outcome }).where('account_id', '=', accountId).where('id', '=', id).execute()
}

/** The newest first; at most `limit`, beginning behind `beforeId`. */
export function findAuditEntries(
  db: Kysely<Database>,
  accountId: string,
  { beforeId, limit }: { beforeId: string | undefined; limit: number },
): Promise<AuditRow[]> {
  const entries = db.selectFrom('audit_log').selectAll().where('account_id', '=', accountId)
  const page = beforeId === undefined ? entries : entries.where('id', '<', beforeId)
  return page.orderBy('id', 'desc').limit(limit).execute()
}

/** Of all accounts: by the database's clock, since a node whose own is ahead would drop too much. */
export async function deleteOldAuditEntries(db: Kysely<Database>, days: number): Promise<void> {
  await db
    .deleteFrom('audit_log')
    .where('created_at', '<', sql<Date>`now() - make_interval(days => ${days})`)
    .execute()
}

import { type Kysely, sql } from 'kysely'

/**
 * Adds who put a recipient on the suppression list, as in the audit log. Written with entries of users; null: the recipient
 * or WhatsApp decided, or the entry is from before the upgrade. The version before does not read it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table suppressions add column added_by text`.execute(db)
}

import { type Kysely, sql } from 'kysely'

/**
 * Adds the facts behind the sentences of an alert, as JSON text, in which the erasure of a recipient finds numbers. Alerts of
 * the version before have none.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table alerts add column facts text`.execute(db)
}

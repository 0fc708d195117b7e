import { type Kysely, sql } from 'kysely'

/** Adds the minimum number of messages without a status for an alert; null: no alert. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table alert_settings add column no_status_min_messages integer default 10
    check (no_status_min_messages > 0)`.execute(db)
}

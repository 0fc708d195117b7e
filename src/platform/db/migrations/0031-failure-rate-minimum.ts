import { type Kysely, sql } from 'kysely'

/** Adds the minimum number of messages per hour for a failure rate alert. It was 20 for all accounts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table alert_settings add column failure_rate_min_messages integer not null default 20
    check (failure_rate_min_messages > 0)`.execute(db)
}

import { type Kysely, sql } from 'kysely'

/** Adds how many messages of an hour a failure rate needs, which was 20 for all accounts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table alert_settings add column failure_rate_min_messages integer not null default 20
    check (failure_rate_min_messages > 0)`.execute(db)
}

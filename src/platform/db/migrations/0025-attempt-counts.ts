import { type Kysely, sql } from 'kysely'

/**
 * Counts attempts at webhook endpoints by quarter of an hour and outcome, for the dashboard. The statement that records
 * attempts also counts them, so no row of `webhook_attempts` has to be read again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table webhook_attempt_counts (
      account_id text collate "C" not null,
      endpoint_id text collate "C" not null,
      -- Start of the quarter of an hour in which the attempts were recorded.
      slot timestamptz not null,
      -- 0: no answer.
      status_code integer not null,
      -- Empty: success.
      error text collate "C" not null,
      attempts integer not null,
      -- The sum.
      duration_ms bigint not null,
      max_duration_ms integer not null,
      first_at timestamptz not null,
      last_at timestamptz not null,
      primary key (account_id, endpoint_id, slot, status_code, error)
      -- Without a foreign key: a new row would wait for whoever changes the endpoint.
    ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
    `create index webhook_attempt_counts_slot on webhook_attempt_counts (slot)`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

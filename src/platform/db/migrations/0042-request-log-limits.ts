import { type Kysely, sql } from 'kysely'

/**
 * Adds how many requests of an account were logged in the current minute, by all processes. Written with each batch of
 * the request log. Unlogged: counts need not survive a crash.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create unlogged table request_log_limits (
      account_id text collate "C" primary key,
      window_started_at timestamptz not null,
      requests integer not null,
      -- Failures whose bodies were logged.
      bodies integer not null
    ) with (fillfactor = 50)`.execute(db)
}

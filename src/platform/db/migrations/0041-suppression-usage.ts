import { type Kysely, sql } from 'kysely'

/**
 * Adds how many entries the suppression list of an account has, for its quota. Written when users add or remove entries,
 * and counted again at least every hour, because opt-outs of recipients and the version before do not write it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table suppression_usage (
      account_id text collate "C" primary key references accounts on delete cascade,
      entries bigint not null,
      counted_at timestamptz not null
    )`.execute(db)
}

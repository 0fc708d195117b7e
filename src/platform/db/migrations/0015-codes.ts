import { type Kysely, sql } from 'kysely'

/** Adds one-time codes that can be checked, and the uses that count towards their limits. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // Stores only a keyed hash of the code, because a few digits could be found by brute force.
    `create table one_time_codes (
      account_id text collate "C" not null references accounts on delete cascade,
      id text collate "C" not null,
      to_number text collate "C" not null,
      purpose text not null,
      mac bytea not null,
      attempts_left integer not null,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null,
      primary key (account_id, id)
    )`,
    `create index one_time_codes_latest on one_time_codes (account_id, to_number, purpose, created_at)`,
    `create index one_time_codes_expires_at on one_time_codes (expires_at)`,
    `create table one_time_code_limits (
      account_id text collate "C" not null references accounts on delete cascade,
      kind text not null,
      subject bytea not null,
      window_started_at timestamptz not null,
      last_at timestamptz not null,
      used integer not null,
      primary key (account_id, kind, subject)
    )`,
    `create index one_time_code_limits_last_at on one_time_code_limits (last_at)`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

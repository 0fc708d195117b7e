import { type Kysely, sql } from 'kysely'

/**
 * Adds operators of the server, the accounts that they view, suspended accounts, and server processes with their jobs.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table accounts add column suspended_at timestamptz`,
    // better-auth writes the columns of this table in its own spelling.
    `alter table owner_sessions add column "secondFactor" boolean not null default false`,
    `create table operators (
      owner_id text primary key references owners on delete cascade,
      granted_at timestamptz not null default now()
    )`,
    // Ends with the session, with the grant and with the account.
    `create table operator_views (
      session_id text not null references owner_sessions on delete cascade,
      account_id text collate "C" not null references accounts on delete cascade,
      owner_id text not null references operators on delete cascade,
      expires_at timestamptz not null,
      primary key (session_id, account_id)
    )`,
    `create index operator_views_account on operator_views (account_id)`,
    `create index operator_views_owner on operator_views (owner_id)`,
    `create table server_processes (
      id text collate "C" primary key,
      version text not null,
      role text not null,
      host text not null,
      started_at timestamptz not null default now(),
      seen_at timestamptz not null default now(),
      -- Periodic work with its last run, as JSON.
      jobs text not null
    )`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

import { type Kysely, sql } from 'kysely'

/**
 * Adds alerts with their settings and chat posts, the refresh of access tokens, and the key under which suppressions of
 * erased recipients are kept.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // Accounts without a row have the default settings.
    `create table alert_settings (
      account_id text collate "C" primary key references accounts on delete cascade,
      chat_url_encrypted text,
      chat_format text,
      -- Why the last post failed for good; null after a success.
      chat_problem text,
      chat_problem_at timestamptz,
      -- Null: no alert.
      failure_rate_percent integer,
      delivery_lag_seconds integer,
      -- Null: no quiet hours. Otherwise all four columns are set.
      quiet_time_zone text,
      quiet_from text,
      quiet_until text,
      quiet_except_critical boolean,
      -- Null: each alert is sent once.
      repeat_hours integer
    )`,
    `create table alerts (
      account_id text collate "C" not null references accounts on delete cascade,
      id text collate "C" not null,
      code text not null,
      -- ID of what the alert is about.
      subject_id text collate "C" not null,
      severity text not null,
      title text not null,
      body text not null,
      recovery_title text,
      recovery_body text,
      opened_at timestamptz not null,
      sent_at timestamptz,
      -- When it is sent next: after quiet hours, or again.
      due_at timestamptz,
      acknowledged_at timestamptz,
      acknowledged_by text,
      recovered_at timestamptz,
      primary key (account_id, id)
    )`,
    `create unique index alerts_open on alerts (account_id, code, subject_id) where recovered_at is null`,
    `create index alerts_due on alerts (due_at) where due_at is not null`,
    `create table chat_posts (
      id text collate "C" primary key,
      account_id text collate "C" not null references accounts on delete cascade,
      content_encrypted text not null,
      attempts integer not null default 0,
      due_at timestamptz not null default now(),
      expires_at timestamptz not null,
      created_at timestamptz not null default now()
    )`,
    `create index chat_posts_due_at on chat_posts (due_at)`,
    `create index chat_posts_account on chat_posts (account_id)`,
    `alter table whatsapp_account_health
      add column token_refresh_due_at timestamptz,
      add column token_refreshed_at timestamptz,
      add column token_refresh_problem text`,
    // One row. The key is encrypted, so that a dump of the database alone does not lead from a hash to a number.
    `create table recipient_hash_keys (
      id text collate "C" primary key,
      key_encrypted text not null
    )`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

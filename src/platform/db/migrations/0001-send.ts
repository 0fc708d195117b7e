import { type Kysely, sql } from 'kysely'

/**
 * The tables of a send. Growing tables have the account first in their keys, so that the database can be distributed by
 * account, and are partitioned by time (partitions.ts). IDs compare bytewise (`collate "C"`), so their order is the
 * order of time.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table accounts (
      id text collate "C" primary key,
      name text not null,
      api_enabled boolean not null default true,
      rate_limit_per_minute integer not null default 60 check (rate_limit_per_minute > 0),
      allow_list text[] not null default '{}',
      created_at timestamptz not null default now()
    )`,
    `create table api_keys (
      account_id text collate "C" primary key references accounts on delete cascade,
      key_hash bytea not null unique,
      start text not null,
      created_at timestamptz not null default now()
    )`,
    // An unlogged table writes no WAL; rate limit counts need not survive a crash.
    `create unlogged table rate_limits (
      account_id text collate "C" primary key,
      window_started_at timestamptz not null,
      used integer not null
    ) with (fillfactor = 50)`,
    `create table whatsapp_accounts (
      id text collate "C" primary key,
      account_id text collate "C" not null references accounts on delete cascade,
      phone_number_id text not null unique,
      waba_id text not null,
      access_token_encrypted text not null,
      app_secret_encrypted text,
      is_default boolean not null,
      active boolean not null default true,
      inactive_reason text,
      created_at timestamptz not null default now()
    )`,
    `create unique index whatsapp_accounts_default on whatsapp_accounts (account_id) where is_default`,
    `create index whatsapp_accounts_account on whatsapp_accounts (account_id, id)`,
    `create table templates (
      account_id text collate "C" not null references accounts on delete cascade,
      waba_id text not null,
      name text collate "C" not null,
      language text collate "C" not null,
      whatsapp_template_id text not null,
      status text not null,
      category text,
      parameter_format text not null,
      components jsonb not null,
      quality_score text,
      rejected_reason text,
      synced_at timestamptz not null,
      primary key (account_id, waba_id, name, language)
    )`,
    `create table messages (
      account_id text collate "C" not null,
      id text collate "C" not null,
      whatsapp_account_id text collate "C" not null,
      status text not null check (status in ('pending', 'sent', 'delivered', 'read', 'failed')),
      to_number text not null,
      template_name text not null,
      template_language text not null,
      external_id text,
      wa_message_id text,
      created_at timestamptz not null,
      sent_at timestamptz,
      delivered_at timestamptz,
      read_at timestamptz,
      failed_at timestamptz,
      error_code text,
      error_message text,
      primary key (account_id, id)
    ) partition by range (id)`,
    `create index messages_external_id on messages (account_id, external_id, id) where external_id is not null`,
    `create index messages_to_number on messages (account_id, to_number, id)`,
    `create index messages_wa_message_id on messages (account_id, wa_message_id) where wa_message_id is not null`,
    `create table idempotency_keys (
      account_id text collate "C" not null,
      key text collate "C" not null,
      request_hash bytea not null,
      message_id text collate "C" not null,
      created_at timestamptz not null default now(),
      primary key (account_id, key)
    )`,
    `create index idempotency_keys_created_at on idempotency_keys (created_at)`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

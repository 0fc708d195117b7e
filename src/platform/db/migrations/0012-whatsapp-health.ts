import { type Kysely, sql } from 'kysely'

/**
 * Adds facts about the connection of each WhatsApp account. They change with every callback, so they are kept apart from
 * `whatsapp_accounts`, which every send reads.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table whatsapp_account_health (
      whatsapp_account_id text collate "C" primary key references whatsapp_accounts on delete cascade,
      account_id text collate "C" not null,
      app_id text,
      token_checked_at timestamptz,
      token_expires_at timestamptz,
      token_problem text,
      missing_permissions text[] not null default '{}',
      number_checked_at timestamptz,
      number_status text,
      name_status text,
      messaging_limit text,
      health jsonb not null default '[]',
      subscription_checked_at timestamptz,
      subscribed boolean,
      subscription_problem text,
      callback_checked_at timestamptz,
      callback_url text,
      callback_fields text[] not null default '{}',
      callback_problem text,
      last_callback_at timestamptz,
      last_status_at timestamptz,
      next_check_at timestamptz not null default now(),
      -- What was announced last, in the log and by webhook, so that each change is announced once.
      announced_active boolean not null default true,
      announced_findings text[] not null default '{}',
      announced_expiry_days integer
    )`,
    `create index whatsapp_account_health_next_check on whatsapp_account_health (next_check_at)`,
    // An account that WhatsApp or a user had disabled before the upgrade is not announced again.
    `insert into whatsapp_account_health (whatsapp_account_id, account_id, announced_active)
      select id, account_id, active from whatsapp_accounts`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

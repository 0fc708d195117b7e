import { type Kysely, sql } from 'kysely'

/** Adds replies that were reported, and recipients who opted out. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // WhatsApp repeats callbacks. Only a hash is kept: a wamid contains the number of the sender.
    `create table seen_replies (
      account_id text collate "C" not null references accounts on delete cascade,
      hash bytea not null,
      received_at timestamptz not null default now(),
      primary key (account_id, hash)
    )`,
    `create index seen_replies_received_at on seen_replies (received_at)`,
    // A recipient who opted in again keeps a row, so that an older opt-out that arrives late changes nothing.
    `create table suppressions (
      account_id text collate "C" not null references accounts on delete cascade,
      number_key text collate "C" not null,
      id text collate "C" not null,
      to_number text collate "C" not null,
      suppressed boolean not null,
      reason text not null,
      whatsapp_account_id text collate "C",
      since timestamptz not null,
      changed_at timestamptz not null,
      primary key (account_id, number_key)
    )`,
    `create index suppressions_list on suppressions (account_id, id) where suppressed`,
    // Accounts without a row stop MARKETING templates only.
    `create table suppression_settings (
      account_id text collate "C" primary key references accounts on delete cascade,
      categories text[] not null
    )`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

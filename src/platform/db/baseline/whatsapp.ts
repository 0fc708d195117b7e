/** WhatsApp accounts with their health, templates and uploaded files. */
export const whatsAppTables = [
  // A connected phone number. Written by connecting, the settings, the sync, and a send that WhatsApp rejects.
  `create table whatsapp_accounts (
    id text collate "C" primary key,
    account_id text collate "C" not null references accounts on delete cascade,
    phone_number_id text not null unique,
    waba_id text not null,
    access_token_encrypted text not null,
    app_secret_encrypted text,
    is_default boolean not null,
    -- Why WhatsApp rejects the account; null: it does not.
    inactive_reason text,
    created_at timestamptz not null default now(),
    -- As WhatsApp last reported them; null until the first sync.
    quality_rating text,
    throughput_level text,
    next_sync_at timestamptz not null default now(),
    display_phone_number text,
    verified_name text,
    templates_synced_at timestamptz,
    -- Whether a user deactivated the account.
    switched_off boolean not null default false,
    active boolean not null generated always as (not switched_off and inactive_reason is null) stored
  )`,
  `create unique index whatsapp_accounts_default on whatsapp_accounts (account_id) where is_default`,
  `create index whatsapp_accounts_account on whatsapp_accounts (account_id, id)`,
  `create index whatsapp_accounts_next_sync_at on whatsapp_accounts (next_sync_at)`,
  `create index whatsapp_accounts_waba_id on whatsapp_accounts (waba_id)`,

  // Facts about the connection of each number. Written by the health checks, callbacks, measurements of traffic and
  // announcements. Apart from whatsapp_accounts, which every send reads, because the facts change with every callback.
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
    announced_expiry_days integer,
    -- The messages of the last hour, measured every minute.
    traffic jsonb,
    next_traffic_at timestamptz not null default now(),
    announced_quality text,
    token_refresh_due_at timestamptz,
    token_refreshed_at timestamptz,
    token_refresh_problem text,
    -- Null while it is active.
    inactive_since timestamptz,
    -- Codes of the announced findings with their times.
    findings_since jsonb not null default '{}'
  )`,
  `create index whatsapp_account_health_next_check on whatsapp_account_health (next_check_at)`,

  // Templates as WhatsApp lists them. Written by the sync, callbacks and template management.
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
    -- The values that webhooks last reported; null: none. Templates of the first sync are not announced.
    announced_status text,
    announced_category text,
    -- When it was edited while approved, in the last 30 days.
    edited_at timestamptz[] not null default '{}',
    primary key (account_id, waba_id, name, language)
  )`,
  `create index templates_unannounced on templates (account_id)
    where announced_status is distinct from status or announced_category is distinct from category`,

  // Uploaded files; each is stored under the ID of its row. Written by uploads and by the removal of expired files.
  `create table media (
    id text collate "C" primary key,
    account_id text collate "C" not null references accounts on delete cascade,
    sha256 text collate "C" not null,
    type text collate "C" not null,
    size_bytes integer not null,
    filename text,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    -- Null while the file is being stored.
    stored_at timestamptz,
    -- Set until the file is gone from the object store too.
    deleted_at timestamptz
  )`,
  // The same file is stored once, even if it is uploaded several times at once.
  `create unique index media_same on media (account_id, sha256, type, coalesce(filename, ''))
    where stored_at is not null and deleted_at is null`,
  `create index media_expires_at on media (expires_at)`,
  `create index media_unfinished on media (id) where stored_at is null or deleted_at is not null`,

  // How much an account stores. Written by uploads, in one short statement that checks the quota and reserves space, and by
  // the trigger of media.
  `create table media_usage (
    account_id text collate "C" primary key references accounts on delete cascade,
    size_bytes bigint not null
  )`,

  // Files whose row was deleted with its account and that are still in the object store. Written by the trigger of media.
  `create table removed_media (id text collate "C" primary key)`,
  `create function note_removed_media() returns trigger language plpgsql as $$
      begin
        update media_usage set size_bytes = size_bytes - old.size_bytes where account_id = old.account_id;
        -- A row that is deleted by itself goes after its file; one that goes with its account leaves its file behind.
        if not exists (select from accounts where id = old.account_id) then
          insert into removed_media (id) values (old.id) on conflict do nothing;
        end if;
        return null;
      end $$`,
  `create trigger note_removed_media after delete on media for each row execute function note_removed_media()`,

  // The ID that WhatsApp gave to a file for a phone number. Written by sends with media. The same bytes are uploaded to a
  // number once, whatever their file name.
  `create table media_at_whatsapp (
    account_id text collate "C" not null references accounts on delete cascade,
    phone_number_id text collate "C" not null,
    sha256 text collate "C" not null,
    type text collate "C" not null,
    -- Null until WhatsApp has answered.
    wa_media_id text collate "C",
    expires_at timestamptz,
    -- The process that uploads it, and until when others wait.
    claimed_by text collate "C",
    claimed_until timestamptz,
    primary key (account_id, phone_number_id, sha256, type)
  )`,
  `create index media_at_whatsapp_expires_at on media_at_whatsapp (expires_at)`,
]

/**
 * Messages and what belongs to them. Growing tables are partitioned by week (partitions.ts). IDs compare bytewise
 * (`collate "C"`), so their order is the order of time, and so does text that is searched for: language rules cost more,
 * and an update of the operating system may change them under an existing index. Indexes of growing tables start with
 * their selective column, because comparing an account ID that is the same in many rows slows down inserts.
 */
export const messageTables = [
  // Every message. Written by sends (recorded, then settled), statuses, `message resolve` and erasure. A message changes
  // its status three times. These updates touch no index, so that PostgreSQL writes the new row version beside the old
  // one: partitions leave space for it (partitions.ts), and wa_message_ids and overdue_messages serve other lookups.
  `create table messages (
    account_id text collate "C" not null,
    id text collate "C" not null,
    whatsapp_account_id text collate "C" not null,
    status text not null check (status in ('pending', 'sent', 'delivered', 'read', 'failed')),
    to_number text collate "C" not null,
    template_name text not null,
    template_language text not null,
    external_id text collate "C",
    wa_message_id text,
    created_at timestamptz not null,
    sent_at timestamptz,
    delivered_at timestamptz,
    read_at timestamptz,
    failed_at timestamptz,
    error_code text,
    error_message text,
    -- By the clock of the database, because the clock of a node may be wrong.
    recorded_at timestamptz not null default now(),
    -- Such as utility, or utility/free_entry_point if WhatsApp charges nothing; null: no status reported it.
    pricing text collate "C",
    primary key (account_id, id)
  ) partition by range (id)`,
  `create index messages_recorded_at on messages (recorded_at)`,
  `create index messages_to_number on messages (to_number, account_id, id)`,
  `create index messages_external_id on messages (external_id, account_id, id) where external_id is not null`,

  // Contents of messages, for accounts that store them. Written by sends; deleted when they expire and by erasure. Apart
  // from messages, because each update of a message would copy its content.
  `create table message_contents (
    account_id text collate "C" not null,
    message_id text collate "C" not null,
    content_encrypted text not null,
    primary key (account_id, message_id)
  ) partition by range (message_id)`,
  // Ciphertext cannot be compressed.
  `alter table message_contents alter column content_encrypted set storage external`,

  // Finds the message of a status that does not carry our ID. Written when WhatsApp accepts a message. Holds a hash,
  // because a wamid is long and random.
  `create table wa_message_ids (
    hash bigint not null,
    account_id text collate "C" not null,
    message_id text collate "C" not null
  ) partition by range (message_id)`,
  `create table wa_message_ids_rest partition of wa_message_ids default`,
  `create index wa_message_ids_hash on wa_message_ids (hash)`,

  // Messages that were still pending a minute after they were recorded. Written by housekeeping, deleted when they are
  // settled.
  `create table overdue_messages (
    account_id text collate "C" not null,
    id text collate "C" not null,
    -- When the outcome was reported as unknown, so that only one node reports it, once.
    reported_at timestamptz,
    primary key (account_id, id)
  )`,
  // A single row: the time up to which housekeeping has checked messages.
  `create table overdue_progress (
    only_one boolean primary key default true check (only_one),
    looked_until timestamptz not null
  )`,
  `insert into overdue_progress (looked_until) values (now())`,

  // Idempotency keys of sends, with a hash of the request. Written by sends; deleted by housekeeping and erasure.
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

/** Replies, suppressed recipients and one-time codes. */
export const recipientTables = [
  // Replies that were reported already, because WhatsApp repeats callbacks. Written by callbacks. Holds a hash: a wamid
  // contains the number of the sender.
  `create table seen_replies (
    account_id text collate "C" not null references accounts on delete cascade,
    hash bytea not null,
    received_at timestamptz not null default now(),
    primary key (account_id, hash)
  )`,
  `create index seen_replies_received_at on seen_replies (received_at)`,

  // Recipients who opted out, and those who opted in again: they keep a row, so that an older opt-out that arrives late
  // changes nothing. Written by replies, refusals, the API, the dashboard and imports.
  `create table suppressions (
    account_id text collate "C" not null references accounts on delete cascade,
    -- The number in the form in which numbers are compared.
    number_key text collate "C" not null,
    id text collate "C" not null,
    to_number text collate "C" not null,
    suppressed boolean not null,
    reason text not null,
    whatsapp_account_id text collate "C",
    since timestamptz not null,
    changed_at timestamptz not null,
    -- Whether messages of all categories are stopped.
    all_messages boolean not null default false,
    primary key (account_id, number_key)
  )`,
  `create index suppressions_list on suppressions (account_id, id) where suppressed`,
  // Lets a send check in one lookup whether the account has such recipients.
  `create index suppressions_all_messages on suppressions (account_id) where suppressed and all_messages`,

  // Template categories that are not sent to suppressed recipients; an account without a row stops MARKETING only. Written
  // by the settings.
  `create table suppression_settings (
    account_id text collate "C" primary key references accounts on delete cascade,
    categories text[] not null
  )`,

  // One row, written by the first erasure: the encrypted key of the hashes under which suppressions of erased recipients
  // are kept, so that a dump of the database alone does not lead from a hash to a number.
  `create table recipient_hash_keys (
    id text collate "C" primary key,
    key_encrypted text not null
  )`,

  // One-time codes that can be checked. Written by code.send and code.check. Holds a keyed hash, because a few digits could
  // be found by brute force.
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

  // Codes sent to a recipient or requested from an address in the current hour. Written by code.send.
  `create table one_time_code_limits (
    account_id text collate "C" not null references accounts on delete cascade,
    kind text not null,
    -- HMAC of the number or the network.
    subject bytea not null,
    window_started_at timestamptz not null,
    last_at timestamptz not null,
    used integer not null,
    primary key (account_id, kind, subject)
  )`,
  `create index one_time_code_limits_last_at on one_time_code_limits (last_at)`,
]

import { defineMessageCounts } from '../message-counts.ts'

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

/** What messages are counted by, beside the account, the time and the status. */
const outcome = `status text collate "C" not null,
    -- By WhatsApp, whatever came after.
    accepted boolean not null,
    -- Empty: none.
    error_code text collate "C" not null,
    -- From sent to delivered, rounded down to one of the steps in message-counts.ts; -1: not known.
    delivery_seconds integer not null`

/** Empty in counts of versions that did not distinguish them. */
const breakdown = `whatsapp_account_id text collate "C" not null default '',
    template_name text collate "C" not null default '',
    -- ISO 3166, of the recipient's calling code; empty: not known, or erased.
    country text collate "C" not null default ''`

const pricing = `-- Of delivered messages.
    pricing text collate "C" not null default ''`

const quarter = `account_id text collate "C" not null,
    -- The quarter of an hour of created_at; of messages before message_counts_start, their UTC day.
    start timestamptz not null,
    ${outcome},
    ${breakdown},
    count integer not null,
    ${pricing}`

const key = `status, accepted, error_code, delivery_seconds, whatsapp_account_id, template_name, country, pricing`

/**
 * Counts of messages for the dashboard, and WhatsApp's rates. The trigger of `messages` adds one row for each state that a
 * statement changes; rows are only added, so that transactions never wait for each other. Housekeeping folds recent ones
 * into quarters of an hour and older ones into days. Pending messages are not counted: inserts need no trigger, and moving
 * or dropping partitions changes no count. An `update` has to name `messages`, not one of its partitions.
 */
export const countTables = [
  // Counts of days that are no longer in message_count_buckets. Written by housekeeping.
  `create table message_counts (
    account_id text collate "C" not null,
    -- Of created_at, in UTC.
    day date not null,
    ${outcome},
    count integer not null,
    ${breakdown},
    ${pricing},
    primary key (account_id, day, ${key})
  ) with (fillfactor = 80)`,
  `create index message_counts_day on message_counts (day)`,

  // Counts of recent quarters of an hour. Written by housekeeping.
  `create table message_count_buckets (
    ${quarter},
    primary key (account_id, start, ${key})
  ) with (fillfactor = 80)`,
  `create index message_count_buckets_start on message_count_buckets (start)`,

  // Changes since the counts were last folded; a count can be negative. Written by the trigger of messages.
  `create table message_count_deltas (${quarter})`,
  `create index message_count_deltas_account on message_count_deltas (account_id, start)`,

  // A single row, written here and by migrations of earlier versions: messages recorded before have no template, number
  // and country in their counts.
  `create table message_counts_start (at timestamptz not null)`,
  `insert into message_counts_start values ('-infinity')`,

  // The templates that are counted by name, at most 500 of an account; others are counted without a name. Written by
  // housekeeping.
  `create table message_count_templates (
    account_id text collate "C" not null,
    template_name text collate "C" not null,
    primary key (account_id, template_name)
  )`,

  defineMessageCounts('-infinity'),
  `create trigger messages_counts after update on messages
    referencing old table as before new table as after
    for each statement execute function note_message_counts()`,

  // The days from which WhatsApp's rates hold. Written by `rates import`. All cards have the same currency.
  `create table rate_cards (
    valid_from date primary key,
    currency text collate "C" not null,
    imported_at timestamptz not null default now()
  )`,

  // What WhatsApp charges for a message of a category to a country. Written by `rates import`.
  `create table rates (
    valid_from date not null references rate_cards on delete cascade,
    -- ISO 3166; '*': all countries without a rate of their own.
    country text collate "C" not null,
    category text collate "C" not null,
    market text not null,
    -- Millionths of the currency.
    micros bigint not null check (micros >= 0),
    primary key (valid_from, country, category)
  )`,
]

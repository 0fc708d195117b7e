import { defineMessageCounts } from '../message-counts.ts'

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

/** Accounts, their API keys and what these keys are used for. */
export const accountTables = [
  // A customer with its limits and settings. Written by the command line, the console and the dashboard's settings.
  `create table accounts (
    id text collate "C" primary key,
    name text not null,
    api_enabled boolean not null default true,
    rate_limit_per_minute integer not null default 60 check (rate_limit_per_minute > 0),
    -- Addresses and CIDR ranges in canonical form; empty: every address may call.
    allow_list text[] not null default '{}',
    created_at timestamptz not null default now(),
    -- Whether the API key may change templates.
    template_changes_enabled boolean not null default false,
    -- IANA time zone of the days in the overview.
    time_zone text not null default 'UTC',
    -- Null: not suspended by an operator.
    suspended_at timestamptz,
    -- Null: contents are not stored. Contents of messages before contents_since belong to an earlier choice.
    contents_kept_days integer check (contents_kept_days > 0),
    contents_since timestamptz
  )`,

  // The SHA-256 hash of the one API key of an account. Written when a key is generated, regenerated or revoked.
  `create table api_keys (
    account_id text collate "C" primary key references accounts on delete cascade,
    key_hash bytea not null unique,
    -- The first characters, by which its owner recognizes the key.
    start text not null,
    created_at timestamptz not null default now()
  )`,

  // Requests of the current minute. Written by every metered request. Unlogged: counts need not survive a crash.
  `create unlogged table rate_limits (
    account_id text collate "C" primary key,
    window_started_at timestamptz not null,
    used integer not null
  ) with (fillfactor = 50)`,

  // The log of API requests, written in batches after the responses. Partitioned by week (partitions.ts).
  `create table api_requests (
    account_id text collate "C" not null,
    -- The request ID, which contains the time.
    id text collate "C" not null,
    method text not null,
    path text not null,
    status integer not null,
    error_code text,
    duration_ms integer not null,
    key_start text not null,
    address text not null,
    -- Separated by +, because an array costs more.
    message_ids text,
    -- Only for failures, like the request and the answer: a message has its own.
    external_id text collate "C",
    request text,
    answer text,
    primary key (account_id, id)
  ) partition by range (id)`,
  // Partial indexes: they cost nothing for requests that succeed or have no external ID.
  `create index api_requests_failed on api_requests (account_id, id) where error_code is not null`,
  `create index api_requests_external_id on api_requests (external_id, account_id) where external_id is not null`,

  // Times of erasures, written by them: requests that arrived before and are not yet logged may hold an erased number.
  `create table api_request_cutoffs (at timestamptz not null)`,
]

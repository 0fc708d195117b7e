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

/** Dashboard users, sign-in, roles and operators. better-auth determines the columns of its tables (in camelCase). */
export const userTables = [
  // A dashboard user. Written by better-auth, invitations and the command line.
  `create table owners (
    id text primary key,
    name text not null,
    email text not null unique,
    "emailVerified" boolean not null,
    image text,
    "twoFactorEnabled" boolean not null default false,
    "createdAt" timestamptz not null default now(),
    "updatedAt" timestamptz not null default now()
  )`,

  // Signed-in browsers. Written by better-auth; the last use is recorded every few minutes.
  `create table owner_sessions (
    id text primary key,
    token text not null unique,
    "userId" text not null references owners on delete cascade,
    "expiresAt" timestamptz not null,
    "ipAddress" text,
    "userAgent" text,
    "createdAt" timestamptz not null default now(),
    "updatedAt" timestamptz not null default now(),
    "lastSeenAt" timestamptz,
    "lastSeenAddress" text,
    -- Whether it was started with a code of an authenticator app, or a backup code.
    "secondFactor" boolean not null default false
  )`,
  `create index owner_sessions_user on owner_sessions ("userId")`,

  // A password (hashed) or the identity at an OpenID Connect provider. Written by better-auth.
  `create table owner_credentials (
    id text primary key,
    "accountId" text not null,
    "providerId" text not null,
    "userId" text not null references owners on delete cascade,
    "accessToken" text,
    "refreshToken" text,
    "idToken" text,
    "accessTokenExpiresAt" timestamptz,
    "refreshTokenExpiresAt" timestamptz,
    scope text,
    password text,
    "createdAt" timestamptz not null default now(),
    "updatedAt" timestamptz not null default now(),
    unique ("providerId", "accountId")
  )`,
  `create index owner_credentials_user on owner_credentials ("userId")`,

  // Links in emails, whose identifiers are hashed, and pending sign-ins. Written by better-auth.
  `create table owner_verifications (
    id text primary key,
    identifier text not null,
    value text not null,
    "expiresAt" timestamptz not null,
    "createdAt" timestamptz not null default now(),
    "updatedAt" timestamptz not null default now()
  )`,
  `create index owner_verifications_identifier on owner_verifications (identifier)`,

  // The shared secret of an authenticator app and its backup codes, both encrypted. Written by better-auth.
  `create table owner_two_factors (
    id text primary key,
    secret text not null,
    "backupCodes" text not null,
    "userId" text not null references owners on delete cascade,
    verified boolean not null default true
  )`,
  `create index owner_two_factors_user on owner_two_factors ("userId")`,

  // Sign-in attempts by address. Written by better-auth, which requires a number: pg returns a bigint as text.
  `create table owner_sign_in_rates (
    id text primary key,
    key text not null unique,
    count integer not null,
    "lastRequest" double precision not null
  )`,

  // Failed passwords and codes per user, from any address. Written by sign-in. The key is a SHA-256 hash.
  `create table owner_tries (
    key bytea primary key,
    count integer not null,
    ends_at timestamptz not null
  )`,

  // A single row, written once: the secret with which better-auth signs and encrypts, itself encrypted.
  `create table owner_auth_secret (
    only_one boolean primary key default true check (only_one),
    secret_encrypted text not null
  )`,

  // The roles of users in accounts. Written by invitations, the team page and the command line.
  `create table owner_roles (
    account_id text collate "C" not null references accounts on delete cascade,
    owner_id text not null references owners on delete cascade,
    role text not null check (role in ('owner', 'viewer')),
    created_at timestamptz not null default now(),
    -- Whether the user receives the alerts of the account by email.
    alert_emails boolean not null default true,
    primary key (account_id, owner_id)
  )`,
  `create index owner_roles_owner on owner_roles (owner_id)`,

  // Invitations that were not accepted yet. Written by the team page and the command line. The link holds the token.
  `create table owner_invitations (
    token_hash bytea primary key,
    account_id text collate "C" not null references accounts on delete cascade,
    email text not null,
    role text not null check (role in ('owner', 'viewer')),
    sets_password boolean not null default false,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    -- Null: sent by an operator.
    invited_by text,
    -- False if an owner of the account has seen the link, so that its use does not prove the address.
    proves_email boolean not null default true,
    unique (account_id, email)
  )`,

  // Users who may use the console. Written by the command line only.
  `create table operators (
    owner_id text primary key references owners on delete cascade,
    granted_at timestamptz not null default now()
  )`,

  // The accounts that an operator views, for a limited time. Written by the console; ends with the session, the grant and
  // the account.
  `create table operator_views (
    session_id text not null references owner_sessions on delete cascade,
    account_id text collate "C" not null references accounts on delete cascade,
    owner_id text not null references operators on delete cascade,
    expires_at timestamptz not null,
    primary key (session_id, account_id)
  )`,
  `create index operator_views_account on operator_views (account_id)`,
  `create index operator_views_owner on operator_views (owner_id)`,

  // Saved views of the message log. Written by the dashboard; they end with the membership.
  `create table saved_views (
    account_id text collate "C" not null,
    owner_id text not null,
    name text collate "C" not null,
    -- JSON, as the contract describes it.
    filters text not null,
    created_at timestamptz not null default now(),
    primary key (account_id, owner_id, name),
    foreign key (account_id, owner_id) references owner_roles on delete cascade
  )`,
]

/** The audit log: a hash chain per account. */
export const auditTables = [
  // Entries of versions without a chain. Nothing writes it; its rows move to audit_entries when the log is first used. Its
  // constraints keep the names that they have in databases of these versions.
  `create table audit_log_unchained (
    account_id text collate "C" constraint audit_log_account_id_not_null not null,
    id text collate "C" constraint audit_log_id_not_null not null,
    who text constraint audit_log_who_not_null not null,
    what text constraint audit_log_what_not_null not null,
    address text constraint audit_log_address_not_null not null,
    outcome text default 'started' constraint audit_log_outcome_not_null not null,
    created_at timestamptz default now() constraint audit_log_created_at_not_null not null,
    constraint audit_log_pkey primary key (account_id, id),
    constraint audit_log_account_id_fkey foreign key (account_id) references accounts on delete cascade,
    constraint audit_log_outcome_check check (outcome in ('started', 'done', 'refused'))
  )`,
  `create index audit_log_created_at on audit_log_unchained (created_at)`,

  // Keys that authenticate the chains, encrypted, so that entries stay valid after WAYBILL_SECRET_KEY changes. Written when
  // the log is first used.
  `create table audit_keys (
    id text collate "C" primary key,
    key_encrypted text not null,
    created_at timestamptz not null default now()
  )`,

  // The head of each chain, locked and updated by every entry. No foreign key: a log outlives its account, and appending
  // must not wait for a lock on the account.
  `create table audit_chains (
    account_id text collate "C" primary key,
    sequence integer not null,
    hash bytea not null,
    -- The last entry that expired: the first remaining entry follows it.
    expired_sequence integer not null,
    expired_hash bytea not null,
    key_id text collate "C" not null,
    mac bytea not null
  )`,

  // The start of an audited action, its outcome, or both in one entry. Written by every audited action, deleted on expiry.
  `create table audit_entries (
    account_id text collate "C" not null,
    sequence integer not null,
    -- Of an entry that holds the outcome of an action: the entry of its start.
    start_sequence integer,
    id text collate "C" not null,
    outcome text collate "C" not null check (outcome in ('started', 'done', 'refused')),
    who text not null,
    what text not null,
    address text not null,
    -- As precise as what is hashed.
    created_at timestamptz(3) not null,
    key_id text collate "C" not null,
    hash bytea not null,
    mac bytea not null,
    primary key (account_id, sequence)
  )`,
  `create index audit_entries_outcome on audit_entries (account_id, start_sequence) where start_sequence is not null`,
  `create index audit_entries_created_at on audit_entries (created_at)`,
]

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

import { type Kysely, sql } from 'kysely'

/**
 * Adds users, sign-in and the audit log. The first seven tables belong to better-auth, which determines their columns.
 * Their names differ from its defaults, because `account` means something else here.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
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
    `create table owner_sessions (
      id text primary key,
      token text not null unique,
      "userId" text not null references owners on delete cascade,
      "expiresAt" timestamptz not null,
      "ipAddress" text,
      "userAgent" text,
      "createdAt" timestamptz not null default now(),
      "updatedAt" timestamptz not null default now()
    )`,
    `create index owner_sessions_user on owner_sessions ("userId")`,
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
      "updatedAt" timestamptz not null default now()
    )`,
    `create index owner_credentials_user on owner_credentials ("userId")`,
    `create table owner_verifications (
      id text primary key,
      identifier text not null,
      value text not null,
      "expiresAt" timestamptz not null,
      "createdAt" timestamptz not null default now(),
      "updatedAt" timestamptz not null default now()
    )`,
    `create index owner_verifications_identifier on owner_verifications (identifier)`,
    // The shared secret of an authenticator app and its backup codes, both encrypted by better-auth.
    `create table owner_two_factors (
      id text primary key,
      secret text not null,
      "backupCodes" text not null,
      "userId" text not null references owners on delete cascade,
      verified boolean not null default true
    )`,
    `create index owner_two_factors_user on owner_two_factors ("userId")`,
    // A double, because `pg` returns a bigint as text and better-auth requires a number.
    `create table owner_sign_in_rates (
      id text primary key,
      key text not null unique,
      count integer not null,
      "lastRequest" double precision not null
    )`,
    `create table owner_roles (
      account_id text collate "C" not null references accounts on delete cascade,
      owner_id text not null references owners on delete cascade,
      role text not null check (role in ('owner', 'viewer')),
      created_at timestamptz not null default now(),
      primary key (account_id, owner_id)
    )`,
    `create index owner_roles_owner on owner_roles (owner_id)`,
    // A single row: the secret that better-auth signs and encrypts with, itself encrypted.
    `create table owner_auth_secret (
      only_one boolean primary key default true check (only_one),
      secret_encrypted text not null
    )`,
    // The link holds the token; the database stores only its SHA-256 hash.
    `create table owner_invitations (
      token_hash bytea primary key,
      account_id text collate "C" not null references accounts on delete cascade,
      email text not null,
      role text not null check (role in ('owner', 'viewer')),
      sets_password boolean not null default false,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null
    )`,
    `create table audit_log (
      account_id text collate "C" not null references accounts on delete cascade,
      id text collate "C" not null,
      who text not null,
      what text not null,
      address text not null,
      outcome text not null default 'started' check (outcome in ('started', 'done', 'refused')),
      created_at timestamptz not null default now(),
      primary key (account_id, id)
    )`,
    `create index audit_log_created_at on audit_log (created_at)`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

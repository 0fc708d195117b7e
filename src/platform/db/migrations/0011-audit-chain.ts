import { type Kysely, sql } from 'kysely'

/**
 * The audit log as a hash chain per account. Entries of before wait in `audit_log_unchained` until the first use
 * of the chain, since a migration does not have the secret key. A process of the version before finds no
 * `audit_log` and so refuses the change that it cannot record.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    'alter table audit_log rename to audit_log_unchained',
    // What authenticates the chains. Kept encrypted, so that a new WAYBILL_SECRET_KEY leaves the entries valid.
    `create table audit_keys (
      id text collate "C" primary key,
      key_encrypted text not null,
      created_at timestamptz not null default now()
    )`,
    // No reference to accounts: the log of an account must not vanish with its row, and an entry waits for no lock of it.
    `create table audit_chains (
      account_id text collate "C" primary key,
      sequence integer not null,
      hash bytea not null,
      -- The last entry that expired: the first one that is kept follows it.
      expired_sequence integer not null,
      expired_hash bytea not null,
      key_id text collate "C" not null,
      mac bytea not null
    )`,
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
      -- No more precise than what is hashed.
      created_at timestamptz(3) not null,
      key_id text collate "C" not null,
      hash bytea not null,
      mac bytea not null,
      primary key (account_id, sequence)
    )`,
    `create index audit_entries_outcome on audit_entries (account_id, start_sequence) where start_sequence is not null`,
    `create index audit_entries_created_at on audit_entries (created_at)`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

import { type Kysely, sql } from 'kysely'

/**
 * Turns the audit log into a hash chain per account. Older entries stay in `audit_log_unchained` until the chain is
 * first used, because a migration has no access to the secret key. A process of an earlier version finds no `audit_log`
 * and therefore rejects changes that it cannot record.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    'alter table audit_log rename to audit_log_unchained',
    // Keys that authenticate the chains. They are stored encrypted, so that entries stay valid after WAYBILL_SECRET_KEY
    // changes.
    `create table audit_keys (
      id text collate "C" primary key,
      key_encrypted text not null,
      created_at timestamptz not null default now()
    )`,
    // No foreign key to accounts: an account's log must survive its row, and appending must not wait for a lock on it.
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

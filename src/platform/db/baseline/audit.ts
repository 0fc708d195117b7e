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

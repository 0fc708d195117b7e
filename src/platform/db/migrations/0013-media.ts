import { type Kysely, sql } from 'kysely'

/** Adds uploaded files and their media IDs at WhatsApp. A file is stored under its row's ID, so rows never share one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table media (
      id text collate "C" primary key,
      account_id text collate "C" not null references accounts on delete cascade,
      sha256 text collate "C" not null,
      type text collate "C" not null,
      size_bytes integer not null,
      filename text,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      -- Null while the file is being stored.
      stored_at timestamptz,
      -- Set until the file is gone from the object store too.
      deleted_at timestamptz
    )`,
    // The same file is stored once, even if it is uploaded several times at once.
    `create unique index media_same on media (account_id, sha256, type, coalesce(filename, ''))
      where stored_at is not null and deleted_at is null`,
    // How much an account stores, in one row, so that one short statement checks the quota and reserves space.
    `create table media_usage (
      account_id text collate "C" primary key references accounts on delete cascade,
      size_bytes bigint not null
    )`,
    `create index media_expires_at on media (expires_at)`,
    `create index media_unfinished on media (id) where stored_at is null or deleted_at is not null`,
    // Files whose row was deleted with its account. They are still in the object store.
    `create table removed_media (id text collate "C" primary key)`,
    `create function note_removed_media() returns trigger language plpgsql as $$
      begin
        update media_usage set size_bytes = size_bytes - old.size_bytes where account_id = old.account_id;
        -- A row that is deleted by itself goes after its file; one that goes with its account leaves its file behind.
        if not exists (select from accounts where id = old.account_id) then
          insert into removed_media (id) values (old.id) on conflict do nothing;
        end if;
        return null;
      end $$`,
    `create trigger note_removed_media after delete on media for each row execute function note_removed_media()`,
    // The same bytes are uploaded to a number once, whatever their file name.
    `create table media_at_whatsapp (
      account_id text collate "C" not null references accounts on delete cascade,
      phone_number_id text collate "C" not null,
      sha256 text collate "C" not null,
      type text collate "C" not null,
      -- Null until WhatsApp has answered.
      wa_media_id text collate "C",
      expires_at timestamptz,
      -- Who uploads it now, and until when others wait.
      claimed_by text collate "C",
      claimed_until timestamptz,
      primary key (account_id, phone_number_id, sha256, type)
    )`,
    `create index media_at_whatsapp_expires_at on media_at_whatsapp (expires_at)`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

import { type Kysely, sql } from 'kysely'

/** Uploaded files, and what WhatsApp calls them. A file is stored under its own ID, so that no two rows share one. */
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
    `create index media_account on media (account_id, sha256)`,
    `create index media_expires_at on media (expires_at)`,
    `create index media_unfinished on media (id) where stored_at is null or deleted_at is not null`,
    // Files whose row was deleted with its account. They are still in the object store.
    `create table removed_media (id text collate "C" primary key)`,
    `create function remember_removed_media() returns trigger language plpgsql as $$
      begin
        insert into removed_media (id) values (old.id) on conflict do nothing;
        return null;
      end $$`,
    `create trigger remember_removed_media after delete on media for each row
      when (old.deleted_at is null) execute function remember_removed_media()`,
    // The same bytes are uploaded to a number once, whatever they are called here.
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

import { type Kysely, sql } from 'kysely'

/** Adds the contents of sent messages, for accounts that choose to store them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // Null: contents are not stored. Contents of messages before `contents_since` belong to an earlier choice.
    `alter table accounts add column contents_kept_days integer check (contents_kept_days > 0),
      add column contents_since timestamptz`,
    // A separate table, because each update of a message would copy its content, and so that it can be dropped earlier.
    `create table message_contents (
      account_id text collate "C" not null,
      message_id text collate "C" not null,
      content_encrypted text not null,
      primary key (account_id, message_id)
    ) partition by range (message_id)`,
    // Ciphertext cannot be compressed.
    `alter table message_contents alter column content_encrypted set storage external`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

import { type Kysely, sql } from 'kysely'

/** What the dashboard needed beyond 0003: rules that the database keeps, tries by person, and what a number is called. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // A person had two passwords after two links for a new one: the later one is theirs.
    `delete from owner_credentials older using owner_credentials newer
      where older."providerId" = newer."providerId" and older."accountId" = newer."accountId"
        and (older."updatedAt", older.id) < (newer."updatedAt", newer.id)`,
    `alter table owner_credentials add unique ("providerId", "accountId")`,
    // What an organisation's provider gave us is of no use to us, and lay there in plain text.
    `update owner_credentials set "accessToken" = null, "refreshToken" = null, "idToken" = null, scope = null`,
    // A newer link ends the one before.
    `delete from owner_invitations older using owner_invitations newer
      where older.account_id = newer.account_id and older.email = newer.email
        and (older.created_at, older.token_hash) < (newer.created_at, newer.token_hash)`,
    `alter table owner_invitations add unique (account_id, email)`,
    // Passwords and codes that were tried for one person, from wherever; the key is a SHA-256.
    `create table owner_tries (
      key bytea primary key,
      count integer not null,
      ends_at timestamptz not null
    )`,
    // As WhatsApp reported them last: what people know a number by.
    `alter table whatsapp_accounts
      add column display_phone_number text,
      add column verified_name text,
      add column templates_synced_at timestamptz`,
    `update whatsapp_accounts set templates_synced_at = (
      select max(synced_at) from templates
      where templates.account_id = whatsapp_accounts.account_id and templates.waba_id = whatsapp_accounts.waba_id
    )`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

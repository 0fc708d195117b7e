import { type Kysely, sql } from 'kysely'

/** Adds constraints, sign-in throttling by user, and display names of numbers for the dashboard. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    // A user who used two reset links had two passwords; keep the later one.
    `delete from owner_credentials older using owner_credentials newer
      where older."providerId" = newer."providerId" and older."accountId" = newer."accountId"
        and (older."updatedAt", older.id) < (newer."updatedAt", newer.id)`,
    `alter table owner_credentials add unique ("providerId", "accountId")`,
    // Tokens of an OpenID provider are not needed and were stored in plain text.
    `update owner_credentials set "accessToken" = null, "refreshToken" = null, "idToken" = null, scope = null`,
    // A newer invitation replaces the one before.
    `delete from owner_invitations older using owner_invitations newer
      where older.account_id = newer.account_id and older.email = newer.email
        and (older.created_at, older.token_hash) < (newer.created_at, newer.token_hash)`,
    `alter table owner_invitations add unique (account_id, email)`,
    // Failed passwords and codes per user, from any address. The key is a SHA-256 hash.
    `create table owner_tries (
      key bytea primary key,
      count integer not null,
      ends_at timestamptz not null
    )`,
    // The name and number as WhatsApp last reported them, which users recognize.
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

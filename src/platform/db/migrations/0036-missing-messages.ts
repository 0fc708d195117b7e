import { type Kysely, sql } from 'kysely'

/**
 * Counts the statuses of messages that the database does not have. Written when such a status arrives; null: none has
 * arrived since the upgrade.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table whatsapp_account_health
      add column missing_statuses bigint,
      add column missing_since timestamptz,
      add column missing_at timestamptz,
      -- When the first and the last of these messages were sent, from their IDs.
      add column missing_sent_from timestamptz,
      add column missing_sent_until timestamptz`.execute(db)
}

import { type Kysely, sql } from 'kysely'

/**
 * Adds the callback URL of a number or its WABA, which replaces that of the app for messages. Written by checks; null: there
 * is none, or no check since the upgrade. The version before does not read it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table whatsapp_account_health add column callback_override text`.execute(db)
}

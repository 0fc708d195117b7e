import { type Kysely, sql } from 'kysely'

/**
 * Adds whether a number is also used in the WhatsApp Business app. Written by checks; null: not known. The version before
 * does not read it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table whatsapp_account_health add column on_business_app boolean`.execute(db)
}

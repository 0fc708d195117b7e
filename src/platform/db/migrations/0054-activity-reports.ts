import { type Kysely, sql } from 'kysely'

/**
 * Adds when WhatsApp last disabled or reinstated the WABA of a WhatsApp account, by the time of its callback. Null: never
 * since the upgrade, or reported to the version before, which does not write it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table whatsapp_accounts add column activity_reported_at timestamptz`.execute(db)
}

import { type Kysely, sql } from 'kysely'

/**
 * Adds the facts behind the sentences of two problems, as JSON text. The version before writes and reads the sentences alone.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table whatsapp_account_health
      add column subscription_advice text,
      add column callback_advice text`.execute(db)
}

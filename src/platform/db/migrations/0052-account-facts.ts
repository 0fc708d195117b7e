import { type Kysely, sql } from 'kysely'

/**
 * Adds the facts behind why a WhatsApp account is inactive, and behind two problems of its token, as JSON text. The version
 * before writes and reads the sentences alone.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table whatsapp_accounts add column inactive_fact text`.execute(db)
  await sql`
    alter table whatsapp_account_health
      add column token_problem_fact text,
      add column token_refresh_problem_fact text`.execute(db)
}

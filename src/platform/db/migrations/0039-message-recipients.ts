import { type Kysely, sql } from 'kysely'

/**
 * Adds how WhatsApp names the recipient of a message. Written by statuses and by WhatsApp's response to a send; null: not
 * known, or the number is spelled as in `to_number`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table messages add column wa_id text collate "C", add column user_id text collate "C"`.execute(db)
}

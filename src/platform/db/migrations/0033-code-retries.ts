import { type Kysely, sql } from 'kysely'

/**
 * Lets a retry of `code.send` find the code that is on its way. Written by `code.send`; null: sent by a version that
 * could not find it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table one_time_codes
      -- The message that carries the code.
      add column message_id text collate "C",
      -- HMAC of the request, by which a retry is recognized.
      add column request_hash bytea`.execute(db)
}

import { type Kysely, sql } from 'kysely'

/** Records when the outcome of a message was reported as unknown, so that only one node reports it, once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(`alter table overdue_messages add column reported_at timestamptz`).execute(db)
}

import { type Kysely, sql } from 'kysely'

/** When it was reported that the outcome of a message stays unknown, so that it is reported once, whichever node does. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(`alter table overdue_messages add column reported_at timestamptz`).execute(db)
}

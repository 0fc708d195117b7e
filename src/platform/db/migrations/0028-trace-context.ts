import { type Kysely, sql } from 'kysely'

/** Lets the deliveries of an event continue the trace that caused it, whichever process delivers it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table events add column traceparent text collate "C"').execute(db)
}

import { type Kysely, sql } from 'kysely'

/** Stores the trace that caused an event, so that its deliveries continue the trace in any process. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table events add column traceparent text collate "C"').execute(db)
}

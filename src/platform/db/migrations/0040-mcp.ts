import { type Kysely, sql } from 'kysely'

/** Whether `/mcp` serves an account. Written by the dashboard and the command line; false: never switched on. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table accounts add column mcp_enabled boolean not null default false`.execute(db)
}

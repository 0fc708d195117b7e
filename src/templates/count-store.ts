import { type Kysely, sql } from 'kysely'
import type { Database } from '../platform/db/schema.ts'

/** Reads all accounts, for the operator's gauges. */
export async function countTemplates(db: Kysely<Database>): Promise<{ status: string; count: number }[]> {
  const { rows } = await sql<{ status: string; count: number }>`
    select status, count(*)::integer as count from templates group by status order by status`.execute(db)
  return rows
}

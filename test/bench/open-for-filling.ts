import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Database } from '../../src/platform/db/schema.ts'
import type { Customer } from './customer.ts'

/** Opens the database without Waybill's statement timeout, for slow inserts. */
export function openForFilling({ environment }: Customer): Kysely<Database> {
  const pool = new pg.Pool({ connectionString: environment['DATABASE_URL'], max: 2 })
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
}

import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Database } from '../../src/platform/db/schema.ts'
import type { Customer } from './customer.ts'

/** His database without the time limit of our own connections: filling it takes as long as it takes. */
export function openForFilling({ environment }: Customer): Kysely<Database> {
  const pool = new pg.Pool({ connectionString: environment['DATABASE_URL'], max: 2 })
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
}

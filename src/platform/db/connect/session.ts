import { type Kysely, sql } from 'kysely'
import { findEmbeddedDatabase } from '../database.ts'
import type { Database } from '../schema.ts'

/** The database has a setting that Waybill cannot change for its sessions. */
export class DatabaseSettingError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'DatabaseSettingError'
  }
}

/** Throws a DatabaseSettingError if the database cannot store all text, or accepts no tables or no changes. */
export async function rejectUnusableSettings(db: Kysely<Database>): Promise<void> {
  if (findEmbeddedDatabase(db)) return
  const { rows } = await sql<{ encoding: string; schema: string | null; isReadOnly: boolean }>`
    select current_setting('server_encoding') as encoding, current_schema() as schema,
      current_setting('default_transaction_read_only') = 'on' as "isReadOnly"`.execute(db)
  const [found] = rows
  const problem = found && findProblem(found)
  if (problem !== undefined) throw new DatabaseSettingError(problem)
}

function findProblem({
  encoding,
  schema,
  isReadOnly,
}: {
  encoding: string
  schema: string | null
  isReadOnly: boolean
}) {
  if (encoding !== 'UTF8')
    return `The database has the encoding ${encoding}, which cannot store all text. Waybill needs UTF8: create another database with create database waybill template template0 encoding 'UTF8', and set DATABASE_URL to it.`
  if (schema === null)
    return 'The search_path of the database user names no schema that exists. Create the schema, or set the search_path with: alter role … set search_path = public.'
  if (isReadOnly)
    return 'The setting default_transaction_read_only is on for the database or its user. Waybill needs to write: set it to off with alter role or alter database, or end the maintenance that turned it on.'
  return undefined
}

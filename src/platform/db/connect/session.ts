import { randomUUID } from 'node:crypto'
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
  const { rows } = await sql<FoundSettings>`
    select current_setting('server_encoding') as encoding, current_schema() as schema,
      current_setting('default_transaction_read_only') = 'on' as "isReadOnly",
      current_setting('session_replication_role') = 'replica' as "isReplica"`.execute(db)
  const [found] = rows
  const problem = found && findProblem(found)
  if (problem !== undefined) throw new DatabaseSettingError(problem)
}

interface FoundSettings {
  encoding: string
  schema: string | null
  isReadOnly: boolean
  isReplica: boolean
}

function findProblem({ encoding, schema, isReadOnly, isReplica }: FoundSettings): string | undefined {
  if (encoding !== 'UTF8')
    return `The database has the encoding ${encoding}, which cannot store all text. Waybill needs UTF8: create another database with create database waybill template template0 encoding 'UTF8', and set DATABASE_URL to it.`
  if (schema === null)
    return 'The search_path of the database user names no schema that exists. Create the schema, or set the search_path with: alter role … set search_path = public.'
  if (isReadOnly)
    return 'The setting default_transaction_read_only is on for the database or its user. Waybill needs to write: set it to off with alter role or alter database, or end the maintenance that turned it on.'
  // Only a superuser could change it for a session.
  if (isReplica)
    return 'The setting session_replication_role is replica for the database or its user, which turns off foreign keys and triggers. Remove it with: alter role … reset session_replication_role, or alter database … reset session_replication_role.'
  return undefined
}

/** Throws a DatabaseSettingError if the user may not create tables: since version 15, only the owner of the database may. */
export async function rejectMissingPrivilege(db: Kysely<Database>): Promise<void> {
  const { rows } = await sql<{ schema: string; grant: string; mayCreate: boolean }>`
    select current_schema() as schema, has_schema_privilege(current_schema(), 'create') as "mayCreate",
      format('grant create on schema %I to %I', current_schema(), current_user) as grant`.execute(db)
  const [found] = rows
  if (found && !found.mayCreate)
    throw new DatabaseSettingError(
      `The database user may not create tables in the schema ${found.schema}. Run as its owner or a superuser: ${found.grant}.`,
    )
}

/** DATABASE_URL points to a connection pooler that does not give each connection a session of its own. */
export class PoolerError extends Error {
  constructor() {
    super(
      'DATABASE_URL points to a connection pooler that shares sessions or drops connection options, such as PgBouncer in transaction mode. Waybill has a pool of its own and relies on prepared statements, advisory locks, timeouts and notifications of its sessions: connect to PostgreSQL directly.',
    )
    this.name = 'PoolerError'
  }
}

/**
 * Throws a PoolerError unless each connection is a session of its own. Through PgBouncer in transaction mode, sends would
 * fail with "prepared statement does not exist", while single statements such as a readiness check work.
 *
 * Detects it by a session setting, which only its own session can see. A pooler gives the session that was used last to
 * the next client, or another session to the same client.
 */
export async function rejectPooler(db: Kysely<Database>): Promise<void> {
  if (findEmbeddedDatabase(db)) return
  try {
    await db.connection().execute(async (first) => {
      const token = randomUUID()
      await sql`select set_config('waybill.session', ${token}, false)`.execute(first)
      const seenBySecond = await db.connection().execute(readSession)
      const seenByFirst = await readSession(first)
      if (seenBySecond.token === token || seenByFirst.token !== token || !seenByFirst.hasTimeout)
        throw new PoolerError()
    })
  } catch (error) {
    throw isOptionRejected(error) ? new PoolerError() : error
  }
}

async function readSession(db: Kysely<Database>): Promise<{ token: string | null; hasTimeout: boolean }> {
  const { rows } = await sql<{ token: string | null; hasTimeout: boolean }>`
    select current_setting('waybill.session', true) as token,
      current_setting('statement_timeout') <> '0' as "hasTimeout"`.execute(db)
  return rows[0] ?? { token: null, hasTimeout: false }
}

/** PgBouncer closes connections with options that it does not know, such as our timeouts. */
function isOptionRejected(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('unsupported startup parameter')
}

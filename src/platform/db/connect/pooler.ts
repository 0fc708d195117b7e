import { randomUUID } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { findEmbeddedDatabase } from '../database.ts'
import type { Database } from '../schema.ts'

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

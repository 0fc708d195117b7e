import type { PGlite } from '@electric-sql/pglite'
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { DatabaseConfig } from '../config.ts'
import type { Logger } from '../log.ts'
import { EmbeddedDatabase } from './embedded.ts'
import { SharedPool } from './pool.ts'
import type { Database } from './schema.ts'
import { nameOf } from './statement.ts'

/** A caller waits this long for a connection before the answer is SERVICE_UNAVAILABLE. */
const connectTimeoutMilliseconds = 2_000
/** No statement of ours takes a second. The server ends one that takes this long, so that nothing of it happens later. */
const statementTimeoutMilliseconds = 8_000
/** Longer than the server's own: whoever waits until then waits for a server that is gone. */
const readTimeoutMilliseconds = 10_000
/**
 * A statement that waits this long for a lock gives up, so that a locked row or table cannot hold the
 * connections of everybody. Migrations wait as long as they need, and partitions set their own time.
 */
const lockTimeoutMilliseconds = 1_000
/** Of the 16 connections of a process, one is kept for `isReady`, whatever the others wait for. */
const poolSize = 15
const readinessTimeoutMilliseconds = 2_000

/** Opens PostgreSQL or, in a folder of ours, PGlite: the same SQL runs on both. */
export function openDatabase(config: DatabaseConfig, log: Logger): Kysely<Database> {
  return config.kind === 'postgres' ? openPostgres(config.url, log) : openPGlite(`${config.dataDir}/pgdata`)
}

function openPostgres(url: string, log: Logger): Kysely<Database> {
  const pool = openPool(log, {
    Client: PreparedClient,
    connectionString: url,
    max: poolSize,
    statement_timeout: statementTimeoutMilliseconds,
    lock_timeout: lockTimeoutMilliseconds,
    query_timeout: readTimeoutMilliseconds,
  })
  const reserve = openPool(log, { connectionString: url, max: 1, query_timeout: readinessTimeoutMilliseconds })
  const close = async () => void (await Promise.all([pool.end(), reserve.end()]))
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: new SharedPool(pool, close) }) })
  readinessChecks.set(db, () => reserve.query('select 1'))
  return db
}

function openPool(log: Logger, options: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({
    ...options,
    connectionTimeoutMillis: connectTimeoutMilliseconds,
    keepAlive: true,
    application_name: 'waybill',
  })
  // An idle connection that dies is replaced by the pool; without a listener it would end the process.
  pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection was lost'))
  // One that dies at work fails its query, which is heard of there; it too would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

const readinessChecks = new WeakMap<Kysely<Database>, () => Promise<unknown>>()
const checksUnderWay = new WeakMap<Kysely<Database>, Promise<boolean>>()

/** Whether the database answers, however many statements wait. Checks at the same time share one statement. */
export function isReady(db: Kysely<Database>): Promise<boolean> {
  const underWay = checksUnderWay.get(db)
  if (underWay) return underWay
  const check = readinessChecks.get(db) ?? (() => db.executeQuery(CompiledQuery.raw('select 1')))
  const checking = check()
    .then(
      () => true,
      () => false,
    )
    .finally(() => checksUnderWay.delete(db))
  checksUnderWay.set(db, checking)
  return checking
}

/** An answered statement has been flushed to disk, as on PostgreSQL (`durable-files.ts`). */
export function openPGlite(pglite: string | PGlite): Kysely<Database> {
  const embedded = new EmbeddedDatabase(pglite)
  const db = new Kysely<Database>({ dialect: embedded.dialect })
  embeddedDatabases.set(db, embedded)
  readinessChecks.set(db, () => embedded.check(readinessTimeoutMilliseconds))
  return db
}

const embeddedDatabases = new WeakMap<Kysely<Database>, EmbeddedDatabase>()

/** Undefined on PostgreSQL. */
export function findEmbeddedDatabase(db: Kysely<Database>): EmbeddedDatabase | undefined {
  return embeddedDatabases.get(db)
}

/** Runs statements that may take as long as they need, such as migrations, on one connection. */
export async function withoutTimeout<Result>(
  connection: Kysely<Database>,
  run: () => Promise<Result>,
): Promise<Result> {
  await connection.executeQuery(CompiledQuery.raw(disableStatementTimeout))
  try {
    return await run()
  } finally {
    await connection.executeQuery(CompiledQuery.raw(resetStatementTimeout))
  }
}

/** After the first of these, statements of this connection take the time that they need; after the second, no longer. */
export const disableStatementTimeout = `select set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false)`
export const resetStatementTimeout = `select set_config(name, reset_val, false) from pg_settings where name in ('statement_timeout', 'lock_timeout')`

/** The longest that a timer of Node's runs, 24 days: `pg` has no "never" for one query. */
const longestTimeoutMilliseconds = 2 ** 31 - 1

/** A connection that prepares the statements of `statement.ts` under their names (`pg`: `QueryConfig.name`). */
export class PreparedClient extends pg.Client {
  #takesTime = false

  // One signature for all overloads of `pg`: whatever is no statement of ours passes as it came.
  // oxlint-disable-next-line typescript/no-explicit-any
  override query(...args: any[]): any {
    const [text, values, ...callback] = args
    const query = super.query as (...args: unknown[]) => unknown
    if (typeof text !== 'string') return query.apply(this, args)
    if (text === disableStatementTimeout) this.#takesTime = true
    if (text === resetStatementTimeout) this.#takesTime = false
    const name = nameOf(text)
    if (name !== undefined && !this.#takesTime && callback.length === 0) return this.#queryNamed(name, text, values)
    if (name === undefined && !this.#takesTime) return this.#endWhenUnanswered(query.apply(this, args))
    const config = {
      text,
      ...(name !== undefined && { name }),
      ...(this.#takesTime && { query_timeout: longestTimeoutMilliseconds }),
    }
    if (typeof values === 'function') return query.call(this, config, values)
    return this.#endWhenUnanswered(query.call(this, { ...config, values }, ...callback))
  }

  /** Without a `QueryConfig`, which `pg` would copy property by property: that takes 15 µs. */
  #queryNamed(name: string, text: string, values: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const query = new pg.Query(text, values)
      const callback = (error: Error | null | undefined, result: unknown) => {
        if (!error) return resolve(result)
        if (isReadTimeout(error)) void this.end()
        reject(error)
      }
      super.query(Object.assign(query, { name, callback }))
    })
  }

  /**
   * A statement whose answer did not come in time is still at work for all we know: the connection ends
   * before its pool can give it to somebody else, who would wait behind that statement.
   */
  #endWhenUnanswered(result: unknown): unknown {
    if (!(result instanceof Promise)) return result
    return result.catch((error: unknown) => {
      if (isReadTimeout(error)) void this.end()
      throw error
    })
  }
}

function isReadTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout'
}

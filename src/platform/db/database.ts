import type { PGlite } from '@electric-sql/pglite'
import { CompiledQuery, type Dialect, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { DatabaseConfig, PostgresConfig } from '../config.ts'
import type { Logger } from '../log.ts'
import type { Tracing } from '../telemetry/tracing.ts'
import { setMaxWait } from './batched.ts'
import { connectionOptions } from './connect/connection.ts'
import { SharedPool } from './connect/pool.ts'
import { disableStatementTimeout, PreparedClient, resetStatementTimeout } from './connect/prepared-client.ts'
import { EmbeddedDatabase } from './embedded/embedded.ts'
import type { Database } from './schema.ts'
import { runDirectly } from './statement.ts'
import { setTracing, traceDialect } from './traced.ts'

const defaultMaxWaitSeconds = 2
/**
 * Waybill's statements take less than a second. The server cancels one that takes this long, so that it has no later
 * effect.
 */
const defaultStatementTimeoutSeconds = 8
/** Added to the server's timeout: if there is no response by then, the server is gone. */
const readTimeoutMarginSeconds = 2
/**
 * Maximum wait of a statement for a lock, so that a locked row or table cannot occupy all connections. Migrations and
 * partitions set their own timeouts.
 */
const defaultLockTimeoutSeconds = 1
/** Besides these, a process has a connection for `isReady`, however many statements wait, and one for notifications. */
const poolSize = 15
const readinessTimeoutMilliseconds = 2_000

/** Opens PostgreSQL, or PGlite in a local folder. Both run the same SQL. */
export function openDatabase(config: DatabaseConfig, log: Logger, tracing?: Tracing): Kysely<Database> {
  return config.kind === 'postgres'
    ? openPostgres(config, log, tracing)
    : openPGlite(`${config.dataDir}/pgdata`, { tracing })
}

function openPostgres(config: PostgresConfig, log: Logger, tracing: Tracing | undefined): Kysely<Database> {
  const {
    statementTimeoutSeconds = defaultStatementTimeoutSeconds,
    lockTimeoutSeconds = defaultLockTimeoutSeconds,
    maxWaitSeconds = defaultMaxWaitSeconds,
  } = config
  const maxWaitMilliseconds = maxWaitSeconds * 1000
  const connection = connectionOptions(config)
  const pool = openPool(log, {
    ...connection,
    Client: PreparedClient,
    max: poolSize,
    connectionTimeoutMillis: maxWaitMilliseconds,
    statement_timeout: statementTimeoutSeconds * 1000,
    lock_timeout: lockTimeoutSeconds * 1000,
    query_timeout: (statementTimeoutSeconds + readTimeoutMarginSeconds) * 1000,
  })
  const reserve = openPool(log, {
    ...connection,
    max: 1,
    connectionTimeoutMillis: maxWaitMilliseconds,
    query_timeout: maxWaitMilliseconds,
  })
  const close = async () => void (await Promise.all([pool.end(), reserve.end()]))
  const shared = new SharedPool(pool, close, connection.passwords, maxWaitMilliseconds)
  const db = openDialect(new PostgresDialect({ pool: shared }), tracing)
  // Kysely's connections record the spans.
  if (!tracing)
    runDirectly(db, { run: (text, values) => shared.run(text, values), transact: (work) => shared.transact(work) })
  setMaxWait(db, maxWaitMilliseconds)
  readinessChecks.set(db, () => reserve.query('select 1'))
  return db
}

function openDialect(dialect: Dialect, tracing: Tracing | undefined): Kysely<Database> {
  if (!tracing) return new Kysely<Database>({ dialect })
  const db = new Kysely<Database>({ dialect: traceDialect(dialect, tracing) })
  setTracing(db, tracing)
  return db
}

function openPool(log: Logger, options: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({
    ...options,
    keepAlive: true,
    application_name: 'waybill',
  })
  // The pool replaces idle connections that fail. Without a listener, the error would end the process.
  pool.on('error', (error) => log.warn({ err: error }, 'lost an idle database connection'))
  return pool
}

const readinessChecks = new WeakMap<Kysely<Database>, () => Promise<unknown>>()
const pendingChecks = new WeakMap<Kysely<Database>, Promise<boolean>>()

/** Returns whether the database responds, even if many statements wait. Concurrent checks share one statement. */
export function isReady(db: Kysely<Database>): Promise<boolean> {
  const pending = pendingChecks.get(db)
  if (pending) return pending
  const check = readinessChecks.get(db) ?? (() => db.executeQuery(CompiledQuery.raw('select 1')))
  const result = check()
    .then(
      () => true,
      () => false,
    )
    .finally(() => pendingChecks.delete(db))
  pendingChecks.set(db, result)
  return result
}

/**
 * Opens PGlite. A statement returns after its changes have been flushed to disk, as on PostgreSQL (`durable-files.ts`).
 */
export function openPGlite(
  pglite: string | PGlite,
  { tracing, maxWaitSeconds }: { tracing?: Tracing | undefined; maxWaitSeconds?: number } = {},
): Kysely<Database> {
  const embedded = new EmbeddedDatabase(pglite, maxWaitSeconds)
  const db = openDialect(embedded.dialect, tracing)
  if (maxWaitSeconds !== undefined) setMaxWait(db, maxWaitSeconds * 1000)
  embeddedDatabases.set(db, embedded)
  readinessChecks.set(db, () => embedded.check(readinessTimeoutMilliseconds))
  return db
}

const embeddedDatabases = new WeakMap<Kysely<Database>, EmbeddedDatabase>()

/** Returns undefined on PostgreSQL. */
export function findEmbeddedDatabase(db: Kysely<Database>): EmbeddedDatabase | undefined {
  return embeddedDatabases.get(db)
}

/** Runs statements without a timeout, such as migrations, on one connection. */
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

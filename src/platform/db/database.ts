import type { Socket } from 'node:net'
import type { PGlite } from '@electric-sql/pglite'
import { CompiledQuery, type Dialect, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { DatabaseConfig, PostgresConfig } from '../config.ts'
import type { Logger } from '../log.ts'
import type { Tracing } from '../telemetry/tracing.ts'
import { AuthenticatedClient, connectionOptions } from './connect/connection.ts'
import { SharedPool } from './connect/pool.ts'
import { EmbeddedDatabase } from './embedded/embedded.ts'
import type { Database } from './schema.ts'
import { nameOf, runDirectly } from './statement.ts'
import { setTracing, traceDialect } from './traced.ts'

const defaultConnectTimeoutSeconds = 2
/**
 * Waybill's statements take less than a second. The server cancels one that takes this long, so that it has no later
 * effect.
 */
const defaultStatementTimeoutSeconds = 8
/** Added to the server's timeout: if there is no response by then, the server is gone. */
const readTimeoutMarginSeconds = 2
/**
 * Maximum wait of a statement for a lock, so that a locked row or table cannot occupy all connections. Migrations wait
 * as long as they need, and partitions set their own timeout.
 */
const defaultLockTimeoutSeconds = 1
/** A process uses at most 16 connections. One of them is reserved for `isReady`, however many statements wait. */
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
    connectTimeoutSeconds = defaultConnectTimeoutSeconds,
  } = config
  const connection = connectionOptions(config)
  const pool = openPool(log, {
    ...connection,
    Client: PreparedClient,
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutSeconds * 1000,
    statement_timeout: statementTimeoutSeconds * 1000,
    lock_timeout: lockTimeoutSeconds * 1000,
    query_timeout: (statementTimeoutSeconds + readTimeoutMarginSeconds) * 1000,
  })
  const reserve = openPool(log, {
    ...connection,
    max: 1,
    connectionTimeoutMillis: defaultConnectTimeoutSeconds * 1000,
    query_timeout: readinessTimeoutMilliseconds,
  })
  const close = async () => void (await Promise.all([pool.end(), reserve.end()]))
  const shared = new SharedPool(pool, close, connection.passwords)
  const db = openDialect(new PostgresDialect({ pool: shared }), tracing)
  // Kysely's connections record the spans.
  if (!tracing) runDirectly(db, (text, values) => shared.run(text, values))
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
  // A connection that fails during a query rejects that query. Without a listener, the error would also end the
  // process.
  pool.on('connect', (client) => client.on('error', () => {}))
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

/** The first statement disables the timeouts of a connection; the second one restores them. */
export const disableStatementTimeout = `select set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false)`
export const resetStatementTimeout = `select set_config(name, reset_val, false) from pg_settings where name in ('statement_timeout', 'lock_timeout')`

/** A connection that prepares the statements of `statement.ts` by name (`pg`: `QueryConfig.name`). */
export class PreparedClient extends AuthenticatedClient {
  readonly #readTimeout: ReadTimeout
  readonly #columns: PreparedColumns = new Map()

  constructor({ query_timeout: milliseconds = 0, ...options }: pg.ClientConfig = {}) {
    super(options)
    this.#readTimeout = new ReadTimeout(milliseconds, (error) => streamOf(this).destroy(error))
  }

  // One signature for all overloads of `pg`: other queries are passed on unchanged.
  // oxlint-disable-next-line typescript/no-explicit-any
  override query(...args: any[]): any {
    const [text, values, callback = values] = args as [unknown, unknown, unknown]
    if (typeof text !== 'string') return (super.query as (...others: unknown[]) => unknown).apply(this, args)
    if (text === disableStatementTimeout) this.#readTimeout.isDisabled = true
    if (text === resetStatementTimeout) this.#readTimeout.isDisabled = false
    const parameters = Array.isArray(values) ? values : undefined
    if (typeof callback === 'function') return this.#run(text, parameters, callback as Callback)
    return new Promise((resolve, reject) =>
      this.#run(text, parameters, (error, result) => {
        if (error) reject(error)
        else resolve(result)
      }),
    )
  }

  /** Creates the query itself, because `pg` copies the properties of a `QueryConfig`, which takes 15 µs. */
  #run(text: string, values: unknown[] | undefined, callback: Callback): void {
    const name = nameOf(text)
    const query =
      name === undefined ? new PreparingQuery(text, values) : new NamedQuery(this.#columns, { name, text, values })
    // A function that is assigned to a property as it is created keeps what it refers to until a full collection.
    const ended: Callback = (error, result) => {
      this.#readTimeout.end(query)
      callback(error, result)
    }
    query.callback = ended
    this.#readTimeout.begin(query)
    super.query(query)
  }
}

function streamOf(client: pg.Client): Socket {
  // `pg` does not declare it.
  return (client as unknown as { connection: { stream: Socket } }).connection.stream
}

/**
 * Ends a connection whose server does not respond, because the next user of the connection would wait behind the
 * statement that may still be running. One timer serves all statements. `pg` has one for each, whose function is assigned to
 * the query: V8 creates such functions in the old space, where they keep the results until a full collection.
 */
class ReadTimeout {
  isDisabled = false
  readonly #milliseconds: number
  readonly #onTimeout: (error: Error) => void
  readonly #running = new Set<object>()
  /** When the first running statement was sent, or came to its turn. */
  #since = 0
  #timer: NodeJS.Timeout | undefined

  /** Zero `milliseconds` are no limit. */
  constructor(milliseconds: number, onTimeout: (error: Error) => void) {
    this.#milliseconds = milliseconds
    this.#onTimeout = onTimeout
  }

  begin(statement: object): void {
    if (this.#running.size === 0) this.#since = performance.now()
    this.#running.add(statement)
    if (this.#timer === undefined && this.#milliseconds > 0 && !this.isDisabled)
      this.#timer = this.#startTimer(this.#milliseconds)
  }

  /** Can be called again for a statement that has ended: `pg` reports some failures twice. */
  end(statement: object): void {
    if (this.#running.delete(statement)) this.#since = performance.now()
  }

  #startTimer(milliseconds: number): NodeJS.Timeout {
    return setTimeout(this.#check, milliseconds).unref()
  }

  readonly #check = (): void => {
    this.#timer = undefined
    if (this.#running.size === 0 || this.isDisabled) return
    const remaining = this.#since + this.#milliseconds - performance.now()
    if (remaining > 0) this.#timer = this.#startTimer(remaining)
    else this.#onTimeout(new Error('Query read timeout'))
  }
}

type Callback = (error: Error | null | undefined, result: unknown) => void

/** What `pg` derives from the description of the columns. */
interface Columns {
  fields: pg.FieldDef[]
  _parsers: unknown
  _prebuiltEmptyResultObject: unknown
}

/** The parts of `pg.Query` that its types do not declare. */
interface PreparingQuery extends pg.Query {
  callback: Callback
  readonly _result: Columns
  _accumulateRows: boolean
  prepare(connection: pg.Connection): void
  handleCommandComplete(message: unknown, connection: pg.Connection): void
}

const PreparingQuery = pg.Query as unknown as new (text: string, values: unknown[] | undefined) => PreparingQuery

/** The columns of the statements that a connection has prepared, by name. */
type PreparedColumns = Map<string, Columns>

/** Connections that ask for no description. */
const undescribed = new WeakMap<pg.Connection, pg.Connection>()

/**
 * Runs a prepared statement. PostgreSQL never changes the columns of one, so `pg` asks for their description only at its
 * first execution on a connection: reading it takes more memory than all other parts of a small result.
 */
class NamedQuery extends PreparingQuery {
  declare readonly name: string
  readonly #columns: PreparedColumns

  constructor(columns: PreparedColumns, statement: { name: string; text: string; values: unknown[] | undefined }) {
    super(statement.text, statement.values)
    this.#columns = columns
    this.name = statement.name
  }

  override prepare(connection: pg.Connection): void {
    const columns = this.#columns.get(this.name)
    if (!columns) return super.prepare(connection)
    Object.assign(this._result, columns)
    this._accumulateRows = true
    super.prepare(withoutDescribe(connection))
  }

  override handleCommandComplete(message: unknown, connection: pg.Connection): void {
    if (!this.#columns.has(this.name)) {
      const { fields, _parsers, _prebuiltEmptyResultObject } = this._result
      this.#columns.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject })
    }
    super.handleCommandComplete(message, connection)
  }
}

function withoutDescribe(connection: pg.Connection): pg.Connection {
  const known = undescribed.get(connection)
  if (known) return known
  const created = Object.create(connection, { describe: { value: () => {} } }) as pg.Connection
  undescribed.set(connection, created)
  return created
}

import pg from 'pg'
import { isConnectionUseless } from '../errors.ts'
import { nameOf } from '../statement.ts'
import { AuthenticatedClient, streamOf } from './connection.ts'

/** The first statement disables the timeouts of a connection; the second one restores them. */
export const disableStatementTimeout = `select set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false)`
export const resetStatementTimeout = `select set_config(name, reset_val, false) from pg_settings where name in ('statement_timeout', 'lock_timeout')`

/** A connection that prepares the statements of `statement.ts` by name (`pg`: `QueryConfig.name`). */
export class PreparedClient extends AuthenticatedClient {
  readonly #readTimeout: ReadTimeout
  readonly #columns: PreparedColumns = new Map()
  /** Whether the connection is lost, or will be. */
  isLost = false

  constructor({ query_timeout: milliseconds = 0, ...options }: pg.ClientConfig = {}) {
    super(options)
    this.#readTimeout = new ReadTimeout(milliseconds, (error) => streamOf(this).destroy(error))
    this.on('error', () => (this.isLost = true))
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
      if (error && isConnectionUseless(error)) this.isLost = true
      callback(error, result)
    }
    query.callback = ended
    this.#readTimeout.begin(query)
    super.query(query)
  }
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

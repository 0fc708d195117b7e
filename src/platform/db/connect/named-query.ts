import pg from 'pg'

type Callback = (error: Error | null | undefined, result: unknown) => void

/** What `pg` derives from the description of the columns. */
interface Columns {
  fields: pg.FieldDef[]
  _parsers: unknown
  _prebuiltEmptyResultObject: unknown
}

/** The parts of `pg.Query` that its types do not declare. */
interface PreparingQuery extends pg.Query {
  readonly _result: Columns
  _accumulateRows: boolean
  prepare(connection: pg.Connection): void
  handleCommandComplete(message: unknown, connection: pg.Connection): void
}

const PreparingQuery = pg.Query as unknown as new (text: string, values: unknown[]) => PreparingQuery

/** The columns of the statements that a connection has prepared, by name. */
export type PreparedColumns = Map<string, Columns>

/** Connections that ask for no description. */
const undescribed = new WeakMap<pg.Connection, pg.Connection>()

/**
 * Runs a prepared statement. PostgreSQL never changes the columns of one, so `pg` asks for their description only at its
 * first execution on a connection: reading it takes more memory than all other parts of a small result.
 */
export class NamedQuery extends PreparingQuery {
  declare readonly name: string
  declare readonly callback: Callback
  readonly #columns: PreparedColumns

  constructor(
    columns: PreparedColumns,
    statement: { name: string; text: string; values: unknown[] },
    callback: Callback,
  ) {
    super(statement.text, statement.values)
    this.#columns = columns
    this.name = statement.name
    this.callback = callback
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

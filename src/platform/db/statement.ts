import { CompiledQuery, type Kysely } from 'kysely'
import type { Database } from './schema.ts'

/** A statement with its parameters by name, so that no two of them can be swapped. */
export type Statement<Params extends object, Row> = (db: Kysely<Database>, params: Params) => Promise<Row[]>

/** How the text of a statement names its parameters: `${$.accountId}` becomes `$1`, `$2`, …, the same each time. */
export type Placeholders<Params extends object> = { readonly [Name in keyof Params]-?: string }

/**
 * Defines a statement of the hot path. Its text is built once, and PostgreSQL plans it once per connection, under its
 * name: planning an unnamed statement takes two to three times as long as executing it.
 */
export function statement<Params extends object, Row = object>(
  name: string,
  write: ($: Placeholders<Params>) => string,
): Statement<Params, Row> {
  const { text, valuesOf } = compile(write)
  // PostgreSQL shows the comment to operators (pg_stat_activity, its log).
  const commented = `/* ${name} */ ${text}`
  names.set(commented, name)
  return run(commented, valuesOf)
}

const names = new Map<string, string>()

/** Returns the name under which a connection prepares this text; undefined if it belongs to no `statement`. */
export function nameOf(text: string): string | undefined {
  return names.get(text)
}

/**
 * Defines a statement that scans many rows of a growing table, so PostgreSQL plans it for its values each time. A cached
 * plan that was made for a small table would still read the whole table after it has grown.
 */
export function unnamedStatement<Params extends object, Row = object>(
  write: ($: Placeholders<Params>) => string,
): Statement<Params, Row> {
  const { text, valuesOf } = compile(write)
  return run(text, valuesOf)
}

interface Compiled<Params> {
  text: string
  /** Returns the values in the order of their numbers in the text; missing parameters are null. */
  valuesOf: (params: Params) => unknown[]
}

/** Each parameter gets the next number when the text first names it. */
function compile<Params extends object>(write: ($: Placeholders<Params>) => string): Compiled<Params> {
  const order: (keyof Params)[] = []
  // A proxy, because the names exist only as types. Only keys of `Params` are read from it.
  const placeholders = new Proxy({} as Placeholders<Params>, {
    get: (_, name) => {
      const key = name as keyof Params
      if (!order.includes(key)) order.push(key)
      return `$${order.indexOf(key) + 1}`
    },
  })
  const text = write(placeholders)
  return { text, valuesOf: (params) => order.map((key) => toValue(params[key])) }
}

/** `pg` would format a time in the local time zone, which allocates 600 bytes. */
function toValue(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : (value ?? null)
}

function run<Params extends object, Row>(text: string, valuesOf: Compiled<Params>['valuesOf']): Statement<Params, Row> {
  return (db, params) => {
    const direct = runners.get(db)
    if (direct) return direct.run(text, valuesOf(params)) as Promise<Row[]>
    return db.executeQuery<Row>(CompiledQuery.raw(text, valuesOf(params))).then(rowsOf)
  }
}

export function rowsOf<Row>({ rows }: { rows: Row[] }): Row[] {
  return rows
}

type Work<Result> = (trx: Kysely<Database>) => Promise<Result>

/** How a database runs statements and transactions without Kysely's executor, which allocates 17 KB for each. */
export interface DirectRunner {
  /** Runs a statement and returns its rows. */
  run: (text: string, values: unknown[]) => Promise<unknown[]>
  /** Undefined within a transaction. */
  transact?: <Result>(work: Work<Result>) => Promise<Result>
}

const runners = new WeakMap<Kysely<Database>, DirectRunner>()

export function runDirectly(db: Kysely<Database>, runner: DirectRunner): void {
  runners.set(db, runner)
}

/** Runs a transaction, within the one that is running if there is one. */
export function inTransaction<Result>(db: Kysely<Database>, work: Work<Result>): Promise<Result> {
  if (db.isTransaction) return work(db)
  return runners.get(db)?.transact?.(work) ?? db.transaction().execute(work)
}

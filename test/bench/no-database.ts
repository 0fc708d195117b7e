import {
  type CompiledQuery,
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import type { Database } from '../../src/platform/db/schema.ts'
import { nameOf } from '../../src/platform/db/statement.ts'

/** The rows that PostgreSQL would return for these parameters. */
export type Answer = (parameters: readonly unknown[]) => object[]

/** A database stub that returns fixed rows for each named statement, and no rows for any other. */
export function openNoDatabase(responses: Readonly<Record<string, Answer>>): Kysely<Database> {
  const response = ({ sql, parameters }: CompiledQuery) => responses[nameOf(sql) ?? '']?.(parameters) ?? []
  const connection: DatabaseConnection = {
    // Kysely leaves the row type to each dialect.
    executeQuery: async <R>(query: CompiledQuery) => ({ rows: response(query) as R[] }),
    streamQuery: () => {
      throw new Error('streaming is not supported')
    },
  }
  return new Kysely<Database>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createDriver: () => Object.assign(new DummyDriver(), { acquireConnection: () => Promise.resolve(connection) }),
    },
  })
}

/** For a batched statement: the same row for each item, under its index. */
export function each(row: object): Answer {
  return ([questions]) => listOf(questions).map((_, index) => ({ ...row, n: index + 1 }))
}

/** A parameter that holds a value for each item. */
export function listOf(parameter: unknown): unknown[] {
  if (typeof parameter === 'string') return parameter.slice(1, -1).split(',')
  if (!Array.isArray(parameter)) throw new Error('expected a list parameter: the statement has changed')
  return parameter
}

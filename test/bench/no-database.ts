import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  type CompiledQuery,
  type DatabaseConnection,
  type QueryCompiler,
} from 'kysely'
import type { Database } from '../../src/db/schema.ts'

/**
 * A database that is not there: a statement that holds one of the given texts gets those rows, any
 * other gets none. Not even the SQL is put together, since that is a cost of the database too.
 */
export function openNoDatabase(answers: Record<string, object[]>): Kysely<Database> {
  const known = Object.entries(answers)
  const answer = ({ sql }: CompiledQuery) => known.find(([text]) => sql.includes(text))?.[1] ?? []
  const connection: DatabaseConnection = {
    // Kysely's types leave to each dialect what its rows are.
    executeQuery: async <R>(query: CompiledQuery) => ({ rows: answer(query) as R[] }),
    streamQuery: () => {
      throw new Error('nothing is streamed here')
    },
  }
  return new Kysely<Database>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => firstFragment,
      createDriver: () => Object.assign(new DummyDriver(), { acquireConnection: () => Promise.resolve(connection) }),
    },
  })
}

const firstFragment: QueryCompiler = {
  compileQuery: (query, queryId) => ({
    query,
    queryId,
    sql: query.kind === 'RawNode' ? query.sqlFragments.join('?') : query.kind,
    parameters: [],
  }),
}

import type { Kysely } from 'kysely'

/** A database that adds each of its statements to `statements`, as the JSON of its query. */
export function recordStatements<Tables>(db: Kysely<Tables>): { db: Kysely<Tables>; statements: string[] } {
  const statements: string[] = []
  const recorder = db.withPlugin({
    transformQuery: ({ node }) => {
      statements.push(JSON.stringify(node))
      return node
    },
    transformResult: ({ result }) => Promise.resolve(result),
  })
  return { db: recorder, statements }
}

import pg from 'pg'
import { nameOf } from './statement.ts'

/** A connection that prepares the statements of `statement.ts` under their names (`pg`: `QueryConfig.name`). */
export class PreparedClient extends pg.Client {
  // One signature for all overloads of `pg`: whatever is no statement of ours passes as it came.
  // oxlint-disable-next-line typescript/no-explicit-any
  override query(...args: any[]): any {
    const [text, values, ...callback] = args
    const name = typeof text === 'string' ? nameOf(text) : undefined
    const query = super.query as (...args: unknown[]) => unknown
    return name === undefined ? query.apply(this, args) : query.call(this, { name, text, values }, ...callback)
  }
}

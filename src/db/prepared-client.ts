import pg from 'pg'
import { nameOf } from './statement.ts'

/** After the first of these, statements of this connection take the time that they need; after the second, no longer. */
export const takeTime = `select set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false)`
export const hurry = `select set_config(name, reset_val, false) from pg_settings where name in ('statement_timeout', 'lock_timeout')`

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
    if (text === takeTime) this.#takesTime = true
    if (text === hurry) this.#takesTime = false
    const name = nameOf(text)
    if (name === undefined && !this.#takesTime) return this.#endWhenUnanswered(query.apply(this, args))
    const config = {
      text,
      ...(name !== undefined && { name }),
      ...(this.#takesTime && { query_timeout: longestTimeoutMilliseconds }),
    }
    if (typeof values === 'function') return query.call(this, config, values)
    return this.#endWhenUnanswered(query.call(this, { ...config, values }, ...callback))
  }

  /**
   * A statement whose answer did not come in time is still at work for all we know: the connection ends
   * before its pool can give it to somebody else, who would wait behind that statement.
   */
  #endWhenUnanswered(result: unknown): unknown {
    if (!(result instanceof Promise)) return result
    return result.catch((error: unknown) => {
      if (error instanceof Error && error.message === 'Query read timeout') void this.end()
      throw error
    })
  }
}

import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type pg from 'pg'
import { NotStartedError } from '../batch.ts'
import { nameOf } from './statement.ts'
import { isLockTimeout } from './unavailable.ts'

/** Beyond that, more calls of one statement at once gain nothing: two cores serve them no faster. */
const maxConnectionsOfStatement = 4
/** After a lock stayed taken: the next ones likely wait for the same table. */
const maxConnectionsWhileBlocked = 1
const maxConnectionsOfTransactions = 8
const maxWaitMilliseconds = 2_000

interface Use {
  connections: number
  isBlocked: boolean
  waiting: { start: () => void }[]
}

/**
 * A pool in which no statement takes the connections of all others: each may hold a few, and a single one
 * while it waits for a locked table. A connection is taken when the first statement is known, so that calls
 * that wait for their turn hold none.
 */
export class SharedPool implements PostgresPool {
  readonly #pool: pg.Pool
  readonly #close: () => Promise<void>
  readonly #uses = new Map<string, Use>()

  constructor(pool: pg.Pool, close: () => Promise<void>) {
    this.#pool = pool
    this.#close = close
  }

  get options(): object {
    return this.#pool.options
  }

  connect(): Promise<PostgresPoolClient> {
    return Promise.resolve(new LateClient(this))
  }

  end(): Promise<void> {
    return this.#close()
  }

  /** A connection whose first statement this is. */
  async take(text: string): Promise<pg.PoolClient> {
    const use = this.#uses.get(text) ?? { connections: 0, isBlocked: false, waiting: [] }
    this.#uses.set(text, use)
    if (use.connections >= maxConnectionsOf(text, use)) await waitForTurn(use)
    else use.connections += 1
    try {
      return await this.#pool.connect()
    } catch (error) {
      this.release(text)
      throw error
    }
  }

  /** The outcome of a statement outside of a batch; batches of named statements keep a blocked account apart themselves. */
  note(text: string, error?: unknown): void {
    const use = this.#uses.get(text)
    if (use && !isTransaction(text) && nameOf(text) === undefined) use.isBlocked = isLockTimeout(error)
  }

  release(text: string): void {
    const use = this.#uses.get(text)
    if (!use) return
    use.connections -= 1
    while (use.waiting.length > 0 && use.connections < maxConnectionsOf(text, use)) {
      use.connections += 1
      use.waiting.shift()?.start()
    }
    if (use.connections === 0 && !use.isBlocked) this.#uses.delete(text)
  }
}

function maxConnectionsOf(text: string, { isBlocked }: Use): number {
  if (isTransaction(text)) return maxConnectionsOfTransactions
  return isBlocked ? maxConnectionsWhileBlocked : maxConnectionsOfStatement
}

function isTransaction(text: string): boolean {
  return text === 'begin' || text.startsWith('start transaction')
}

/** Whoever starts it has counted its connection. */
function waitForTurn({ waiting }: Use): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const turn = {
    start: () => {
      clearTimeout(timer)
      resolve()
    },
  }
  const timer = setTimeout(() => {
    waiting.splice(waiting.indexOf(turn), 1)
    reject(new NotStartedError('the same statement of others to end'))
  }, maxWaitMilliseconds)
  waiting.push(turn)
  return promise
}

/** Takes its connection with its first statement and keeps it until it is released. */
class LateClient implements PostgresPoolClient {
  readonly #pool: SharedPool
  #text: string | undefined
  #client: pg.PoolClient | undefined

  constructor(pool: SharedPool) {
    this.#pool = pool
  }

  // One signature for both overloads of Kysely: it is built without cursors, so it passes a text and values.
  // oxlint-disable-next-line typescript/no-explicit-any
  query(...[text, values]: any[]): any {
    return this.#query(text, values)
  }

  async #query(text: string, values: unknown[]): Promise<unknown> {
    const client = (this.#client ??= await this.#take(text))
    try {
      const result = await client.query(text, values)
      this.#pool.note(text)
      return result
    } catch (error) {
      this.#pool.note(text, error)
      throw error
    }
  }

  async #take(text: string): Promise<pg.PoolClient> {
    const client = await this.#pool.take(text)
    this.#text = text
    return client
  }

  release(destroy?: boolean): void {
    this.#client?.release(destroy)
    if (this.#text !== undefined) this.#pool.release(this.#text)
  }
}

import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type pg from 'pg'
import { NotStartedError } from '../../batch.ts'
import type { Passwords } from './connection.ts'
import { nameOf } from '../statement.ts'
import { isLockTimeout, isPasswordRejected } from '../unavailable.ts'

/** Found by measuring: more concurrent calls of one statement gain nothing on two cores. */
const maxConnectionsOfStatement = 4
/** Applies after a lock timeout: the next calls will likely wait for the same table. */
const maxConnectionsWhileBlocked = 1
const maxConnectionsOfTransactions = 8
const maxWaitMilliseconds = 2_000

interface Use {
  readonly text: string
  readonly isTransaction: boolean
  /** Named statements are batched, and batches isolate a blocked account themselves. */
  readonly isNamed: boolean
  connections: number
  isBlocked: boolean
  waiting: { start: () => void }[]
}

/**
 * A pool in which no statement can occupy all connections: each statement may use a few, and only one while it waits
 * for a locked table. A connection is taken when its first statement is known, so waiting calls hold none.
 */
export class SharedPool implements PostgresPool {
  readonly #pool: pg.Pool
  readonly #close: () => Promise<void>
  readonly #passwords: Passwords | undefined
  /** The entries of named statements are kept; there are a few dozen. */
  readonly #uses = new Map<string, Use>()

  constructor(pool: pg.Pool, close: () => Promise<void>, passwords: Passwords | undefined) {
    this.#pool = pool
    this.#close = close
    this.#passwords = passwords
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

  useOf(text: string): Use {
    let use = this.#uses.get(text)
    if (!use) {
      const isTransaction = text === 'begin' || text.startsWith('start transaction')
      const isNamed = nameOf(text) !== undefined
      this.#uses.set(text, (use = { text, isTransaction, isNamed, connections: 0, isBlocked: false, waiting: [] }))
    }
    return use
  }

  /** Returns a connection for its first statement. */
  take(use: Use): Promise<pg.PoolClient> {
    if (use.connections >= maxConnectionsOf(use)) return waitForTurn(use).then(() => this.#connect(use))
    use.connections += 1
    return this.#connect(use)
  }

  async #connect(use: Use): Promise<pg.PoolClient> {
    try {
      return await (this.#passwords ? this.#connectWith(this.#passwords) : this.#pool.connect())
    } catch (error) {
      this.release(use)
      throw error
    }
  }

  /** A command that prints the password may take longer than a connection is waited for, so it runs first. */
  async #connectWith(passwords: Passwords): Promise<pg.PoolClient> {
    if (this.#pool.idleCount === 0) await passwords.prepare()
    return this.#pool.connect().catch(async (error: unknown) => {
      if (!isPasswordRejected(error)) throw error
      // The password may have changed since it was read, so it is read once more.
      await passwords.prepare()
      return this.#pool.connect()
    })
  }

  release(use: Use): void {
    use.connections -= 1
    while (use.waiting.length > 0 && use.connections < maxConnectionsOf(use)) {
      use.connections += 1
      use.waiting.shift()?.start()
    }
    if (use.connections === 0 && !use.isBlocked && !use.isNamed) this.#uses.delete(use.text)
  }
}

function maxConnectionsOf({ isTransaction, isBlocked }: Use): number {
  if (isTransaction) return maxConnectionsOfTransactions
  return isBlocked ? maxConnectionsWhileBlocked : maxConnectionsOfStatement
}

/** The caller that resolves a waiting call has already counted its connection. */
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
    reject(new NotStartedError('concurrent calls of the same statement'))
  }, maxWaitMilliseconds)
  waiting.push(turn)
  return promise
}

/** Takes its connection with the first statement and keeps it until it is released. */
class LateClient implements PostgresPoolClient {
  readonly #pool: SharedPool
  #use: Use | undefined
  #client: pg.PoolClient | undefined

  constructor(pool: SharedPool) {
    this.#pool = pool
  }

  // One signature for both overloads of Kysely. Cursors are not used, so the arguments are a text and values.
  // oxlint-disable-next-line typescript/no-explicit-any
  query(...args: any[]): any {
    const [text, values] = args as [string, unknown[]]
    return this.#client ? this.#client.query(text, values) : this.#queryFirst(text, values)
  }

  async #queryFirst(text: string, values: unknown[]): Promise<unknown> {
    const use = this.#pool.useOf(text)
    const client = await this.#pool.take(use)
    this.#use = use
    this.#client = client
    try {
      const result = await client.query(text, values)
      use.isBlocked = false
      return result
    } catch (error) {
      use.isBlocked = !use.isTransaction && !use.isNamed && isLockTimeout(error)
      throw error
    }
  }

  release(destroy?: boolean): void {
    this.#client?.release(destroy)
    if (this.#use) this.#pool.release(this.#use)
  }
}

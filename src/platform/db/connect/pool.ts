import type { PostgresPool, PostgresPoolClient, Transaction } from 'kysely'
import type pg from 'pg'
import { NotStartedError } from '../../batch.ts'
import { isLockTimeout } from '../errors.ts'
import type { Database } from '../schema.ts'
import { nameOf } from '../statement.ts'
import { runTransaction } from './client-transaction.ts'
import type { Passwords } from './connection.ts'
import { isUserRejected } from './passwords.ts'
import { IdleClients } from './idle-clients.ts'

/** Measured: more concurrent calls of one statement gain nothing on two cores. */
const maxConnectionsOfStatement = 4
/** Applies after a lock timeout: the next calls will likely wait for the same table. */
const maxConnectionsWhileBlocked = 1
const maxConnectionsOfTransactions = 8

interface Usage {
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
 * for a locked table. A client takes a connection only with its first statement, so waiting calls hold none.
 */
export class SharedPool implements PostgresPool {
  readonly #pool: pg.Pool
  readonly #idle: IdleClients
  readonly #close: () => Promise<void>
  readonly #passwords: Passwords | undefined
  readonly #maxWaitMilliseconds: number
  /** By statement text. The entries of named statements are kept; there are a few dozen. */
  readonly #usages = new Map<string, Usage>()

  /** A statement that has waited that long for its turn fails. */
  constructor(
    pool: pg.Pool,
    close: () => Promise<void>,
    passwords: Passwords | undefined,
    maxWaitMilliseconds: number,
  ) {
    this.#pool = pool
    this.#idle = new IdleClients(pool)
    this.#close = close
    this.#passwords = passwords
    this.#maxWaitMilliseconds = maxWaitMilliseconds
  }

  get options(): object {
    return this.#pool.options
  }

  connect(): Promise<PostgresPoolClient> {
    return Promise.resolve(new LazyClient(this))
  }

  /** Runs one statement and returns its rows. */
  async run(text: string, values: unknown[]): Promise<unknown[]> {
    const usage = this.usageOf(text)
    const client = this.tryAcquire(usage) ?? (await this.acquire(usage))
    try {
      const { rows } = await client.query<object>(text, values)
      usage.isBlocked = false
      return rows
    } catch (error) {
      noteFailure(usage, error)
      throw error
    } finally {
      this.release(usage, client)
    }
  }

  async transact<Result>(work: (trx: Transaction<Database>) => Promise<Result>): Promise<Result> {
    const usage = this.usageOf('begin')
    const client = this.tryAcquire(usage) ?? (await this.acquire(usage))
    let isBroken = false
    try {
      return await runTransaction(client, work, () => (isBroken = true))
    } finally {
      this.release(usage, client, isBroken)
    }
  }

  end(): Promise<void> {
    this.#idle.close()
    return this.#close()
  }

  usageOf(text: string): Usage {
    let usage = this.#usages.get(text)
    if (!usage) {
      const isTransaction = text === 'begin' || text.startsWith('start transaction')
      const isNamed = nameOf(text) !== undefined
      this.#usages.set(text, (usage = { text, isTransaction, isNamed, connections: 0, isBlocked: false, waiting: [] }))
    }
    return usage
  }

  /** Returns a connection for its first statement if one is idle and the statement may use one more. */
  tryAcquire(usage: Usage): pg.PoolClient | undefined {
    if (usage.connections >= maxConnectionsOf(usage)) return undefined
    const client = this.#idle.take()
    if (client) usage.connections += 1
    return client
  }

  async acquire(usage: Usage): Promise<pg.PoolClient> {
    if (usage.connections >= maxConnectionsOf(usage)) await waitForTurn(usage, this.#maxWaitMilliseconds)
    else usage.connections += 1
    try {
      return this.#idle.take() ?? (await (this.#passwords ? this.#connectWith(this.#passwords) : this.#pool.connect()))
    } catch (error) {
      this.release(usage)
      throw error
    }
  }

  /** The password command may take longer than the connection timeout, so it runs first. */
  async #connectWith(passwords: Passwords): Promise<pg.PoolClient> {
    await passwords.prepare()
    // Connections may have been released in the meantime.
    const connect = () => this.#idle.take() ?? this.#pool.connect()
    return Promise.resolve(connect()).catch(async (error: unknown) => {
      if (!isUserRejected(error)) throw error
      // The password may have changed since it was read, so it is read once more.
      await passwords.prepare()
      return connect()
    })
  }

  release(usage: Usage, client?: pg.PoolClient, isBroken?: boolean): void {
    if (client) this.#idle.put(client, isBroken)
    usage.connections -= 1
    while (usage.waiting.length > 0 && usage.connections < maxConnectionsOf(usage)) {
      usage.connections += 1
      usage.waiting.shift()?.start()
    }
    if (usage.connections === 0 && !usage.isBlocked && !usage.isNamed) this.#usages.delete(usage.text)
  }
}

function maxConnectionsOf({ isTransaction, isBlocked }: Usage): number {
  if (isTransaction) return maxConnectionsOfTransactions
  return isBlocked ? maxConnectionsWhileBlocked : maxConnectionsOfStatement
}

/** `release` counts the connection of a waiting call before it resolves the call. */
function waitForTurn({ waiting }: Usage, maxWaitMilliseconds: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const waiter = {
    start: () => {
      clearTimeout(timer)
      resolve()
    },
  }
  const timer = setTimeout(() => {
    waiting.splice(waiting.indexOf(waiter), 1)
    reject(new NotStartedError('concurrent calls of the same statement'))
  }, maxWaitMilliseconds)
  waiting.push(waiter)
  return promise
}

function noteFailure(usage: Usage, error: unknown): void {
  usage.isBlocked = !usage.isTransaction && !usage.isNamed && isLockTimeout(error)
}

/** Acquires its connection with the first statement and keeps it until it is released. */
class LazyClient implements PostgresPoolClient {
  readonly #pool: SharedPool
  #usage: Usage | undefined
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
    const usage = this.#pool.usageOf(text)
    const client = this.#pool.tryAcquire(usage) ?? (await this.#pool.acquire(usage))
    this.#usage = usage
    this.#client = client
    try {
      const result = await client.query<object>(text, values)
      usage.isBlocked = false
      return result
    } catch (error) {
      noteFailure(usage, error)
      throw error
    }
  }

  release(destroy?: boolean): void {
    if (this.#usage) this.#pool.release(this.#usage, this.#client, destroy)
  }
}

import type pg from 'pg'
import type { PreparedClient } from './prepared-client.ts'

/** An idle connection is closed after one to two times this long. */
const idleMilliseconds = 10_000

/**
 * Released connections, which are handed out again at once. `pg-pool` sets and clears two timers and creates eight
 * functions whenever it hands out one: 3 µs and 2 KB for each statement.
 */
export class IdleClients {
  readonly #pool: pg.Pool
  /** The last one is used next, so the first ones stay idle. */
  readonly #clients: pg.PoolClient[] = []
  /** How many, from the front, have not been used since the last check. */
  #unused = 0
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(pool: pg.Pool) {
    this.#pool = pool
    pool.on('connect', (client) => client.on('error', (error) => this.#lose(client, error)))
  }

  take(): pg.PoolClient | undefined {
    const client = this.#clients.pop()
    if (this.#clients.length < this.#unused) this.#unused = this.#clients.length
    return client
  }

  put(client: pg.PoolClient, isBroken = false): void {
    // The pool makes clients of this class.
    if (isBroken || (client as pg.PoolClient & PreparedClient).isLost) return client.release(true)
    // Callers who wait for a connection wait in the pool.
    if (this.#isClosed || this.#pool.waitingCount > 0) return client.release()
    this.#clients.push(client)
    this.#timer ??= setInterval(this.#closeUnused, idleMilliseconds).unref()
  }

  /** Gives all back to the pool, and from now on each one that is released. */
  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
    for (const client of this.#clients.splice(0)) client.release()
  }

  readonly #closeUnused = (): void => {
    for (const client of this.#clients.splice(0, this.#unused)) client.release(true)
    this.#unused = this.#clients.length
    if (this.#unused > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #lose(client: pg.PoolClient, error: Error): void {
    const index = this.#clients.indexOf(client)
    if (index === -1) return
    this.#clients.splice(index, 1)
    if (index < this.#unused) this.#unused -= 1
    client.release(true)
    this.#pool.emit('error', error, client)
  }
}

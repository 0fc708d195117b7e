import type { PGlite } from '@electric-sql/pglite'
import { type DatabaseConnection, PGliteAdapter, PGliteDialect, type PGliteDialectConfig, PGliteDriver } from 'kysely'
import { NotStartedError } from '../../batch.ts'
import type { DurableFiles } from './durable-files.ts'

const defaultMaxWaitSeconds = 5
/** PGlite runs in this thread, so after this time other work of the process gets a turn. */
const longestWithoutPauseMilliseconds = 10

const others = 'other statements of the embedded database'

interface Waiter {
  start: () => void
  reject: (error: Error) => void
}

/** Serializes access to the single connection: each caller holds it until its statement has ended. */
export class ConnectionLock {
  readonly #waiters: Waiter[] = []
  #isHeld = false
  #isClosed = false
  #pausedAt = 0
  #releasedAt = -Infinity
  readonly #maxWaitMilliseconds: number

  /** A statement that has waited longer never runs, and the response is SERVICE_UNAVAILABLE. */
  constructor(maxWaitSeconds = defaultMaxWaitSeconds) {
    this.#maxWaitMilliseconds = maxWaitSeconds * 1_000
  }

  /** Time since when the connection is idle, by `performance.now()`; undefined while it is in use. */
  get idleSince(): number | undefined {
    return this.#isHeld ? undefined : this.#releasedAt
  }

  /** Resolves when the caller holds the connection. */
  acquire({ isUrgent = false, milliseconds = this.#maxWaitMilliseconds } = {}): Promise<void> {
    if (this.#isClosed) return Promise.reject(new NotStartedError('a closed database'))
    if (!this.#isHeld) {
      this.#isHeld = true
      return Promise.resolve()
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = {
      start: () => {
        clearTimeout(timer)
        resolve()
      },
      reject: (error: Error) => {
        clearTimeout(timer)
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
        reject(error)
      },
    }
    const expire = () => waiter.reject(new NotStartedError(others))
    const timer = milliseconds === Infinity ? undefined : setTimeout(expire, milliseconds)
    if (isUrgent) this.#waiters.unshift(waiter)
    else this.#waiters.push(waiter)
    return promise
  }

  release(): void {
    this.#releasedAt = performance.now()
    if (this.#waiters.length === 0) {
      this.#isHeld = false
      return
    }
    // Without a pause, consecutive statements would starve requests and timers.
    if (this.#releasedAt - this.#pausedAt < longestWithoutPauseMilliseconds) return this.#startNext()
    setImmediate(() => {
      this.#pausedAt = performance.now()
      this.#startNext()
    })
  }

  /** Resolves when the current holder releases the connection. Waiting and later callers are rejected. */
  async close(): Promise<void> {
    for (const waiter of this.#waiters.slice()) waiter.reject(new NotStartedError('a closed database'))
    const acquired = this.acquire({ milliseconds: Infinity })
    this.#isClosed = true
    await acquired
  }

  #startNext(): void {
    const next = this.#waiters.shift()
    if (next) next.start()
    else this.#isHeld = false
  }
}

/** PGlite in a folder, where statements return after a flush, or in memory for tests. */
export class EmbeddedDatabase {
  readonly lock: ConnectionLock
  readonly dialect: PGliteDialect
  #files: DurableFiles | undefined
  #pglite: PGlite | undefined

  constructor(source: string | PGlite, maxWaitSeconds?: number) {
    this.lock = new ConnectionLock(maxWaitSeconds)
    const open = async () => (this.#pglite = typeof source === 'string' ? await this.#openFolder(source) : source)
    this.dialect = new EmbeddedDialect({ pglite: open }, this)
  }

  async #openFolder(folder: string): Promise<PGlite> {
    // Imported here, because a server on PostgreSQL does not need PGlite.
    const { openFolder } = await import('./open-folder.ts')
    const { pglite, files } = await openFolder(folder)
    this.#files = files
    return pglite
  }

  /** Runs before all waiting statements, because it checks whether the database responds, not how busy it is. */
  async check(milliseconds: number): Promise<void> {
    if (this.#files?.hasFailed)
      throw new Error('a flush of the database to disk failed. Check the disk and restart the process')
    await this.lock.acquire({ isUrgent: true, milliseconds })
    try {
      await this.#pglite?.query('select 1')
    } finally {
      this.lock.release()
    }
  }

  /** Resolves when earlier changes are on disk. No caller may see a change before that, its own or another's. */
  flushed(): Promise<void> {
    return this.#files?.flushed() ?? Promise.resolve()
  }
}

class EmbeddedDialect extends PGliteDialect {
  readonly #config: PGliteDialectConfig
  readonly #database: EmbeddedDatabase

  constructor(config: PGliteDialectConfig, database: EmbeddedDatabase) {
    super(config)
    this.#config = config
    this.#database = database
  }

  override createAdapter(): PGliteAdapter {
    return new EmbeddedAdapter()
  }

  override createDriver(): PGliteDriver {
    return new EmbeddedDriver(this.#config, this.#database)
  }
}

class EmbeddedAdapter extends PGliteAdapter {
  /** The driver has its own queue, because Kysely's has no deadline and would include the flush. */
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

class EmbeddedDriver extends PGliteDriver {
  readonly #database: EmbeddedDatabase

  constructor(config: PGliteDialectConfig, database: EmbeddedDatabase) {
    super(config)
    this.#database = database
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    await this.#database.lock.acquire()
    return super.acquireConnection()
  }

  override async destroy(): Promise<void> {
    await this.#database.lock.close()
    await super.destroy()
  }

  /** Releases the connection for the next statement while the changes of this one are flushed. */
  override async releaseConnection(): Promise<void> {
    const flushed = this.#database.flushed()
    this.#database.lock.release()
    await flushed
  }
}

import type { PGlite } from '@electric-sql/pglite'
import { type DatabaseConnection, PGliteAdapter, PGliteDialect, type PGliteDialectConfig, PGliteDriver } from 'kysely'
import { NotStartedError } from '../../batch.ts'
import type { DurableFiles } from './durable-files.ts'

/** Maximum wait of a statement. Then it never runs, and the response is SERVICE_UNAVAILABLE. */
const maxWaitMilliseconds = 5_000
/** PGlite runs in this thread, so after this time other work of the process gets a turn. */
const longestWithoutPauseMilliseconds = 10

const others = 'other statements of the embedded database'

interface Waiting {
  start: () => void
  giveUp: (error: Error) => void
}

/** Serializes access to the single connection: each caller holds it until its statement has ended. */
export class Turns {
  readonly #waiting: Waiting[] = []
  #taken = false
  #isClosed = false
  #pausedAt = 0
  #endedAt = -Infinity

  /** Time since when the connection is idle, by `performance.now()`; undefined while it is in use. */
  get idleSince(): number | undefined {
    return this.#taken ? undefined : this.#endedAt
  }

  /** Resolves when the caller has the connection. */
  take({ isUrgent = false, milliseconds = maxWaitMilliseconds } = {}): Promise<void> {
    if (this.#isClosed) return Promise.reject(new NotStartedError('a closed database'))
    if (!this.#taken) {
      this.#taken = true
      return Promise.resolve()
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const turn = {
      start: () => {
        clearTimeout(timer)
        resolve()
      },
      giveUp: (error: Error) => {
        clearTimeout(timer)
        this.#waiting.splice(this.#waiting.indexOf(turn), 1)
        reject(error)
      },
    }
    const giveUp = () => turn.giveUp(new NotStartedError(others))
    const timer = milliseconds === Infinity ? undefined : setTimeout(giveUp, milliseconds)
    if (isUrgent) this.#waiting.unshift(turn)
    else this.#waiting.push(turn)
    return promise
  }

  end(): void {
    this.#endedAt = performance.now()
    if (this.#waiting.length === 0) {
      this.#taken = false
      return
    }
    // Without a pause, consecutive statements would starve requests and timers.
    if (this.#endedAt - this.#pausedAt < longestWithoutPauseMilliseconds) return this.#startNext()
    setImmediate(() => {
      this.#pausedAt = performance.now()
      this.#startNext()
    })
  }

  /** Resolves when the current holder releases the connection. Waiting and later callers are rejected. */
  async close(): Promise<void> {
    for (const turn of this.#waiting.slice()) turn.giveUp(new NotStartedError('a closed database'))
    const ended = this.take({ milliseconds: Infinity })
    this.#isClosed = true
    await ended
  }

  #startNext(): void {
    const next = this.#waiting.shift()
    if (next) next.start()
    else this.#taken = false
  }
}

/** PGlite in a folder, where statements return after a flush; in tests also in memory. */
export class EmbeddedDatabase {
  readonly turns = new Turns()
  readonly dialect: PGliteDialect
  #files: DurableFiles | undefined
  #pglite: PGlite | undefined

  constructor(source: string | PGlite) {
    const open = async () => (this.#pglite = typeof source === 'string' ? await this.#openFolder(source) : source)
    this.dialect = new EmbeddedDialect({ pglite: open }, this)
  }

  async #openFolder(folder: string): Promise<PGlite> {
    // Imported here, because a server on PostgreSQL needs nothing of PGlite.
    const { openFolder } = await import('./open-folder.ts')
    const { pglite, files } = await openFolder(folder)
    this.#files = files
    return pglite
  }

  /** Runs before all waiting statements: it checks whether the database responds, not how busy it is. */
  async check(milliseconds: number): Promise<void> {
    if (this.#files?.hasFailed)
      throw new Error('a flush of the database to disk failed. Check the disk and restart the process')
    await this.turns.take({ isUrgent: true, milliseconds })
    try {
      await this.#pglite?.query('select 1')
    } finally {
      this.turns.end()
    }
  }

  /** No caller may see a change, its own or another's, before the change is on disk. */
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
    await this.#database.turns.take()
    return super.acquireConnection()
  }

  override async destroy(): Promise<void> {
    await this.#database.turns.close()
    await super.destroy()
  }

  /** Releases the connection for the next statement while the changes of this one are flushed. */
  override async releaseConnection(): Promise<void> {
    const flushed = this.#database.flushed()
    this.#database.turns.end()
    await flushed
  }
}

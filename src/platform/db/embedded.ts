import { PGlite } from '@electric-sql/pglite'
import { type DatabaseConnection, PGliteAdapter, PGliteDialect, type PGliteDialectConfig, PGliteDriver } from 'kysely'
import { NotStartedError } from '../batch.ts'
import { DurableFiles } from './durable-files.ts'

/** A statement that could not begin by then never runs, and its caller is answered with SERVICE_UNAVAILABLE. */
const maxWaitMilliseconds = 5_000
/** PGlite works in this thread: after so long, whatever else waits in the process has its turn. */
const longestWithoutPauseMilliseconds = 10

const others = 'other statements of the embedded database to end'

interface Waiting {
  start: () => void
  giveUp: (error: Error) => void
}

/** Who may use the one connection: one after the other, each until it has ended. */
export class Turns {
  readonly #waiting: Waiting[] = []
  #taken = false
  #isClosed = false
  #pausedAt = 0
  #endedAt = -Infinity

  /** Since when nobody has used the connection, by `performance.now()`; undefined while it is in use. */
  get idleSince(): number | undefined {
    return this.#taken ? undefined : this.#endedAt
  }

  /** Resolves when the connection is the caller's. */
  take({ isUrgent = false, milliseconds = maxWaitMilliseconds } = {}): Promise<void> {
    if (this.#isClosed) return Promise.reject(new NotStartedError('a database that is closed'))
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
    // Without a pause, statements that wait for each other would keep all requests and timers waiting.
    if (this.#endedAt - this.#pausedAt < longestWithoutPauseMilliseconds) return this.#startNext()
    setImmediate(() => {
      this.#pausedAt = performance.now()
      this.#startNext()
    })
  }

  /** Resolves when whoever has the connection is done with it; all others, and those to come, are rejected. */
  async close(): Promise<void> {
    for (const turn of this.#waiting.slice()) turn.giveUp(new NotStartedError('a database that is closed'))
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

/** PGlite in a folder, where what is answered has been flushed; or, as tests have it, in memory. */
export class EmbeddedDatabase {
  readonly turns = new Turns()
  readonly dialect: PGliteDialect
  #files: DurableFiles | undefined
  #pglite: PGlite | undefined

  constructor(source: string | PGlite) {
    const open = async () => (this.#pglite = typeof source === 'string' ? await this.#openFolder(source) : source)
    this.dialect = new EmbeddedDialect({ pglite: open }, this)
  }

  #openFolder(folder: string): Promise<PGlite> {
    this.#files = new DurableFiles(folder)
    return PGlite.create({ fs: this.#files, startParams: startParameters })
  }

  /** Before all that wait: it says whether the database answers, not how much there is to do. */
  async check(milliseconds: number): Promise<void> {
    if (this.#files?.hasFailed) throw new Error('the database could not be flushed to disk: restart the process')
    await this.turns.take({ isUrgent: true, milliseconds })
    try {
      await this.#pglite?.query('select 1')
    } finally {
      this.turns.end()
    }
  }

  /** Whoever hears of a change, its own or another's, hears of it after it is on disk. */
  flushed(): Promise<void> {
    return this.#files?.flushed() ?? Promise.resolve()
  }
}

/** As PGlite starts PostgreSQL, but with flushes, and by the call that its file system passes on. */
const startParameters = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  '-c',
  'wal_sync_method=fsync',
]

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
  /** The driver has turns of its own: those of Kysely have no deadline and would include the flush. */
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

  /** The connection is free for the next statement while this one's changes are flushed. */
  override async releaseConnection(): Promise<void> {
    const flushed = this.#database.flushed()
    this.#database.turns.end()
    await flushed
  }
}

import { type Kysely, sql } from 'kysely'
import pg from 'pg'
import type { DatabaseConfig } from '../config.ts'
import type { Logger } from '../log.ts'
import type { Database } from './schema.ts'

/** What processes tell each other: that there is something new to look at, never what. */
export type Topic = 'deliveries'

/**
 * A hint that saves waiting for the next look. Hints get lost (a connection breaks, a process dies), so
 * whoever listens also looks by itself from time to time.
 */
export interface Announcements {
  /** Call it after the commit: what is announced must be there to be found. Never fails, never waits. */
  announce(topic: Topic): void
  /** Returns how to stop listening. A listener is also told after a time in which it could have missed something. */
  listen(topic: Topic, listener: () => void): () => void
  close(): Promise<void>
}

/** Commits that notify wait for each other, so a notification is its own statement, and rare. */
const quietMilliseconds = 20
const reconnectMilliseconds = 1_000
const connectTimeoutMilliseconds = 2_000
const keepAliveMilliseconds = 10_000

const channels = { deliveries: 'waybill_deliveries' } satisfies Record<Topic, string>

/** Between processes by PostgreSQL's NOTIFY; PGlite belongs to one process, which tells itself. */
export function createAnnouncements(config: DatabaseConfig, db: Kysely<Database>, log: Logger): Announcements {
  return config.kind === 'postgres' ? new PostgresAnnouncements(config.url, db, log) : createLocalAnnouncements()
}

export function createLocalAnnouncements(): Announcements {
  const listeners = new Listeners()
  return {
    announce: (topic) => listeners.tell(topic),
    listen: (topic, listener) => listeners.add(topic, listener),
    close: () => Promise.resolve(),
  }
}

class Listeners {
  readonly #byTopic = new Map<Topic, Set<() => void>>()

  add(topic: Topic, listener: () => void): () => void {
    const listeners = this.#byTopic.get(topic) ?? new Set()
    this.#byTopic.set(topic, listeners.add(listener))
    return () => void listeners.delete(listener)
  }

  tell(topic: Topic): void {
    for (const listener of this.#byTopic.get(topic) ?? []) listener()
  }

  tellAll(): void {
    for (const topic of this.#byTopic.keys()) this.tell(topic)
  }
}

class PostgresAnnouncements implements Announcements {
  readonly #url: string
  readonly #db: Kysely<Database>
  readonly #log: Logger
  readonly #listeners = new Listeners()
  /** Topics announced within the last moment; true when there was more to say since. */
  readonly #quiet = new Map<Topic, boolean>()
  #client: pg.Client | undefined
  #reconnecting: NodeJS.Timeout | undefined
  #closed = false
  /** The last notification that left: a process that announces and ends must not take it back. */
  #notifying: Promise<void> = Promise.resolve()

  constructor(url: string, db: Kysely<Database>, log: Logger) {
    this.#url = url
    this.#db = db
    this.#log = log
  }

  announce(topic: Topic): void {
    // This process need not hear of it from the database.
    this.#listeners.tell(topic)
    if (this.#closed) return
    if (this.#quiet.has(topic)) {
      this.#quiet.set(topic, true)
      return
    }
    this.#quiet.set(topic, false)
    this.#notify(topic)
    setTimeout(() => {
      const more = this.#quiet.get(topic)
      this.#quiet.delete(topic)
      if (more === true) this.announce(topic)
    }, quietMilliseconds).unref()
  }

  listen(topic: Topic, listener: () => void): () => void {
    const stop = this.#listeners.add(topic, listener)
    if (!this.#client) this.#connect()
    return stop
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#reconnecting)
    await this.#notifying
    await this.#client?.end().catch(() => {})
  }

  #notify(topic: Topic): void {
    this.#notifying = sql`select pg_notify(${channels[topic]}, '')`.execute(this.#db).then(
      () => {},
      (error: unknown) => this.#log.debug({ err: error }, 'others could not be told of new work'),
    )
  }

  /** A connection of its own: those of a pool come and go, and a listener with them. */
  #connect(): void {
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: connectTimeoutMilliseconds,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMilliseconds,
      application_name: 'waybill listen',
    })
    this.#client = client
    let lost = false
    const reconnect = (cause?: unknown) => {
      if (lost || this.#closed) return
      lost = true
      this.#log.debug({ err: cause }, 'the connection for announcements was lost: looking by itself meanwhile')
      client.end().catch(() => {})
      this.#reconnecting = setTimeout(() => this.#connect(), reconnectMilliseconds).unref()
    }
    client.on('error', reconnect)
    client.on('end', reconnect)
    client.on('notification', ({ channel }) => {
      const topic = topics.find((topic) => channels[topic] === channel)
      if (topic) this.#listeners.tell(topic)
    })
    client
      .connect()
      .then(() => client.query(topics.map((topic) => `listen ${channels[topic]}`).join(';')))
      // What was announced while nobody listened was missed.
      .then(() => this.#listeners.tellAll())
      .catch(reconnect)
  }
}

const topics = Object.keys(channels) as Topic[]

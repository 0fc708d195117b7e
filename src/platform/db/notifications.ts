import type { Kysely } from 'kysely'
import type { DatabaseConfig } from '../config.ts'
import type { Logger } from '../log.ts'
import {
  AuthenticatedClient,
  type ConnectionOptions,
  connectionOptions,
  connectTimeoutMilliseconds,
} from './connect/connection.ts'
import type { Database } from './schema.ts'
import { statement } from './statement.ts'

/** Topics on which processes notify each other. A notification carries no data. */
export type Topic = 'deliveries' | 'emails' | 'chat'

/**
 * Notifications that wake listeners before their next poll. They can get lost (a connection breaks, a process dies), so
 * listeners also poll.
 */
export interface Notifications {
  /** Call this after the commit, so that listeners can see the change. Never throws or blocks. */
  notify(topic: Topic): void
  /**
   * Returns a function that stops listening. A listener also runs after an interruption during which it could have
   * missed a notification.
   */
  listen(topic: Topic, listener: () => void): () => void
  close(): Promise<void>
}

/** Commits that notify are serialized, so a notification is a separate statement and is sent at most this often. */
const quietMilliseconds = 20
const reconnectMilliseconds = 1_000
const keepAliveMilliseconds = 10_000

const channels = { deliveries: 'waybill_deliveries', emails: 'waybill_emails', chat: 'waybill_chat' } satisfies Record<
  Topic,
  string
>

const notifyChannel = statement<{ channel: string }>('notify', ($) => `select pg_notify(${$.channel}, '')`)

/** Uses NOTIFY on PostgreSQL. PGlite belongs to one process, so notifications stay in memory. */
export function createNotifications(config: DatabaseConfig, db: Kysely<Database>, log: Logger): Notifications {
  return config.kind === 'postgres'
    ? new PostgresNotifications(connectionOptions(config), db, log)
    : createLocalNotifications()
}

export function createLocalNotifications(): Notifications {
  const listeners = new Listeners()
  return {
    notify: (topic) => listeners.notify(topic),
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

  notify(topic: Topic): void {
    for (const listener of this.#byTopic.get(topic) ?? []) listener()
  }

  notifyAll(): void {
    for (const topic of this.#byTopic.keys()) this.notify(topic)
  }
}

class PostgresNotifications implements Notifications {
  readonly #connection: ConnectionOptions
  readonly #db: Kysely<Database>
  readonly #log: Logger
  readonly #listeners = new Listeners()
  /** Topics notified within the quiet period; true if they were notified again since then. */
  readonly #quiet = new Map<Topic, boolean>()
  #client: AuthenticatedClient | undefined
  #reconnecting: NodeJS.Timeout | undefined
  #closed = false
  /** The last notification sent. A process that notifies and then exits must wait for it. */
  #notifying: Promise<void> = Promise.resolve()

  constructor(connection: ConnectionOptions, db: Kysely<Database>, log: Logger) {
    this.#connection = connection
    this.#db = db
    this.#log = log
  }

  notify(topic: Topic): void {
    // Listeners in this process do not depend on the database.
    this.#listeners.notify(topic)
    if (this.#closed) return
    if (this.#quiet.has(topic)) {
      this.#quiet.set(topic, true)
      return
    }
    this.#quiet.set(topic, false)
    this.#sendNotification(topic)
    setTimeout(() => {
      const notifiedAgain = this.#quiet.get(topic)
      this.#quiet.delete(topic)
      if (notifiedAgain === true) this.notify(topic)
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
    await this.#client?.close()
  }

  #sendNotification(topic: Topic): void {
    this.#notifying = notifyChannel(this.#db, { channel: channels[topic] }).then(
      () => {},
      (error: unknown) => this.#log.debug({ err: error }, 'could not notify other processes'),
    )
  }

  /** Uses a separate connection, because a pool closes idle connections and the listener with them. */
  #connect(): void {
    const client = new AuthenticatedClient({
      ...this.#connection,
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
      this.#log.debug({ err: cause }, 'lost the connection for notifications; polling until it is restored')
      void client.close()
      this.#reconnecting = setTimeout(() => this.#connect(), reconnectMilliseconds).unref()
    }
    client.on('error', reconnect)
    client.on('end', reconnect)
    client.on('notification', ({ channel }) => {
      const topic = topics.find((topic) => channels[topic] === channel)
      if (topic) this.#listeners.notify(topic)
    })
    client
      .connectInTime(() => client.query(topics.map((topic) => `listen ${channels[topic]}`).join(';')))
      // Notifications sent while no connection was listening were missed.
      .then(() => this.#listeners.notifyAll())
      .catch(reconnect)
  }
}

const topics = Object.keys(channels) as Topic[]

import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { PostgresConfig } from '../../config.ts'
import type { Host } from '../../database-url.ts'
import { recordConnectFailure } from './connect-failure.ts'
import { ReadOnlyServerError, WritableHost } from './hosts.ts'
import { type ConnectionTarget, isUserRejected, PasswordCommand, readPasswordFile } from './passwords.ts'
import { readTls } from './tls.ts'

/** Where new connections get their password if the URL has none. PGPASSWORD takes precedence. */
export interface Passwords {
  /** Obtains the password before a connection is opened. */
  prepare(): Promise<void>
  read(target: ConnectionTarget): Promise<string | undefined>
  reject(password: string): Promise<void>
}

export interface ConnectionOptions extends pg.ClientConfig {
  Client: typeof AuthenticatedClient
  /** Undefined if the URL has a password. */
  passwords: Passwords | undefined
  /** Where to connect, instead of the host in the URL: to this server, or to the one of several that accepts writes. */
  server: Host | WritableHost | undefined
}

/** As long as a connection of the pool may take. */
export const connectTimeoutMilliseconds = 2_000
/** A server that responds closes a connection within milliseconds. */
const closeMilliseconds = 1_000

const optionsByConfig = new WeakMap<PostgresConfig, ConnectionOptions>()

/** All connections of one configuration share the passwords that a command has printed. */
export function connectionOptions(config: PostgresConfig): ConnectionOptions {
  const options = optionsByConfig.get(config) ?? createOptions(config)
  optionsByConfig.set(config, options)
  return options
}

function createOptions(config: PostgresConfig): ConnectionOptions {
  const { url, ...tls } = readTls(withoutTimeouts(config.url))
  const passwords = new URL(url).password === '' ? createPasswords(config) : undefined
  const options = { Client: AuthenticatedClient, connectionString: url, ...tls, passwords }
  if (!config.hosts) return { ...options, server: undefined }
  const probe = (server: Host) => tryConnecting({ ...options, server })
  return { ...options, server: new WritableHost(config.hosts, probe) }
}

/** `pg` prefers them to its options, and DATABASE_STATEMENT_TIMEOUT and DATABASE_LOCK_TIMEOUT apply to Waybill. */
const timeouts = ['statement_timeout', 'lock_timeout', 'query_timeout']

function withoutTimeouts(text: string): string {
  const url = new URL(text)
  if (!timeouts.some((name) => url.searchParams.has(name))) return text
  for (const name of timeouts) url.searchParams.delete(name)
  return url.href
}

async function tryConnecting(options: ConnectionOptions): Promise<void> {
  const client = new AuthenticatedClient(options)
  try {
    await client.connectInTime()
  } finally {
    void client.close()
  }
}

function createPasswords({ passwordCommand, passwordFile }: PostgresConfig): Passwords {
  if (passwordCommand === undefined)
    return {
      prepare: () => Promise.resolve(),
      read: (target) => readPasswordFile(passwordFile, target),
      reject: () => Promise.resolve(),
    }
  const command = new PasswordCommand(passwordCommand.text, passwordCommand.environment)
  return {
    prepare: async () => void (await command.read()),
    read: () => command.read(),
    reject: (password) => command.reject(password),
  }
}

/**
 * A connection that chooses its server and reads its password when it is opened, and reports why it could not be opened.
 */
export class AuthenticatedClient extends pg.Client {
  readonly #passwords: Passwords | undefined
  readonly #server: Host | WritableHost | undefined

  constructor(options?: pg.ClientConfig & Partial<Pick<ConnectionOptions, 'passwords' | 'server'>>) {
    super(options)
    this.#passwords = options?.passwords
    this.#server = options?.server
    // The statement that runs below before the connection is handed over fails if the connection is lost. Without a
    // listener, the error would also end the process.
    this.on('error', () => {})
    // `pg` also accepts a function here, but its types allow only a string.
    if (this.#passwords && (this.password ?? '') === '') Object.assign(this, { password: this.#readPassword })
  }

  readonly #readPassword = (): Promise<string | undefined> | undefined => this.#passwords?.read(this.#target())

  #target(): ConnectionTarget {
    const { host, port, database = '', user = '' } = this
    return { host, port, database, user }
  }

  override connect(): Promise<pg.Client>
  override connect(callback: (error: Error | null) => void): void
  override connect(callback?: (error: Error | null) => void): Promise<pg.Client> | void {
    const opened = this.#open()
    if (!callback) return opened
    // An error that the callback throws is not one of the connection.
    void opened.then(() => null, toError).then((error) => process.nextTick(callback, error))
  }

  async #open(): Promise<pg.Client> {
    const server = this.#server instanceof WritableHost ? await this.#server.find() : this.#server
    if (server) Object.assign(this, server)
    try {
      await super.connect().catch((error: unknown) => {
        throw this.#explain(toError(error))
      })
      await this.#prepare()
      return this
    } catch (error) {
      if (server && this.#server instanceof WritableHost) this.#server.forget(server)
      // A pool forgets a client that failed to connect, but does not close it.
      void this.end().catch(() => {})
      throw error
    }
  }

  async #prepare(): Promise<void> {
    const { rows } = await super.query<{ is_read_only: boolean }>(pinSettings)
    if (this.#server && rows[0]?.is_read_only !== false) throw this.#explain(new ReadOnlyServerError())
  }

  /** The timeout of `pg` ends with the authentication, and a server can stop responding after it. */
  async connectInTime(prepare?: () => Promise<unknown>): Promise<void> {
    const expire = () => streamOf(this).destroy(this.#explain(new Error('timeout expired')))
    const deadline = setTimeout(expire, connectTimeoutMilliseconds)
    try {
      await this.connect()
      await prepare?.()
    } finally {
      clearTimeout(deadline)
    }
  }

  /** Unlike `end`, does not wait for a server that does not respond. */
  async close(): Promise<void> {
    const ended = new AbortController()
    const deadline = delay(closeMilliseconds, undefined, { signal: ended.signal }).catch(() => {})
    await Promise.race([this.end().catch(() => {}), deadline])
    ended.abort()
    streamOf(this).destroy()
  }

  #explain(error: Error): Error {
    // By now `pg` has replaced the function with the password that it returned.
    if (isUserRejected(error) && typeof this.password === 'string') void this.#passwords?.reject(this.password)
    return recordConnectFailure(error, this.#target())
  }
}

export function streamOf(client: pg.Client): Socket {
  // `pg` does not declare it.
  return (client as unknown as { connection: { stream: Socket } }).connection.stream
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error('the connection failed', { cause: error })
}

/**
 * Settings that statements, and `pg` when it parses values, rely on. A role or database can have others (ALTER ROLE or
 * ALTER DATABASE … SET). Statements have timeouts of their own, so a timeout of the role must not end a migration.
 */
const pinned = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  array_nulls: 'on',
  transform_null_equals: 'off',
  standard_conforming_strings: 'on',
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  exit_on_error: 'off',
  idle_session_timeout: '0',
  idle_in_transaction_session_timeout: '0',
} as const satisfies Record<string, string>

const settings = Object.entries(pinned).map(([name, value]) => `set_config('${name}', '${value}', false)`)

/**
 * Runs first on every connection, and says whether it allows no writes. A statement, because poolers drop or reject
 * options of a connection. What has been acknowledged must survive a crash, so commits are synchronous; which standbys
 * they wait for is up to the operator.
 */
const pinSettings = `select ${settings.join(', ')},
  pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as is_read_only,
  case when current_setting('transaction_timeout', true) is not null
    then set_config('transaction_timeout', '0', false) end,
  case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'on', false) end`

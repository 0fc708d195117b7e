import pg from 'pg'
import type { PostgresConfig } from '../../config.ts'
import { recordConnectFailure } from './connect-failure.ts'
import { PasswordCommand } from './password-command.ts'
import { type ConnectionTarget, readPasswordFile } from './password-file.ts'
import { pinSettings } from './pinned-settings.ts'
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
}

const optionsByConfig = new WeakMap<PostgresConfig, ConnectionOptions>()

/** All connections of one configuration share the passwords that a command has printed. */
export function connectionOptions(config: PostgresConfig): ConnectionOptions {
  const options = optionsByConfig.get(config) ?? createOptions(config)
  optionsByConfig.set(config, options)
  return options
}

function createOptions(config: PostgresConfig): ConnectionOptions {
  const { url, ...tls } = readTls(config.url)
  const passwords = new URL(url).password === '' ? createPasswords(config) : undefined
  return { Client: AuthenticatedClient, connectionString: url, ...tls, passwords }
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

/** A connection that reads its password when it is opened, and reports why it could not be opened. */
export class AuthenticatedClient extends pg.Client {
  readonly #passwords: Passwords | undefined

  constructor(options?: pg.ClientConfig & { passwords?: Passwords | undefined }) {
    super(options)
    this.#passwords = options?.passwords
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
    if (callback)
      return super.connect((error: Error | null) => {
        if (error) callback(this.#handleFailure(error))
        else
          super.query(pinSettings, (problem: Error | null) => {
            // The pool forgets a client that failed to connect, but does not close it.
            if (problem) void this.end()
            callback(problem)
          })
      })
    return super.connect().then(
      async (client) => {
        await super.query(pinSettings)
        return client
      },
      (error: unknown) => {
        throw error instanceof Error ? this.#handleFailure(error) : error
      },
    )
  }

  #handleFailure(error: Error): Error {
    const isRejected = 'code' in error && (error.code === '28P01' || error.code === '28000')
    // By now `pg` has replaced the function with the password that it returned.
    if (isRejected && typeof this.password === 'string') void this.#passwords?.reject(this.password)
    return recordConnectFailure(error, this.#target())
  }
}

import type { Host } from '../../database-url.ts'

/** All servers are probed again at most this often while none accepts writes. */
const pauseMilliseconds = 250

/** The server was reached and accepts no writes: it is a standby, or read-only. */
export class ReadOnlyServerError extends Error {
  /** The condition that PostgreSQL reports for a write on such a server. */
  readonly code = '25006'

  constructor() {
    super('the server accepts no writes')
    this.name = 'ReadOnlyServerError'
  }
}

/** No server of DATABASE_URL accepts writes. `errors` holds what happened with each, in the order of the URL. */
export class NoWritableHostError extends AggregateError {
  constructor(errors: unknown[]) {
    super(errors, 'no host in DATABASE_URL accepts writes')
    this.name = 'NoWritableHostError'
  }
}

/**
 * Finds the server that accepts writes, as libpq does for `target_session_attrs=read-write`. libpq tries one server after
 * the other, for each connection; here all of them are asked at once, so that one that does not respond delays nothing,
 * and the answer applies until a connection to that server fails.
 */
export class WritableHost {
  readonly #hosts: readonly Host[]
  readonly #probe: (host: Host) => Promise<unknown>
  #current: Host | undefined
  #search: Promise<Host> | undefined

  /** `probe` rejects if the server does not accept writes. */
  constructor(hosts: readonly Host[], probe: (host: Host) => Promise<unknown>) {
    this.#hosts = hosts
    this.#probe = probe
  }

  /** Rejects with a `NoWritableHostError`. */
  find(): Promise<Host> {
    if (this.#current) return Promise.resolve(this.#current)
    return (this.#search ??= this.#searchAll())
  }

  /** Call this if a connection to the server could not be opened, or allows no writes. */
  forget(host: Host): void {
    if (this.#current === host) this.#current = undefined
  }

  async #searchAll(): Promise<Host> {
    try {
      const host = await Promise.any(
        this.#hosts.map(async (host) => {
          await this.#probe(host)
          return host
        }),
      )
      this.#current = host
      this.#search = undefined
      return host
    } catch (error) {
      setTimeout(() => (this.#search = undefined), pauseMilliseconds).unref()
      throw new NoWritableHostError(error instanceof AggregateError ? error.errors : [error])
    }
  }
}

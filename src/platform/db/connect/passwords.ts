import { type ChildProcess, spawn } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import { codeOf } from '../../error-code.ts'

/** The fields by which an entry of a password file is found. */
export interface ConnectionTarget {
  host: string
  port: number
  database: string
  user: string
}

/** A password that could not be obtained. The message never contains any part of it. */
export class DatabasePasswordError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'DatabasePasswordError'
  }
}

/** Returns the password of the first matching line of a file in libpq's `.pgpass` format. */
export function findPassword(content: string, { host, port, database, user }: ConnectionTarget): string | undefined {
  // A Unix socket counts as localhost.
  const wanted = [host.startsWith('/') ? 'localhost' : host, String(port), database, user]
  for (const line of content.split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const { fields, rest } = splitFields(line, wanted.length)
    if (fields.length < wanted.length || rest === '') continue
    // Only an unescaped asterisk matches everything.
    if (fields.every((field, index) => field === '*' || unescape(field) === wanted[index])) return unescape(rest)
  }
  return undefined
}

/** A field ends at a colon that no backslash precedes. */
function splitFields(line: string, count: number): { fields: string[]; rest: string } {
  const fields: string[] = []
  let rest = line
  while (fields.length < count) {
    const [all, field] = /^((?:[^\\:]|\\.)*):/.exec(rest) ?? []
    if (all === undefined || field === undefined) break
    fields.push(field)
    rest = rest.slice(all.length)
  }
  return { fields, rest }
}

function unescape(field: string): string {
  return field.replaceAll(/\\(.)/g, '$1')
}

/** Reads the password file anew for each connection, so that a changed password is used at once. */
export async function readPasswordFile(
  named: string | undefined,
  target: ConnectionTarget,
): Promise<string | undefined> {
  const file = named ?? defaultFile()
  try {
    const { mode } = await stat(file)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new DatabasePasswordError(
        `the password file ${file} can be read by other users, so it is ignored. Run: chmod 600 ${file}`,
      )
    return findPassword(await readFile(file, 'utf8'), target)
  } catch (error) {
    // The default file is optional.
    if (named === undefined) return undefined
    if (error instanceof DatabasePasswordError) throw error
    const code = codeOf(error) ?? 'unknown error'
    throw new DatabasePasswordError(`PGPASSFILE names a file that cannot be read (${code}): ${file}`)
  }
}

function defaultFile(): string {
  if (process.platform === 'win32') return path.join(process.env['APPDATA'] ?? '.', 'postgresql', 'pgpass.conf')
  return path.join(homedir(), '.pgpass')
}

/** Tokens of cloud providers are valid for 15 minutes or longer. */
const maxAgeMilliseconds = 5 * 60_000
/** Minimum time between runs of a command that fails or whose password is rejected. */
const minIntervalMilliseconds = 1_000
const maxRunMilliseconds = 10_000
const maxOutputBytes = 64 * 1024

export interface PasswordCommandTimes {
  maxAgeMilliseconds: number
  minIntervalMilliseconds: number
  maxRunMilliseconds: number
}

const defaultTimes: PasswordCommandTimes = { maxAgeMilliseconds, minIntervalMilliseconds, maxRunMilliseconds }

interface Run {
  startedAt: number
  password: Promise<string>
  state: 'running' | 'valid' | 'rejected' | 'failed'
}

/** Obtains passwords from a shell command. Connections that open at the same time share one run. */
export class PasswordCommand {
  readonly #command: string
  readonly #environment: NodeJS.ProcessEnv
  readonly #times: PasswordCommandTimes
  #run: Run | undefined

  constructor(command: string, environment: NodeJS.ProcessEnv, times: Partial<PasswordCommandTimes> = {}) {
    this.#command = command
    this.#environment = environment
    this.#times = { ...defaultTimes, ...times }
  }

  read(): Promise<string> {
    if (!this.#run || this.#isOutdated(this.#run)) this.#run = this.#start()
    return this.#run.password
  }

  /** Call this if PostgreSQL rejected the password; the next connection then runs the command again. */
  async reject(password: string): Promise<void> {
    const run = this.#run
    // A newer password was obtained in the meantime.
    if (run?.state !== 'valid' || (await run.password) !== password) return
    run.state = 'rejected'
  }

  #isOutdated({ startedAt, state }: Run): boolean {
    const age = performance.now() - startedAt
    if (state === 'running') return false
    return age > (state === 'valid' ? this.#times.maxAgeMilliseconds : this.#times.minIntervalMilliseconds)
  }

  #start(): Run {
    const password = readOutput(this.#command, this.#environment, this.#times.maxRunMilliseconds)
    const run: Run = { startedAt: performance.now(), password, state: 'running' }
    password.then(
      () => (run.state = 'valid'),
      () => (run.state = 'failed'),
    )
    return run
  }
}

/** Standard error is discarded, because a command with tracing (`set -x`) prints the password there. */
function readOutput(command: string, env: NodeJS.ProcessEnv, maxMilliseconds: number): Promise<string> {
  return new Promise((resolve, reject) => {
    // Detached, so that the whole process group of the shell can be killed.
    const child = spawn(command, { shell: true, detached: true, env, stdio: ['ignore', 'pipe', 'ignore'] })
    const chunks: Buffer[] = []
    let bytes = 0
    const fail = (problem: string) => {
      clearTimeout(timer)
      reject(new DatabasePasswordError(`DATABASE_PASSWORD_COMMAND ${problem}`))
    }
    const abort = (problem: string) => {
      killGroup(child)
      fail(problem)
    }
    const timer = setTimeout(() => abort(`did not end within ${maxMilliseconds / 1000} seconds`), maxMilliseconds)
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > maxOutputBytes) abort(`printed more than ${maxOutputBytes / 1024} KiB`)
      else chunks.push(chunk)
    })
    child.on('error', (error) => fail(`could not be started (${'code' in error ? String(error.code) : error.name})`))
    child.on('close', (code) => {
      const password = Buffer.concat(chunks)
        .toString('utf8')
        .replace(/\r?\n$/, '')
      if (code !== 0) fail(`ended with exit code ${code}. Run it in a shell of the same user to see why`)
      else if (password === '') fail('printed nothing. It must print the password to standard output')
      else {
        clearTimeout(timer)
        resolve(password)
      }
    })
  })
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}

/**
 * Returns whether the server rejected the user of a new connection, possibly because of the password: PAM, as used by
 * Amazon RDS for tokens, LDAP and RADIUS have the code 28000 for it, and describe it in the language of the server.
 */
export function isUserRejected(error: unknown): boolean {
  const code = codeOf(error)
  return code === '28P01' || code === '28000'
}

import { EventEmitter, once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { sql } from 'kysely'
import type pg from 'pg'
import { describe, expect, test, vi } from 'vitest'
import { readConfig } from '../../../../src/platform/config.ts'
import { findConnectProblem } from '../../../../src/platform/db/connect/connect-failure.ts'
import { connectionOptions } from '../../../../src/platform/db/connect/connection.ts'
import { WritableHost } from '../../../../src/platform/db/connect/hosts.ts'
import { findPassword, PasswordCommand } from '../../../../src/platform/db/connect/passwords.ts'
import { decideVerification, readTls } from '../../../../src/platform/db/connect/tls.ts'
import { openDatabase } from '../../../../src/platform/db/database.ts'
import { createLogger } from '../../../../src/platform/log.ts'
import { SharedPool } from '../../../../src/platform/db/connect/pool.ts'

const secretKey = Buffer.alloc(32, 7).toString('base64')

test.each([
  { mode: 'disable', plain: 'off', withRoot: 'off', libpq: 'off', libpqWithRoot: 'off' },
  { mode: 'allow', plain: 'full', withRoot: 'full', libpq: 'full', libpqWithRoot: 'full' },
  { mode: 'prefer', plain: 'full', withRoot: 'full', libpq: 'none', libpqWithRoot: 'none' },
  { mode: 'require', plain: 'full', withRoot: 'full', libpq: 'none', libpqWithRoot: 'authority' },
  { mode: 'verify-ca', plain: 'full', withRoot: 'authority', libpq: 'full', libpqWithRoot: 'authority' },
  { mode: 'verify-full', plain: 'full', withRoot: 'full', libpq: 'full', libpqWithRoot: 'full' },
  { mode: 'no-verify', plain: 'none', withRoot: 'none', libpq: 'none', libpqWithRoot: 'none' },
])('sslmode=$mode verifies $plain, and $withRoot with sslrootcert', ({ mode, ...verified }) => {
  const decide = (hasRootCertificate: boolean, isLibpq: boolean) =>
    decideVerification({ mode, hasRootCertificate, isLibpq })
  expect({
    plain: decide(false, false),
    withRoot: decide(true, false),
    libpq: decide(false, true),
    libpqWithRoot: decide(true, true),
  }).toEqual(verified)
})

test.each([
  { query: 'sslmode=requires', says: 'DATABASE_URL: sslmode=requires is unknown' },
  { query: 'sslrootcert=/nowhere/ca.pem', says: 'sslrootcert names a file that cannot be read (ENOENT): /nowhere' },
  { query: 'sslmode=require&sslcert=a.crt', says: 'sslcert and sslkey belong together' },
  { query: `sslrootcert=${import.meta.filename}`, says: 'sslrootcert must name a file in PEM format' },
])('rejects ?$query', ({ query, says }) => {
  expect(() => readTls(`postgres://u:hush@db/d?${query}`)).toThrow(says)
  expect(() => readTls(`postgres://u:hush@db/d?${query}`)).not.toThrow('hush')
})

test('leaves a URL without TLS parameters unchanged', () => {
  const url = 'postgres://u:p%25@db/d?application_name=a%20b'
  expect(readTls(url)).toEqual({ url })
})

const file = String.raw`# production
db.example.com:5432:waybill:app:first
*:*:waybill:ops:any host
localhost:5432:*:socket:by socket
db\:2:5432:waybill:app:colon
db:5432:back\\slash:app:a\:b\\c
db:5432:incomplete
db:5432:\*:app:asterisk
db:5432:waybill:app:with:colons
db:5432:waybill:app:second`

test.each([
  { host: 'db.example.com', password: 'first' },
  { host: 'elsewhere', user: 'ops', port: 6000, password: 'any host' },
  { host: '/var/run/postgresql', user: 'socket', database: 'x', password: 'by socket' },
  { host: 'db:2', password: 'colon' },
  { host: 'db', database: 'back\\slash', password: 'a:b\\c' },
  { host: 'db', database: '*', password: 'asterisk' },
  { host: 'db', password: 'with:colons' },
  { host: 'db', database: 'other', password: undefined },
  { host: 'db', user: 'App', password: undefined },
])('finds the password $password for $user at $host/$database', ({ password, ...owner }) => {
  expect(findPassword(file, { port: 5432, database: 'waybill', user: 'app', ...owner })).toBe(password)
})

describe('DATABASE_PASSWORD_COMMAND', () => {
  const environment = { PATH: process.env['PATH'] }

  test('runs without the secrets of Waybill', async () => {
    const { postgres } = readConfig({
      ...environment,
      WAYBILL_SECRET_KEY: secretKey,
      AWS_PROFILE: 'prod',
      DATABASE_PASSWORD_COMMAND: 'env',
    })

    const { text = '', environment: passed = {} } = postgres.passwordCommand ?? {}
    expect(await new PasswordCommand(text, passed).read()).toContain('AWS_PROFILE=prod')
    expect(await new PasswordCommand(text, passed).read()).not.toContain(secretKey)
  })

  test('removes only the last newline of the password', async () => {
    expect(await new PasswordCommand(`printf ' a b \\n\\n'`, environment).read()).toBe(' a b \n')
  })

  test.each([
    { command: 'echo hush; echo hush >&2; exit 3', says: 'ended with exit code 3. Run it in a shell' },
    { command: 'true', says: 'printed nothing' },
    { command: 'echo hush; sleep 60', says: 'did not end within 0.3 seconds', maxRunMilliseconds: 300 },
    { command: 'sleep 60 & echo hush', says: 'did not end within 0.3 seconds', maxRunMilliseconds: 300 },
    { command: 'yes hush', says: 'printed more than 64 KiB' },
    { command: 'waybill-has-no-such-program', says: 'ended with exit code 127' },
  ])('fails if the command is: $command', async ({ command, says, maxRunMilliseconds = 60_000 }) => {
    const failure = await new PasswordCommand(command, environment, { maxRunMilliseconds }).read().catch(String)

    expect(failure).toContain(`DATABASE_PASSWORD_COMMAND ${says}`)
    expect(failure).not.toContain('hush')
  })

  test('runs again once its password is too old or was rejected', async () => {
    const clock = `date +%s%N`
    const short = new PasswordCommand(clock, environment, { maxAgeMilliseconds: 0, minIntervalMilliseconds: 0 })
    expect(await short.read()).not.toBe(await short.read())

    const kept = new PasswordCommand(clock, environment, { minIntervalMilliseconds: 0 })
    const [first, second] = await Promise.all([kept.read(), kept.read()])
    expect(second).toBe(first)
    await kept.reject('another')
    expect(await kept.read()).toBe(first)
    await kept.reject(first)
    expect(await kept.read()).not.toBe(first)

    const often = new PasswordCommand(clock, environment, { minIntervalMilliseconds: 60_000 })
    const rejected = await often.read()
    await often.reject(rejected)
    expect(await often.read()).toBe(rejected)
  })
})

/** AuthenticationOk and ReadyForQuery of PostgreSQL's protocol. */
const ready = Buffer.from('5200000008000000005a0000000549', 'hex')

/** Accepts a connection, and resets it on its first statement. */
function acceptAndReset(socket: Socket): void {
  socket.once('data', () => {
    socket.write(ready)
    socket.once('data', () => socket.resetAndDestroy())
  })
  socket.on('error', () => {})
}

async function listen(handle: (socket: Socket) => void) {
  const server = createServer(handle).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return { server, port: address !== null && typeof address === 'object' ? address.port : 0 }
}

test('gives up a server that stops responding after it has accepted the connection', async () => {
  const sockets: Socket[] = []
  const { server, port } = await listen((socket) => {
    sockets.push(socket)
    socket.once('data', () => socket.write(ready))
  })
  const hosts = [{ host: '127.0.0.1', port }]
  const { server: writable } = connectionOptions({
    kind: 'postgres',
    url: `postgres://waybill@127.0.0.1:${port}/w`,
    hosts,
  })
  const search = writable instanceof WritableHost ? writable.find() : undefined

  const failure = await search?.catch((error: unknown) => error)

  expect(findConnectProblem(failure)?.message).toBe(
    `no host in DATABASE_URL accepts writes: 127.0.0.1:${port} did not respond within 2 seconds`,
  )
  await expect.poll(() => sockets.map(({ destroyed }) => destroyed)).toEqual([true])
  server.close()
})

test('fails a statement, not the process, if a new connection is reset before it can be used', async () => {
  const { server, port } = await listen(acceptAndReset)
  const url = `postgres://waybill@127.0.0.1:${port}/waybill`
  const db = openDatabase({ kind: 'postgres', url }, createLogger('fatal'))

  // Vitest fails the test for an error that nobody handles.
  await expect(sql`select 1`.execute(db)).rejects.toThrow(/ECONNRESET|terminated/)

  await db.destroy()
  server.close()
})

class Connection extends EventEmitter {
  readonly query: (text: string) => Promise<{ rows: unknown[] }>
  readonly release = vi.fn<() => void>()

  constructor(query: Connection['query']) {
    super()
    this.query = query
  }
}

test('a call that waits for a password uses a connection that is released in the meantime', async () => {
  const [first, password] = [Promise.withResolvers<{ rows: unknown[] }>(), Promise.withResolvers<void>()]
  const query = vi
    .fn<Connection['query']>()
    .mockReturnValueOnce(first.promise)
    .mockResolvedValue({ rows: [2] })
  const connect = vi.fn<() => Promise<Connection>>(() => Promise.resolve(new Connection(query)))
  const pool = Object.assign(new EventEmitter(), { connect, waitingCount: 0 })
  const prepare = vi.fn<() => Promise<void>>().mockResolvedValueOnce().mockReturnValue(password.promise)
  const passwords = { prepare, read: () => Promise.resolve('secret'), reject: () => Promise.resolve() }
  // The parts of a pool that are used.
  const shared = new SharedPool(pool as unknown as pg.Pool, () => Promise.resolve(), passwords, 1_000)

  const running = shared.run('select 1', [])
  await expect.poll(() => query).toHaveBeenCalledTimes(1)
  const waiting = shared.run('select 2', [])
  first.resolve({ rows: [1] })
  expect(await running).toEqual([1])
  password.resolve()

  expect(await waiting).toEqual([2])
  expect(connect).toHaveBeenCalledTimes(1)
  await shared.end()
})

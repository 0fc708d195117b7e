import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Kysely, sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PostgresConfig } from '../../../src/platform/config.ts'
import { openDatabase } from '../../../src/platform/db/database.ts'
import type { Database } from '../../../src/platform/db/schema.ts'
import { runHere } from '../../cli/run-command.ts'
import { type CertificateFiles, createAuthority, issueCertificate, writePrivate } from '../../support/certificate.ts'
import { adminUrl } from '../../support/database.ts'
import { run, type RunningPostgres, startPostgres } from '../../support/postgres.ts'
import { startServe } from '../../support/process.ts'

const rules = `
hostssl all with_cert all cert
hostssl all all all scram-sha-256
hostnossl all waybill all scram-sha-256
`
const secretKey = Buffer.alloc(32, 7).toString('base64')

async function withDatabase<Result>(
  config: Omit<PostgresConfig, 'kind'>,
  use: (db: Kysely<Database>) => Promise<Result>,
): Promise<Result> {
  const db = openDatabase({ kind: 'postgres', maxWaitSeconds: 60, ...config }, pino({ level: 'silent' }))
  try {
    return await use(db)
  } finally {
    await db.destroy()
  }
}

async function readSession(db: Kysely<Database>) {
  const { rows } = await sql<{ encrypted: boolean; client: string | null; name: string }>`
    select ssl as encrypted, client_dn as client, session_user as name
    from pg_stat_ssl where pid = pg_backend_pid()`.execute(db)
  return rows[0]
}

/** PostgreSQL like a managed service: TLS with a private certificate authority, which users must use. */
describe('a managed PostgreSQL', () => {
  let folder: string
  let postgres: RunningPostgres
  let ca: string
  let otherCa: string
  let client: CertificateFiles
  let foreignClient: CertificateFiles
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'waybill-managed-'))
    const authority = await createAuthority(folder, 'authority')
    const other = await createAuthority(folder, 'other')
    const server = await issueCertificate(authority, { folder, commonName: 'server', host: 'localhost' })
    client = await issueCertificate(authority, { folder, commonName: 'with_cert' })
    foreignClient = await issueCertificate(other, { folder, commonName: 'foreign' })
    ;[ca, otherCa] = [authority.cert, other.cert]
    postgres = await startPostgres({
      flags: ['-c', 'ssl=on', '-c', 'ssl_ca_file=ca.crt'],
      prepare: async (dataDir) => {
        await writePrivate(path.join(dataDir, 'server.crt'), await readFile(server.cert, 'utf8'))
        await writePrivate(path.join(dataDir, 'server.key'), await readFile(server.key, 'utf8'))
        await writePrivate(path.join(dataDir, 'ca.crt'), await readFile(ca, 'utf8'))
        await writePrivate(path.join(dataDir, 'pg_hba.conf'), rules)
      },
    })
    for (const user of ['rotated', 'with_cert']) await run(postgres.url, `create role ${user} login superuser`)
    await run(postgres.url, `alter role rotated password 'first'`)
  })
  afterAll(async () => {
    await postgres.stop()
    await rm(folder, { recursive: true })
  })

  function urlOf({ user = 'waybill', password = 'waybill', host = 'localhost', database = 'postgres', query = '' }) {
    const url = new URL(postgres.url)
    Object.assign(url, { username: user, password, hostname: host, pathname: `/${database}`, search: query })
    return url.href
  }

  test.each([
    { host: 'localhost', query: () => `?sslmode=verify-full&sslrootcert=${ca}`, encrypted: true },
    { host: 'localhost', query: () => `?sslrootcert=${ca}`, encrypted: true },
    { host: 'localhost', query: () => `?sslmode=require&sslrootcert=${ca}`, encrypted: true },
    { host: 'localhost', query: () => `?sslmode=require&sslrootcert=${ca}&sslnegotiation=direct`, encrypted: true },
    { host: '127.0.0.1', query: () => `?sslmode=verify-ca&sslrootcert=${ca}`, encrypted: true },
    { host: '127.0.0.1', query: () => '?sslmode=require&uselibpqcompat=true', encrypted: true },
    { host: '127.0.0.1', query: () => '?sslmode=no-verify', encrypted: true },
    { host: '127.0.0.1', query: () => '?sslmode=disable', encrypted: false },
    { host: '127.0.0.1', query: () => '', encrypted: false },
  ])('is reached at $host with $query', async ({ host, query, encrypted }) => {
    const session = await withDatabase({ url: urlOf({ host, query: query() }) }, readSession)
    expect(session).toMatchObject({ encrypted, client: null })
  })

  test('accepts a client certificate in place of a password', async () => {
    const query = `?sslmode=verify-full&sslrootcert=${ca}&sslcert=${client.cert}&sslkey=${client.key}`
    const session = await withDatabase({ url: urlOf({ user: 'with_cert', password: '', query }) }, readSession)
    expect(session).toEqual({ encrypted: true, client: '/CN=with_cert', name: 'with_cert' })
  })

  test.each(
    Object.entries({
      'a wrong password': {
        url: () => urlOf({ password: 'hushhush' }),
        says: 'PostgreSQL rejected the password of user "waybill". Check the password in DATABASE_URL',
      },
      'no password': {
        url: () => urlOf({ password: '' }),
        says: 'requires a password, and there is none for user "waybill". Put it into DATABASE_URL',
      },
      'an unknown host': {
        url: () => urlOf({ host: 'database.invalid' }),
        says: 'the host name "database.invalid" cannot be resolved. Check the host in DATABASE_URL',
      },
      'a server without TLS': {
        url: () => `${adminUrl()}?sslmode=require`,
        says: 'does not support TLS. Enable ssl in PostgreSQL, or set sslmode=disable',
      },
      'a certificate of an unknown authority': {
        url: () => urlOf({ query: '?sslmode=require' }),
        says: 'is not trusted. Add sslrootcert=FILE with the certificate authority of your provider',
      },
      'a certificate of another authority': {
        url: () => urlOf({ query: `?sslmode=verify-ca&sslrootcert=${otherCa}` }),
        says: 'is not trusted. Add sslrootcert=FILE',
      },
      'a certificate for another host name': {
        url: () => urlOf({ host: '127.0.0.1', query: `?sslmode=require&sslrootcert=${ca}` }),
        says: 'was issued for another host name. Use the host name of the certificate in DATABASE_URL',
      },
      'a missing database': {
        url: () => urlOf({ database: 'nowhere' }),
        says: 'Create it (CREATE DATABASE "nowhere"), or correct the name in DATABASE_URL',
      },
      'a user that needs TLS': {
        url: () => urlOf({ user: 'rotated', password: 'first' }),
        says: 'requires TLS. Add sslmode=verify-full to DATABASE_URL',
      },
      'a user that needs a client certificate': {
        url: () => urlOf({ user: 'with_cert', query: `?sslmode=require&sslrootcert=${ca}` }),
        says: 'requires a client certificate. Add sslcert=FILE and sslkey=FILE',
      },
      'a client certificate of another authority': {
        url: () => urlOf({ query: `?sslrootcert=${ca}&sslcert=${foreignClient.cert}&sslkey=${foreignClient.key}` }),
        says: 'Check sslcert, sslkey and sslrootcert in DATABASE_URL',
      },
      'a key of another certificate': {
        url: () => urlOf({ query: `?sslrootcert=${ca}&sslcert=${client.cert}&sslkey=${foreignClient.key}` }),
        says: 'Check sslcert, sslkey and sslrootcert in DATABASE_URL',
      },
    }),
  )('explains %s at the start', async (_problem, { url, says }) => {
    const environment = { DATABASE_URL: url(), WAYBILL_SECRET_KEY: secretKey, LOG_LEVEL: 'silent' }

    const { exitCode, stderr } = await runHere(['migrate'], environment)
    expect(exitCode).toBe(1)
    expect(stderr).toContain(says)
    expect(stderr).not.toContain('hushhush')
    expect(stderr.trim().split('\n')).toHaveLength(1)
    const doctor = JSON.parse((await runHere(['doctor', '--json'], environment)).stdout)
    expect(doctor).toMatchObject({ ok: false, findings: [{ check: 'database', ok: false }] })
    expect(says).toContain(doctor.findings[0].fix.slice(0, 20))
  })

  test.each([
    { query: () => `?sslmode=verify-full&sslrootcert=${ca}`, says: 'is reachable, over TLSv1.3' },
    { query: () => '', says: 'is reachable, without TLS' },
  ])('is reported by waybill doctor: $says', async ({ query, says }) => {
    const environment = { DATABASE_URL: urlOf({ query: query() }), WAYBILL_SECRET_KEY: secretKey }
    const { findings } = JSON.parse((await runHere(['doctor', '--json'], environment)).stdout)
    expect(findings[0]).toMatchObject({ check: 'database', ok: true, message: expect.stringContaining(says) })
  })

  test('explains a server that does not respond', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo // A TCP server always has an address of this type.
    const environment = { DATABASE_URL: `postgres://u:p@127.0.0.1:${port}/d`, WAYBILL_SECRET_KEY: secretKey }

    const { stderr } = await runHere(['migrate'], environment)
    expect(stderr).toContain(`127.0.0.1:${port} did not respond within 2 seconds. Check the host and port`)
    silent.close()
  })

  /** Ends the connections of a user, so that the next statement opens a new one. */
  async function changePassword(password: string): Promise<void> {
    await run(postgres.url, `alter role rotated password '${password}'`)
    await run(postgres.url, `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'rotated'`)
  }

  test('receives a new password from PGPASSFILE once it has changed', async () => {
    const file = path.join(folder, 'pgpass')
    const { port } = new URL(postgres.url)
    const write = (password: string) => writePrivate(file, `localhost:${port}:*:rotated:${password}\n`)
    await changePassword('first')
    await write('first')
    const url = urlOf({ user: 'rotated', password: '', query: `?sslrootcert=${ca}` })
    await withDatabase({ url, passwordFile: file }, async (db) => {
      expect(await readSession(db)).toMatchObject({ name: 'rotated' })

      await write('second')
      await changePassword('second')
      await expect.poll(() => readSession(db).catch(() => undefined)).toMatchObject({ name: 'rotated' })
    })

    await chmod(file, 0o644)
    const environment = { DATABASE_URL: url, WAYBILL_SECRET_KEY: secretKey, PGPASSFILE: file }
    expect((await runHere(['migrate'], environment)).stderr).toContain(
      `can be read by other users, so it is ignored. Run: chmod 600 ${file}`,
    )
    expect((await runHere(['migrate'], { ...environment, PGPASSFILE: '/nowhere' })).stderr).toContain(
      'PGPASSFILE names a file that cannot be read (ENOENT): /nowhere',
    )
  })

  test('receives a new password from a command once it rejects the old one', async () => {
    const [file, log] = [path.join(folder, 'token'), path.join(folder, 'runs')]
    await writePrivate(file, 'hush-1\n')
    await changePassword('hush-1')
    const command = `echo run >> ${log}; cat ${file}`
    const node = await startServe({
      DATABASE_URL: urlOf({ user: 'rotated', password: '', query: `?sslmode=verify-full&sslrootcert=${ca}` }),
      DATABASE_PASSWORD_COMMAND: command,
      WAYBILL_SECRET_KEY: secretKey,
      WAYBILL_DATA_DIR: path.join(folder, 'data'),
      LOG_LEVEL: 'trace',
    })
    const isReady = async () => (await node.get('/readyz')).statusCode
    const countRuns = async () => (await readFile(log, 'utf8')).split('\n').length - 1
    await expect.poll(isReady).toBe(200)
    expect(await countRuns()).toBe(1)

    await writePrivate(file, 'hush-2\n')
    await changePassword('hush-2')
    await expect.poll(async () => (await node.get('/api/v1/message/list', 'none')).statusCode).toBe(401)
    await expect.poll(isReady).toBe(200)
    expect(await countRuns()).toBeLessThan(5)

    node.kill('SIGTERM')
    expect(await node.exited).toMatchObject({ code: 0 })
    expect(node.output.join('\n')).not.toContain('hush-')
  })

  test('fails no statement if the password from a command has changed', async () => {
    const file = path.join(folder, 'changing')
    await writePrivate(file, 'third\n')
    await changePassword('third')
    const url = urlOf({ user: 'rotated', password: '', query: `?sslrootcert=${ca}` })
    const passwordCommand = { text: `cat ${file}`, environment: process.env }
    await withDatabase({ url, passwordCommand }, (db) =>
      db.connection().execute(async (first) => {
        // The command runs at most once a second.
        await sql`select pg_sleep(1.1)`.execute(first)
        await writePrivate(file, 'fourth\n')
        await run(postgres.url, `alter role rotated password 'fourth'`)

        // The only connection is in use, so another one is opened.
        expect(await readSession(db)).toMatchObject({ name: 'rotated' })
      }),
    )
  })

  test('receives the configured statement timeout, except for migrations', async () => {
    const config = { url: urlOf({}), statementTimeoutSeconds: 1, lockTimeoutSeconds: 1 }
    await withDatabase(config, async (db) => {
      await expect(sql`select pg_sleep(60)`.execute(db)).rejects.toMatchObject({ code: '57014' })
      const { rows } = await sql<{ lock: string }>`select current_setting('lock_timeout') as lock`.execute(db)
      expect(rows).toEqual([{ lock: '1s' }])
    })
  })
})

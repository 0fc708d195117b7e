import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { type Simulator, startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import { type RunningPostgres, startPostgres } from '../support/postgres.ts'
import { type ServeProcess, startServe } from '../support/process.ts'
import { environmentOf, createCustomer, openApp } from './customer.ts'
import { folderForTest } from '../support/lifetime.ts'

let simulator: Simulator
let silent: SilentServer
beforeAll(async () => {
  simulator = await startSimulator()
  silent = await startSilentServer()
})
afterAll(async () => {
  silent.stop()
  await simulator.stop()
})

interface SilentServer {
  url: string
  connections: number
  stop(): void
}

/** Accepts connections without responding, so that no TLS connection is made and no request is written. */
async function startSilentServer(): Promise<SilentServer> {
  const sockets: Socket[] = []
  const server = createServer((socket) => void sockets.push(socket.on('error', () => {})))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // A TCP server always has an address of this type.
  return {
    url: `https://127.0.0.1:${port}`,
    get connections() {
      return sockets.length
    },
    stop: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

function requestOf(reference: string) {
  return { ...sendMessage.example.input, to: '34600111222', externalId: reference }
}

function sendsOf(messageId: string | undefined): number {
  return simulator.requests.filter(({ body }) => JSON.stringify(body).includes(String(messageId))).length
}

/** Sends with a process that is killed before it connects to WhatsApp. */
async function dieBeforeWriting(environment: Record<string, string>, apiKey: string, reference: string): Promise<void> {
  const victim = await startServe({ ...environment, GRAPH_API_URL: silent.url })
  const before = silent.connections
  const lost = victim.send(apiKey, requestOf(reference), { 'idempotency-key': reference }).then(
    () => 'answered',
    () => 'lost',
  )
  await expect.poll(() => silent.connections, { interval: 5 }).toBeGreaterThan(before)
  victim.kill('SIGKILL')
  await victim.exited
  expect(await lost).toBe('lost')
}

async function expectRetryToSend(node: ServeProcess, apiKey: string, reference: string): Promise<void> {
  const retry = () => node.send(apiKey, requestOf(reference), { 'idempotency-key': reference })
  await expect.poll(async () => (await retry()).statusCode).toBe(200)
  const { body } = await retry()
  expect(sendsOf(body.data?.messageId)).toBe(1)
  const { text } = await node.get(`/api/v1/message?externalId=${reference}`, apiKey)
  const { items } = JSON.parse(text).data as { items: { status: string; error?: { message: string } }[] }
  expect(items).toMatchObject([
    { status: 'sent' },
    {
      status: 'failed',
      error: { message: expect.stringMatching(/^the service was interrupted before the message was sent\./) },
    },
  ])
}

async function stop(node: ServeProcess): Promise<void> {
  node.kill('SIGTERM')
  expect(await node.exited).toEqual({ code: 0, signal: null })
}

describe('on PostgreSQL', () => {
  let postgres: RunningPostgres
  let environment: Record<string, string>
  let apiKey: string
  let app: ReturnType<typeof openApp>
  beforeAll(async () => {
    postgres = await startPostgres()
    environment = environmentOf(postgres.url, simulator)
    app = openApp(environment)
    ;({ apiKey } = await createCustomer(app, simulator))
  })
  afterAll(async () => {
    await app.close()
    await postgres.stop()
  })

  test('releases unsent messages of a killed process on the next start', async () => {
    await dieBeforeWriting(environment, apiKey, 'next-start')
    const successor = await startServe(environment)
    await expectRetryToSend(successor, apiKey, 'next-start')
    await stop(successor)
  })

  test('lets another running process release unsent messages', async () => {
    const sibling = await startServe(environment)
    await dieBeforeWriting(environment, apiKey, 'sibling')
    await expectRetryToSend(sibling, apiKey, 'sibling')
    await stop(sibling)
  })

  test('releases a message whose insert commits after its process was killed', async () => {
    const patient = { ...environment, DATABASE_LOCK_TIMEOUT: '8s' }
    const [victim, sibling] = await Promise.all([startServe(patient), startServe(environment)])
    const blocker = new pg.Client({ connectionString: postgres.url })
    await blocker.connect()
    await blocker.query('begin')
    await blocker.query('lock table messages in exclusive mode')
    const lost = victim.send(apiKey, requestOf('late'), { 'idempotency-key': 'late' }).catch(() => 'lost')
    await expect.poll(countWaiting, { interval: 20 }).toBe(1)
    victim.kill('SIGKILL')
    expect(await lost).toBe('lost')

    // PostgreSQL does not notice that the process is gone.
    expect(await countWaiting()).toBe(1)
    await blocker.query('rollback')
    await blocker.end()

    await expectRetryToSend(sibling, apiKey, 'late')
    await stop(sibling)
  })

  async function countWaiting(): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*)::integer as count from pg_stat_activity
      where application_name = 'waybill' and wait_event_type = 'Lock' and query like '%record_%pending%'`.execute(
      app.deps.db,
    )
    return rows[0]?.count ?? 0
  }

  test('keeps a message pending if its process was killed after writing the request', async () => {
    const request = { ...requestOf('written'), to: '15559000003' }
    const victim = await startServe(environment)
    const lost = victim.send(apiKey, request, { 'idempotency-key': 'written' }).catch(() => 'lost')
    await expect.poll(() => sendsOf('+15559000003')).toBe(1)
    victim.kill('SIGKILL')
    expect(await lost).toBe('lost')
    await dieBeforeWriting(environment, apiKey, 'beside-written')

    const successor = await startServe(environment)
    await expectRetryToSend(successor, apiKey, 'beside-written')
    const { rows } = await sql<{ status: string }>`
      select status from messages where external_id = 'written'`.execute(app.deps.db)
    expect(rows).toEqual([{ status: 'pending' }])
    expect((await successor.send(apiKey, request, { 'idempotency-key': 'written' })).body.error?.code).toBe(
      'IDEMPOTENCY_KEY_IN_USE',
    )
    await stop(successor)
  })

  test('serves without a journal and logs the reason once', async () => {
    const node = await startServe({ ...environment, WAYBILL_DATA_DIR: '/dev/null/none' })
    expect((await node.send(apiKey, requestOf('without'))).statusCode).toBe(200)
    expect(node.output.filter((line) => line.includes('could not open the journals'))).toHaveLength(1)
    await stop(node)
  })
})

test('releases unsent messages of a killed process with the embedded database', async () => {
  const dataDir = await folderForTest()
  const environment = { WAYBILL_DATA_DIR: dataDir, GRAPH_API_URL: simulator.url }
  const setUp = openApp(environment)
  const { apiKey } = await createCustomer(setUp, simulator)
  await setUp.close()

  await dieBeforeWriting(environment, apiKey, 'embedded')
  const successor = await startServe(environment)
  await expectRetryToSend(successor, apiKey, 'embedded')
  await stop(successor)
})

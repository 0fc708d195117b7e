import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import type { App } from '../../src/app.ts'
import { type Simulator, startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import { type RunningPostgres, startPostgres } from '../support/postgres.ts'
import { startServe } from '../support/process.ts'
import { startStandby } from '../support/standby.ts'
import { createCustomer, environmentOf, openApp } from './customer.ts'

const clients = 8
const example = sendMessage.example.input

let primary: RunningPostgres
let simulator: Simulator
let app: App | undefined
let apiKey: string
let accountId: string
beforeAll(async () => {
  primary = await startPostgres()
  simulator = await startSimulator()
  const first = openApp(environmentOf(primary.url, simulator))
  ;({ apiKey, accountId } = await createCustomer(first, simulator))
  await first.close()
})
afterAll(async () => {
  await app?.close()
  await simulator.stop()
  await primary.stop()
})

/** The address that stays the same when another server becomes the primary, as a provider's host name does. */
async function startAddress(to: string): Promise<{ url: string; leadTo(url: string): void; stop(): void }> {
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
  return {
    url: url.href,
    leadTo: (other) => {
      target = new URL(other)
      cut()
    },
    stop: () => {
      server.close()
      cut()
    },
  }
}

test('loses no acknowledged message if a synchronous standby is promoted under load', async () => {
  const standby = await startStandby(primary, { isSynchronous: true })
  const address = await startAddress(primary.url)
  const node = await startServe(environmentOf(address.url, simulator))
  /** By external ID: what the response promised. */
  const acknowledged = new Map<string, string>()
  const keys = new Set<string>()
  const over = new AbortController()

  /** Sends one message after the other, and repeats each with its key until it is acknowledged. */
  async function sendContinuously(client: number): Promise<void> {
    for (let number = 0; !over.signal.aborted; number++) {
      const externalId = `failover-${client}-${number}`
      keys.add(externalId)
      // WhatsApp receives the variables, which tell what it received twice.
      const body = { ...example, variables: { ...example.variables, '1': externalId }, externalId }
      for (let tries = 0; tries < 100 && !acknowledged.has(externalId); tries++) {
        const answer = await node.send(apiKey, body, { 'idempotency-key': externalId }).catch(() => undefined)
        if (answer?.statusCode === 200) acknowledged.set(externalId, answer.body.data?.messageId ?? '')
        // Whether it was sent is unknown for certain, so the message is given up.
        else if (answer?.body.error?.code === 'SEND_OUTCOME_UNKNOWN') break
        else await delay(100)
        if (over.signal.aborted) break
      }
    }
  }
  const load = Promise.all(Array.from({ length: clients }, (_, client) => sendContinuously(client)))
  await expect.poll(() => acknowledged.size).toBeGreaterThan(100)

  process.kill(await primary.readPid(), 'SIGKILL')
  await primary.pause()
  const before = acknowledged.size
  await standby.promote()
  address.leadTo(standby.url)
  await expect.poll(() => acknowledged.size, { timeout: 30_000 }).toBeGreaterThan(before + 100)
  over.abort()
  await load

  const { deps } = (app = openApp(environmentOf(standby.url, simulator)))
  const stored = () =>
    deps.db
      .selectFrom('messages')
      .select(['id', 'external_id', 'status'])
      .where('account_id', '=', accountId)
      .where('external_id', 'like', 'failover-%')
      .execute()
  // The outcomes of sends that the failover interrupted are stored a moment later.
  await expect
    .poll(async () => {
      const statuses = new Map((await stored()).map(({ id, status }) => [id, status]))
      return [...acknowledged.values()].filter((id) => statuses.get(id) !== 'sent')
    })
    .toEqual([])
  const received = simulator.requests.flatMap(({ body }) => /failover-\d+-\d+/.exec(JSON.stringify(body)) ?? [])
  expect(received.toSorted()).toEqual([...new Set(received)].toSorted())
  expect([...acknowledged.keys()].filter((externalId) => !received.includes(externalId))).toEqual([])
  console.log(
    `${before} messages were acknowledged before the failover, ${acknowledged.size - before} after it; ${keys.size - acknowledged.size} requests were not.`,
  )

  node.kill('SIGTERM')
  expect(await node.exited).toMatchObject({ code: 0 })
  address.stop()
  await standby.stop()
})

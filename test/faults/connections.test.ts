import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import type { App } from '../../src/app.ts'
import { type Simulator, startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import { type RunningPostgres, startPostgres } from '../support/postgres.ts'
import { type ServeProcess, startServe } from '../support/process.ts'
import { environmentOf, createCustomer, openApp } from './customer.ts'

const metricsToken = 'fault-test-metrics-token'

let postgres: RunningPostgres
let simulator: Simulator
let environment: Record<string, string>
let app: App
let apiKey: string
let otherKey: string
beforeAll(async () => {
  postgres = await startPostgres()
  simulator = await startSimulator()
  environment = { ...environmentOf(postgres.url, simulator), METRICS_TOKEN: metricsToken }
  app = openApp(environment)
  ;({ apiKey } = await createCustomer(app, simulator))
  simulator.addPhoneNumber({ phoneNumberId: '999000111222333', wabaId: simulator.wabaId, accessToken: 'other' })
  ;({ apiKey: otherKey } = await createCustomer(
    app,
    Object.assign(Object.create(simulator), { phoneNumberId: '999000111222333', accessToken: 'other' }),
  ))
})
afterAll(async () => {
  await app.close()
  await simulator.stop()
  await postgres.stop()
})

function open(node: ServeProcess): Socket {
  return connect(Number(new URL(node.url).port), '127.0.0.1').on('error', () => {})
}

async function readAtWork(node: ServeProcess): Promise<string> {
  const response = await fetch(`${node.url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })
  return /^waybill_http_requests_at_work (.*)$/m.exec(await response.text())?.[1] ?? 'missing'
}

/** Each connection sends 376 KB of requests and reads no responses. */
function openSilent(node: ServeProcess): Socket[] {
  const read = `GET /api/v1/template?limit=100 HTTP/1.1\r\nHost: x\r\nX-API-Key: ${apiKey}\r\n\r\n`
  return [1, 2, 3].map(() => {
    const socket = open(node).pause()
    socket.write(read.repeat(Math.ceil(376_000 / read.length)))
    return socket
  })
}

test('serves other clients and shuts down despite three clients that read no responses', async () => {
  const node = await startServe(environment)
  const silent = openSilent(node)
  // Scalar's file fills the kernel buffers of a client that does not read.
  const unread = open(node).pause()
  unread.write('GET /docs/scalar.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(64))
  for (let n = 0; n < 20; n++) expect((await node.send(otherKey, sendMessage.example.input)).statusCode).toBe(200)
  await expect.poll(() => readAtWork(node)).toBe('0')

  node.kill('SIGTERM')
  expect(await node.exited).toEqual({ code: 0, signal: null })
  for (const socket of [...silent, unread]) socket.destroy()
})

test('shuts down although a client never finishes its request', async () => {
  const node = await startServe(environment)
  const socket = open(node)
  socket.write('POST /api/v1/message/send HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Le')
  await expect.poll(() => socket.bytesWritten).toBeGreaterThan(0)
  node.kill('SIGTERM')
  expect(await node.exited).toEqual({ code: 0, signal: null })
  socket.destroy()
})

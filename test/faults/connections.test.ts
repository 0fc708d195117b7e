import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { type ServeProcess, startServe } from '../support/process.ts'
import { createCustomer } from './customer.ts'
import { openScene } from './scene.ts'

const metricsToken = 'fault-test-metrics-token'

const { simulator, environment, app, apiKey } = await openScene({ METRICS_TOKEN: metricsToken })
const other = { phoneNumberId: '999000111222333', wabaId: simulator.wabaId, accessToken: 'other' }
simulator.addPhoneNumber(other)
const { apiKey: otherKey } = await createCustomer(app, other)

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

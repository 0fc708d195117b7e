import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { request } from 'undici'
import { expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { signCallback } from '../../src/whatsapp/callbacks/signature.ts'
import { startServe } from '../support/process.ts'
import { forFile } from '../support/lifetime.ts'
import { openScene } from './scene.ts'

const appSecret = 'attack-test-app-secret'
const metricsToken = 'attack-test-metrics-token'
const wellFormed = `sha256=${'0'.repeat(64)}`
const mebibyte = 1024 * 1024

const { simulator, environment, apiKey } = await openScene({ META_APP_SECRET: appSecret, METRICS_TOKEN: metricsToken })
const node = await startServe({ ...environment, NODE_OPTIONS: '--max-old-space-size=512' })
await forFile({
  close: () => {
    node.kill('SIGKILL')
    return node.exited
  },
})

function post(body: Buffer, signature = wellFormed): Promise<number> {
  return request(`${node.url}/webhooks/whatsapp`, {
    method: 'POST',
    headers: { 'x-hub-signature-256': signature },
    body,
  }).then(async ({ statusCode, body: response }) => {
    await response.dump()
    return statusCode
  })
}

/** CPU time and peak memory of the process so far. */
async function usage(): Promise<{ cpuMilliseconds: number; peakBytes: number }> {
  const [stat, status] = await Promise.all([
    readFile(`/proc/${node.pid}/stat`, 'utf8'),
    readFile(`/proc/${node.pid}/status`, 'utf8'),
  ])
  // After the name in parentheses, fields 12 and 13 count hundredths of a second (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const peak = /VmHWM:\s+(\d+) kB/.exec(status)?.[1]
  return { cpuMilliseconds: (Number(fields[11]) + Number(fields[12])) * 10, peakBytes: Number(peak) * 1024 }
}

/** A million of the values that are most expensive to parse, in only 3 MB. */
const million = Buffer.from(`{"entry":[{"id":1,"changes":[${'{},'.repeat(999_999)}{}]}]}`)

test.each([
  { what: 'a million empty changes', body: million },
  { what: 'numbers in place of ids', body: Buffer.alloc(3 * mebibyte, '"id":1,') },
  { what: 'endless ids', body: Buffer.alloc(3 * mebibyte, `"id":${'1'.repeat(40)}`) },
])('uses little CPU for twenty unsigned callbacks of 3 MB: $what', async ({ body }) => {
  // Warms up the code, so that the first run is not counted.
  expect(await post(body)).toBe(401)
  const before = await usage()
  const responses = []
  for (let count = 0; count < 20; count++) responses.push(await post(body))
  const after = await usage()
  expect(responses).toEqual(Array.from({ length: 20 }, () => 401))
  // One takes 5 to 8 ms alone; here, other work of the process counts too. Parsing one takes 200 ms, reading it 2 s.
  expect((after.cpuMilliseconds - before.cpuMilliseconds) / 20).toBeLessThan(100)
  expect(after.peakBytes - before.peakBytes).toBeLessThan(100 * mebibyte)
})

// As many as may be held of one address at once: further ones could be rejected with 503.
test('serves sends during sixteen unsigned callbacks with a million changes each', async () => {
  const before = await usage()
  const attack = Promise.all(Array.from({ length: 16 }, () => post(million)))
  const sent = await node.send(apiKey, sendMessage.example.input)
  expect(sent.statusCode).toBe(200)
  expect(await attack).toEqual(Array.from({ length: 16 }, () => 401))
  const after = await usage()
  expect(after.cpuMilliseconds - before.cpuMilliseconds).toBeLessThan(2_000)
  // Sixteen bodies of 3 MB.
  expect(after.peakBytes - before.peakBytes).toBeLessThan(200 * mebibyte)
})

test('stops reading a body that arrives in one-byte chunks', async () => {
  const before = await usage()
  const socket = await openConnection('127.0.0.1')
  socket.write(headers('Transfer-Encoding: chunked'))
  socket.write('1\r\n{\r\n'.repeat(3_000_000))
  expect(await firstLineOf(socket)).toContain('413')
  socket.destroy()
  expect((await usage()).cpuMilliseconds - before.cpuMilliseconds).toBeLessThan(1_000)
})

const addresses = Array.from({ length: 10 }, (_, index) => `127.0.0.${index + 1}`)

test.each([
  { what: '80 slow connections from one address', count: 80, from: addresses.slice(0, 1), start: 1 },
  {
    what: '80 connections from one address that stall after a megabyte',
    count: 80,
    from: addresses.slice(0, 1),
    start: mebibyte,
  },
  { what: '800 slow connections from ten addresses', count: 800, from: addresses, start: 1 },
])('accepts genuine callbacks during $what', async ({ count, from, start }) => {
  const sockets = await Promise.all(
    Array.from({ length: count }, (_, index) => openConnection(from[index % from.length] ?? '')),
  )
  for (const socket of sockets) {
    socket.write(headers('Content-Length: 3000000'))
    socket.write(Buffer.alloc(start, ' '))
  }
  const trickle = setInterval(() => sockets.forEach((socket) => socket.writable && socket.write(' ')), 100)
  // Waits until the server holds their bodies.
  await expect.poll(countHeld).toBeGreaterThan(0)
  try {
    const small = Buffer.from(JSON.stringify(callback(1)))
    const large = Buffer.from(JSON.stringify(callback(12_000)))
    expect(large.length).toBeGreaterThan(mebibyte)
    const genuine = Array.from({ length: 144 }, (_, index) => (index % 36 === 0 ? large : small))
    const responses = await Promise.all(genuine.map((body) => post(body, signCallback(body, appSecret))))
    expect(responses).toEqual(genuine.map(() => 200))
  } finally {
    clearInterval(trickle)
    for (const socket of sockets) socket.destroy()
  }
})

test('aborts a slow body after a few seconds', async () => {
  const socket = await openConnection('127.0.0.1')
  socket.write(headers('Content-Length: 3000000'))
  socket.write(' ')
  expect(await firstLineOf(socket)).toContain('408')
  socket.destroy()
  await expect.poll(countHeld).toBe(0)
})

async function openConnection(localAddress: string): Promise<Socket> {
  const socket = connect({ port: Number(new URL(node.url).port), host: '127.0.0.1', localAddress })
  // The tests expect the server to close the connection.
  socket.on('error', () => undefined)
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  return socket
}

function headers(length: string): string {
  return `POST /webhooks/whatsapp HTTP/1.1\r\nHost: x\r\nX-Hub-Signature-256: ${wellFormed}\r\n${length}\r\n\r\n`
}

function firstLineOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', (data) => resolve(data.toString().split('\r\n', 1)[0] ?? ''))
    socket.once('close', () => resolve('closed'))
  })
}

async function countHeld(): Promise<number> {
  const { body } = await request(`${node.url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })
  return Number(/^waybill_whatsapp_callback_bytes_held (\d+)/m.exec(await body.text())?.[1])
}

/** Statuses of unknown messages. */
function callback(statuses: number): object {
  const value = {
    metadata: { phone_number_id: simulator.phoneNumberId },
    statuses: Array.from({ length: statuses }, (_, index) => ({
      id: `wamid.nobody-sent-this-message-${index}`,
      status: 'delivered',
      timestamp: '1800000000',
      recipient_id: '34600111222',
    })),
  }
  return { entry: [{ id: simulator.wabaId, changes: [{ field: 'messages', value }] }] }
}

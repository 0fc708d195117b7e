import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { deliveryFailures } from '../../../contracts/facts/deliveries.ts'
import { createWebhookSender } from '../../../src/webhooks/sender/sender.ts'
import type { AttemptResult, WebhookSender } from '../../../src/webhooks/sender/webhook-sender.ts'
import { forFile } from '../../support/lifetime.ts'

/** The packets that the receiver writes for each request. It then keeps the connection open, unless the last is `closes`. */
let response: (string | Buffer)[] = []
const closes = 'CLOSE'
const payload = '{}'
const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

const sockets = new Set<Socket>()
const server = await forFile(
  createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    socket.on('data', (chunk: Buffer) => {
      if (chunk.toString().endsWith(payload)) void write(socket)
    })
  }),
)
let sender: WebhookSender

server.listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
beforeEach(() => {
  sender = createWebhookSender({ timeoutSeconds: 60, allowPrivate: true })
})
afterEach(async () => {
  await sender.close()
  for (const socket of sockets) socket.destroy()
  sockets.clear()
})

/** Each part is a packet of its own. */
async function write(socket: Socket): Promise<void> {
  socket.setNoDelay(true)
  for (const part of response) {
    if (part === closes) socket.end()
    else await new Promise((resolve) => socket.write(part, resolve))
    await nextTurn()
  }
}

function attempt(by = sender): Promise<AttemptResult> {
  const secrets = [`whsec_${'c2VjcmV0'.repeat(4)}`]
  return by.attempt({ url, headers: {}, eventId: 'evt_1', payload, secrets, timestamp: new Date() })
}

test.each([
  { says: '100 Continue', before: ['HTTP/1.1 100 Continue\r\n\r\n'] },
  { says: '100 Continue with headers', before: ['HTTP/1.1 100 Continue\r\nServer: jetty\r\nVia: 1.1 proxy\r\n\r\n'] },
  { says: '100 Continue without a reason', before: ['HTTP/1.1 100\r\n\r\n'] },
  { says: '100 Continue twice', before: ['HTTP/1.1 100 Continue\r\n\r\n'.repeat(2)] },
  { says: '100 Continue in two packets', before: ['HTTP/1.1 1', '00 Continue\r\n\r\n'] },
  { says: '102 Processing', before: ['HTTP/1.1 102 Processing\r\n\r\n'] },
  { says: '103 Early Hints', before: ['HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n'] },
  { says: '100, 102 and 103', before: [100, 102, 103].map((status) => `HTTP/1.1 ${status} X\r\n\r\n`) },
  { says: 'an unassigned 199', before: ['HTTP/1.1 199 X\r\n\r\n'] },
])('skips $says before a response', async ({ before }) => {
  response = [...before, ok]
  expect(await attempt()).toMatchObject({ outcome: 'delivered', statusCode: 200, responseStart: 'ok' })

  response = [...before, 'HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n']
  expect(await attempt()).toMatchObject({ outcome: 'failed', error: 'HTTP 500' })
})

test.each([
  { says: 'a line that is no header', text: 'HTTP/1.1 200 OK\r\nnonsense\r\nContent-Length: 2\r\n\r\nok' },
  { says: 'a header name with a space', text: 'HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n' },
  { says: 'a NUL in a header', text: 'HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n' },
  { says: 'two different lengths', text: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok' },
  { says: 'a list of lengths', text: 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok' },
  { says: 'a negative length', text: 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nok' },
  { says: 'an endless length', text: `HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(30)}\r\n\r\nok` },
  {
    says: 'a length of a chunked body',
    text: `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n`,
  },
  { says: 'lines that end in LF', text: 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok' },
  { says: 'status 099', text: 'HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n' },
  { says: 'a status of four digits', text: 'HTTP/1.1 1000 X\r\nContent-Length: 0\r\n\r\n' },
  { says: 'an unknown version', text: 'HTTP/9.9 200 OK\r\nContent-Length: 2\r\n\r\nok' },
  { says: 'a page without a status', text: '<html>ok</html>' },
  { says: 'the settings of HTTP/2', text: Buffer.from('000006040000000000000300000064', 'hex') },
  { says: 'an alert of TLS', text: Buffer.from('15030300020228', 'hex') },
  { says: 'another protocol', text: 'HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n' },
  { says: 'another protocol without its name', text: 'HTTP/1.1 101 Switching Protocols\r\n\r\n' },
  { says: 'a body of 100 Continue', text: `HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nhello${ok}` },
])('fails the attempt if the response has $says', async ({ text }) => {
  response = [text]
  expect(await attempt()).toMatchObject({ outcome: 'failed', error: deliveryFailures.notHttp() })

  response = [ok]
  expect(await attempt()).toMatchObject({ outcome: 'delivered' })
})

const incomplete = deliveryFailures.incompleteResponse()

test.each([
  { says: 'nothing', parts: [closes], error: deliveryFailures.connectionLost() },
  {
    says: 'half of the headers',
    parts: ['HTTP/1.1 200 OK\r\nContent-Le', closes],
    error: deliveryFailures.connectionLost(),
  },
  {
    says: 'only 100 Continue',
    parts: ['HTTP/1.1 100 Continue\r\n\r\n', closes],
    error: deliveryFailures.connectionLost(),
  },
  { says: 'half of the body', parts: ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok', closes], error: incomplete },
  {
    says: 'half of a chunk',
    parts: ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nok', closes],
    error: incomplete,
  },
  {
    says: 'a chunk without a size',
    parts: ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n'],
    error: incomplete,
  },
  {
    says: '5,000 headers',
    parts: [`HTTP/1.1 200 OK\r\n${'name: value\r\n'.repeat(5000)}\r\n`],
    error: deliveryFailures.headersTooLarge(),
  },
  {
    says: '100 Continue with 5,000 headers',
    parts: [`HTTP/1.1 100 Continue\r\n${'name: value\r\n'.repeat(5000)}\r\n`],
    error: deliveryFailures.headersTooLarge(),
  },
])('fails the attempt if the receiver sends $says', async ({ parts, error }) => {
  response = parts
  expect(await attempt()).toMatchObject({ outcome: 'failed', error })

  response = [ok]
  expect(await attempt()).toMatchObject({ outcome: 'delivered' })
})

test.each([
  { says: 'only 100 Continue', part: 'HTTP/1.1 100 Continue\r\n\r\n' },
  { says: 'half of a chunk', part: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nok' },
])('times out if the receiver sends $says and stays silent', async ({ part }) => {
  response = [part]
  const impatient = createWebhookSender({ timeoutSeconds: 1, allowPrivate: true })
  expect(await attempt(impatient)).toMatchObject({ outcome: 'failed', error: deliveryFailures.timedOut() })
  await impatient.close()
})

test('reads a response that follows another as none of the next attempt', async () => {
  response = [`HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n${ok}`]
  expect(await attempt()).toMatchObject({ outcome: 'failed', error: 'HTTP 500' })
  expect(await attempt()).toMatchObject({ outcome: 'failed', error: 'HTTP 500' })
})

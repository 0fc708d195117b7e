import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { previewMessage, sendMessage } from '../../contracts/api/message.ts'
import { startHeldNode } from '../support/held-node.ts'
import { forFile } from '../support/lifetime.ts'
import { jpeg, writeForm } from '../support/media-files.ts'
import { openSocket } from '../support/raw-socket.ts'
import { readAtWork, startTestServer, type TestServer, through, nodeForTest } from '../support/server.ts'

const server = await forFile(startTestServer())
const account = await server.account()

function get(path: string, apiKey: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${apiKey}\r\n\r\n`
}

function preview(apiKey: string): string {
  const body = JSON.stringify(previewMessage.example.input)
  return `POST ${previewMessage.path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

function statusesOf(responses: string): string[] {
  return [...responses.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status ?? '')
}

test('responds to 64 pipelined requests in order, rejects the next one and closes the connection', async () => {
  const { node, hold, held, release } = await startHeldNode(server)
  hold()
  const socket = openSocket(node.url)
  const responses = text(socket)
  socket.write(preview(account.apiKey).repeat(80))
  await expect.poll(held).toBeGreaterThan(0)
  release()

  const received = await responses
  expect(statusesOf(received)).toEqual([...Array.from({ length: 64 }, () => '200'), '503'])
  const rejection = received.slice(received.lastIndexOf('HTTP/1.1'))
  expect(rejection).toMatch(/^connection: close/im)
  expect(rejection).toContain('SERVICE_UNAVAILABLE')
})

test('reads pipelined bodies only as fast as it handles them', async () => {
  const { node, hold, held, release } = await startHeldNode(server)
  // More than Node buffers for a request that nobody reads.
  const body = JSON.stringify({ unknown: 'x'.repeat(24 * 1024) })
  const request = preview(account.apiKey).replace(
    /Content-Length[^]*$/,
    `Content-Length: ${body.length}\r\n\r\n${body}`,
  )
  hold()
  const socket = openSocket(node.url)
  const count = 80
  let responses = ''
  socket.on('data', (data) => (responses += data.toString()))
  socket.write(request.repeat(count))
  await expect.poll(held).toBeGreaterThan(0)
  release()

  // If it had read them all, it would have rejected those beyond 64.
  await expect.poll(() => statusesOf(responses)).toEqual(Array.from({ length: count }, () => '400'))
  socket.destroy()
})

test('serves others while clients pipeline requests without reading, and frees their slots', async () => {
  const node = await nodeForTest(server)
  const other = await server.account()
  // More than the kernel buffers for a client that does not read.
  const request = get('/api/v1/template?limit=100', account.apiKey)
  const silent = [1, 2, 3].map(() => openSocket(node.url).pause())
  for (const socket of silent) socket.write(request.repeat(Math.ceil(376_000 / request.length)))
  await Promise.all(silent.map((socket) => once(socket, 'connect')))

  const caller = through(node, other)
  for (let n = 0; n < 20; n++)
    expect((await caller.post('/api/v1/message/send', sendMessage.example.input)).statusCode).toBe(200)
  await expect.poll(() => readAtWork(node)).toBe('0')
  for (const socket of silent) socket.destroy()
  await expect.poll(() => readAtWork(node)).toBe('0')
})

test('frees the slots of pipelined requests when their client disconnects', async () => {
  const { node, hold, held, release } = await startHeldNode(server)
  hold()
  const socket = openSocket(node.url)
  socket.write(preview(account.apiKey).repeat(30))
  await expect.poll(held).toBeGreaterThan(0)
  // The other requests of the connection wait for these four.
  await expect.poll(() => readAtWork(node)).toBe('4')
  socket.resetAndDestroy()
  await expect.poll(() => readAtWork(node)).toBe('0')
  release()
})

test.each([
  { what: 'a preview', request: () => preview(account.apiKey) },
  { what: 'a preview without a key', request: () => preview('') },
  {
    what: 'a callback',
    request: () =>
      `POST /webhooks/whatsapp HTTP/1.1\r\nHost: x\r\nX-Hub-Signature-256: sha256=${'0'.repeat(64)}\r\nContent-Length: 2\r\n\r\n{}`,
  },
])('logs no error if a client disconnects right after sending $what', async ({ request }) => {
  const node = await startTestServer({ beside: server })
  const sockets = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const socket = openSocket(node.url)
      await once(socket, 'connect')
      return socket
    }),
  )
  for (const socket of sockets) {
    socket.write(request())
    socket.resetAndDestroy()
  }
  // The server accepts connections in their order, so it has accepted theirs before it answers this request.
  await expect.poll(() => readAtWork(node)).toBe('0')
  // Resolves when every connection and its requests have ended.
  await node.close()
  expect(node.log.filter((line) => line.includes('"level":"error"'))).toEqual([])
})

/** Resolves when the server closes the connection of a client that reads nothing. */
async function stall(node: TestServer): Promise<void> {
  const socket = openSocket(node.url).pause()
  // A quarter of a gigabyte; the kernel buffers only a few megabytes for a client that does not read.
  socket.write('GET /docs/scalar.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(64))
  const isClosed = () => {
    // A client that does not read notices the close only by writing.
    socket.write('\r\n')
    return socket.destroyed
  }
  await expect.poll(isClosed).toBe(true)
}

test('closes the connection of a client that reads nothing but not one that waits for a slow response', async () => {
  const { node, hold, held, release } = await startHeldNode(server, { stallMilliseconds: 300 })
  const patient = openSocket(node.url)
  hold()
  patient.write(preview(account.apiKey))
  await expect.poll(held).toBeGreaterThan(0)

  await stall(node)
  release()
  const [response] = (await once(patient, 'data')) as [Buffer]
  expect(response.toString()).toMatch(/^HTTP\/1\.1 200/)
  patient.destroy()
})

test('rejects a body that arrives too slowly, and closes the connection', async () => {
  const node = await nodeForTest(server, { server: { arrivalMilliseconds: 300 } })
  const socket = openSocket(node.url)
  const response = text(socket)
  socket.write(preview(account.apiKey).slice(0, -5))

  expect(await response).toMatch(
    /^HTTP\/1\.1 503 [^]*Retry-After: 1\r\n[^]*SERVICE_UNAVAILABLE[^]*did not arrive in time[^]*Nothing was stored or sent/,
  )
})

test('answers headers that arrive too slowly, but not a connection on which nothing arrives', async () => {
  const node = await nodeForTest(server, { server: { arrivalMilliseconds: 300 } })
  const slow = openSocket(node.url)
  slow.write('GET /healthz HTTP/1.1\r\n')
  // As browsers and proxies open in advance. They would take an answer for that to their next request.
  const [answer, nothing] = await Promise.all([text(slow), text(openSocket(node.url))])

  expect(answer).toMatch(/^HTTP\/1\.1 503 [^]*did not arrive in time/)
  expect(nothing).toBe('')
})

test('sends nothing for a request whose body is completed after its rejection', async () => {
  const node = await nodeForTest(server, { server: { arrivalMilliseconds: 300 } })
  const { hostname, port } = new URL(node.url)
  // The client keeps its side open when the server closes its own.
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  socket.on('error', () => {})
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const request = preview(account.apiKey).replace('/message/preview', '/message/send')
  socket.write(request.slice(0, -5))
  await once(socket, 'data')

  socket.write(request.slice(-5))

  // Writing to a connection that the server has closed resets it.
  const writing = setInterval(() => socket.write(' '), 100)
  await closed
  clearInterval(writing)
  expect((await account.get('/api/v1/message')).json().data['items']).toEqual([])
})

test.each([
  { what: 'a body that is too large', path: '/api/v1/message/send', status: 413 },
  { what: 'a body that is too large, over HTTP/1.0', path: '/api/v1/message/send', version: '1.0', status: 413 },
  { what: 'a chunked body that is too large', path: '/api/v1/message/send', length: 'chunked', status: 413 },
  { what: 'a large tRPC call', path: '/trpc/message.send', status: 413 },
  { what: 'a large MCP call', path: '/mcp', status: 413 },
  { what: 'a large callback without a signature', path: '/webhooks/whatsapp', status: 401 },
  { what: 'a large upload', path: '/api/v1/media/upload', type: 'multipart/form-data; boundary=b', status: 401 },
  { what: 'an unknown route', path: '/api/v1/unknown', status: 404 },
  { what: 'a repeated header', path: '/api/v1/message/send', headers: 'X-API-Key: again\r\n', status: 400 },
] as {
  what: string
  path: string
  version?: string
  length?: string
  type?: string
  headers?: string
  status: number
}[])(
  'sends the response for $what to a client that is still sending and closes the connection',
  async ({ path, version = '1.1', length, type = 'application/json', headers = '', status }) => {
    const body = Buffer.alloc(16 * 1024 * 1024, ' ')
    const socket = openSocket(server.url)
    const response = text(socket)
    const framing = length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`
    socket.write(
      `POST ${path} HTTP/${version}\r\nHost: x\r\nX-API-Key: wrong\r\n${headers}Content-Type: ${type}\r\nConnection: close\r\n${framing}\r\n\r\n`,
    )
    if (length === 'chunked') socket.write(`${body.length.toString(16)}\r\n`)
    // The error of a closed connection would make the client lose the response.
    socket.write(body)
    if (length === 'chunked') socket.write('\r\n0\r\n\r\n')

    expect(statusesOf(await response)).toEqual([String(status)])
  },
)

test('does not extend the body timeout for other methods on the upload path', async () => {
  const node = await nodeForTest(server, { server: { arrivalMilliseconds: 300 } })
  const socket = openSocket(node.url)
  const response = text(socket)
  socket.write('PUT /api/v1/media/upload HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{')

  // Resolves when the connection closes.
  expect(await response).toMatch(/^HTTP\/1\.1 405 /)
})

test('closes without waiting for an upload whose client has stopped sending', async () => {
  const node = await startTestServer({ beside: server, server: { silenceMilliseconds: 100 } })
  const { body, contentType } = writeForm([{ name: 'file', content: jpeg(100_000), filename: 'photo.jpg' }])
  const head = `POST /api/v1/media/upload HTTP/1.1\r\nHost: x\r\nX-API-Key: ${account.apiKey}\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`
  const [silent, slow] = [openSocket(node.url), openSocket(node.url)]
  const responses = [text(silent), text(slow)]
  for (const socket of [silent, slow]) socket.write(Buffer.concat([Buffer.from(head), body.subarray(0, 1_000)]))
  const { spoolDir } = node.deps.media.limits
  await expect.poll(() => readdir(spoolDir).catch(() => [])).toHaveLength(2)
  let sent = 1_000
  const sending = setInterval(() => slow.write(body.subarray(sent, (sent += 1))), 10)

  const closed = node.close()
  const ended = await responses[0]
  clearInterval(sending)
  slow.write(body.subarray(sent))

  expect(ended).toMatch(/^HTTP\/1\.1 503 [^]*SERVICE_UNAVAILABLE[^]*shutting down/)
  expect(await responses[1]).toMatch(/^HTTP\/1\.1 200 /)
  await closed
})

test('closes without waiting for headers whose client has stopped sending', async () => {
  const node = await startTestServer({ beside: server, server: { silenceMilliseconds: 100 } })
  const socket = openSocket(node.url)
  const responses = text(socket)
  socket.write(`${get('/healthz', '')}POST /api/v1/message/send HTTP/1.1\r\nHost: x\r\nContent-Le`)
  await once(socket, 'readable')

  await node.close()

  expect(statusesOf(await responses)).toEqual(['200', '503'])
  expect(await responses).toContain('shutting down')
})

test('closes without waiting for a request on a connection that was opened in advance', async () => {
  const node = await startTestServer({ beside: server, server: { silenceMilliseconds: 100 } })
  const socket = openSocket(node.url)
  await once(socket, 'connect')

  await Promise.all([once(socket.resume(), 'close'), node.close()])

  expect(socket.bytesRead).toBe(0)
})

test('allows an upload more time for its body than other requests', async () => {
  const node = await nodeForTest(server, { server: { arrivalMilliseconds: 100 } })
  const { body, contentType } = writeForm([{ name: 'file', content: jpeg(), filename: 'photo.jpg' }])
  const upload = openSocket(node.url)
  const response = text(upload)
  upload.write(
    `POST /api/v1/media/upload HTTP/1.1\r\nHost: x\r\nX-API-Key: ${account.apiKey}\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`,
  )
  upload.write(body.subarray(0, 100))
  // Another request that starts at the same time ends first.
  const slow = openSocket(node.url)
  const rejected = text(slow)
  slow.write(preview(account.apiKey).slice(0, -5))
  expect(await rejected).toContain('did not arrive in time')

  upload.write(body.subarray(100))
  expect(await response).toMatch(/^HTTP\/1\.1 200/)
})

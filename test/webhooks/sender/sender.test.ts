import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { Webhook } from 'standardwebhooks'
import { afterEach, expect, test, vi } from 'vitest'
import { deliveryFailures } from '../../../contracts/facts/deliveries.ts'
import type { Fact } from '../../../contracts/facts/fact.ts'
import { explainAttemptError } from '../../../src/webhooks/sender/attempt.ts'
import { createWebhookSender } from '../../../src/webhooks/sender/sender.ts'
import type { AttemptRequest } from '../../../src/webhooks/sender/webhook-sender.ts'
import { createAuthority, issueCertificate, testCertificate } from '../../support/certificate.ts'
import { folderForTest, forFile, forTest } from '../../support/lifetime.ts'
import { accept, respond, neverRespond, startWebhookReceiver } from '../../support/webhook-receiver.ts'

/** Longer than an attempt takes on any machine. */
const timeoutSeconds = 60
const secret = `whsec_${randomBytes(24).toString('base64')}`

const receiver = await forFile(startWebhookReceiver())
const sender = await forFile(createWebhookSender({ timeoutSeconds, allowPrivate: true }))
const impatient = await forFile(createWebhookSender({ timeoutSeconds: 1, allowPrivate: true }))
afterEach(() => {
  receiver.behave(accept)
  vi.unstubAllEnvs()
})

const toThisMachine = () => Promise.resolve(['127.0.0.1'])

function requestTo(url: string, changes: Partial<AttemptRequest> = {}): AttemptRequest {
  return {
    url,
    headers: {},
    eventId: 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3',
    payload: '{"type":"message.read","name":"Zoë"}',
    secrets: [secret],
    timestamp: new Date(),
    ...changes,
  }
}

test('sends a signed POST that a standard verifier accepts', async () => {
  const result = await sender.attempt(requestTo(`${receiver.url}/hook?a=b`, { headers: { 'X-Api-Key': 'k1' } }))

  expect(result).toMatchObject({ outcome: 'delivered', statusCode: 200, responseStart: 'ok' })
  expect(result.error).toBeUndefined()
  const received = receiver.at('/hook?a=b').at(-1)
  expect(received?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-api-key': 'k1',
    'webhook-id': 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3',
  })
  expect(received?.headers['user-agent']).toMatch(/^Waybill\/\d/)
  const headers = received?.headers as Record<string, string>
  expect(new Webhook(secret).verify(received?.body ?? '', headers)).toEqual({ type: 'message.read', name: 'Zoë' })
})

test('does not let endpoint headers override reserved headers', async () => {
  const headers = {
    Host: 'evil.example',
    'Content-Length': '1',
    'Transfer-Encoding': 'chunked',
    'Webhook-Signature': 'v1,forged',
    'Content-Type': 'text/plain',
    'USER-AGENT': 'x',
    'X-Mine': 'yes',
  }
  expect(await sender.attempt(requestTo(`${receiver.url}/headers`, { headers }))).toMatchObject({
    outcome: 'delivered',
  })
  const received = receiver.at('/headers')[0]
  expect(received?.headers).toMatchObject({
    host: new URL(receiver.url).host,
    'content-type': 'application/json',
    'x-mine': 'yes',
  })
  expect(received?.headers['webhook-signature']).not.toContain('forged')
})

test.each([
  { status: 200, result: { outcome: 'delivered' } },
  { status: 204, result: { outcome: 'delivered' } },
  { status: 301, result: { outcome: 'failed', error: 'HTTP 301' } },
  { status: 307, result: { outcome: 'failed', error: 'HTTP 307' } },
  { status: 400, result: { outcome: 'failed', error: 'HTTP 400' } },
  { status: 410, result: { outcome: 'gone', error: 'HTTP 410' } },
  { status: 500, result: { outcome: 'failed', error: 'HTTP 500' } },
])('treats HTTP $status as $result.outcome', async ({ status, result }) => {
  receiver.behave(respond(status, { location: `${receiver.url}/elsewhere` }))
  expect(await sender.attempt(requestTo(receiver.url))).toMatchObject({ ...result, statusCode: status })
  expect(receiver.at('/elsewhere')).toEqual([])
})

test("converts Retry-After to seconds, whatever the receiver's clock", async () => {
  receiver.behave(respond(503, { 'retry-after': '120' }))
  expect(await sender.attempt(requestTo(receiver.url))).toMatchObject({ retryAfterSeconds: 120 })

  receiver.behave(
    respond(429, { date: 'Fri, 20 Nov 2026 12:10:00 GMT', 'retry-after': 'Fri, 20 Nov 2026 12:11:30 GMT' }),
  )
  expect(await sender.attempt(requestTo(receiver.url))).toMatchObject({ retryAfterSeconds: 90 })
})

test('stores the start of a response as printable text', async () => {
  receiver.behave(
    (_received, response) => void response.writeHead(500).end(Buffer.from([0, 27, 91, 50, 74, 255, 10, 65])),
  )
  expect(await sender.attempt(requestTo(receiver.url))).toMatchObject({ responseStart: '\ufffd\ufffd[2J\ufffd\nA' })

  receiver.behave((_received, response) => void response.writeHead(500).end('x'.repeat(5000)))
  expect((await sender.attempt(requestTo(receiver.url))).responseStart).toBe('x'.repeat(1024))
})

test('times out a receiver that never responds', async () => {
  receiver.behave(neverRespond)
  const result = await impatient.attempt(requestTo(receiver.url))
  expect(result).toMatchObject({ outcome: 'failed', error: deliveryFailures.timedOut() })
  expect(result.statusCode).toBeUndefined()
  expectDeadline(result.durationMilliseconds)
})

test('times out a response whose body arrives slowly', async () => {
  // Long enough for the headers on a busy machine.
  const sender = await forTest(createWebhookSender({ timeoutSeconds: 5, allowPrivate: true }))
  receiver.behave((_received, response) => {
    response.writeHead(200)
    const drip = setInterval(() => response.write('.'), 50)
    response.on('close', () => clearInterval(drip))
  })
  const result = await sender.attempt(requestTo(receiver.url))
  expect(result).toMatchObject({ outcome: 'failed', error: deliveryFailures.timedOut(), statusCode: 200 })
  expect(result.durationMilliseconds).toBeGreaterThanOrEqual(4_900)
})

test('times out a response whose headers arrive slowly', async () => {
  const { url, close } = await startTcp((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const drip = setInterval(() => socket.write('X-A: b\r\n'), 50)
    socket.on('close', () => clearInterval(drip))
  })
  const result = await impatient.attempt(requestTo(url))
  expect(result).toMatchObject({ outcome: 'failed', error: deliveryFailures.timedOut() })
  expectDeadline(result.durationMilliseconds)
  await close()
})

test('times out an endless series of 1xx responses', async () => {
  const { url, close } = await startTcp((socket) => {
    const drip = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\nX-A: b\r\n\r\n'), 20)
    socket.on('close', () => clearInterval(drip))
  })
  expect(await impatient.attempt(requestTo(url))).toMatchObject(failedWith(deliveryFailures.timedOut()))
  await close()
})

test.each([
  { what: 'of 1xx responses', start: '', repeat: 'HTTP/1.1 103 Early Hints\r\nX-A: b\r\n\r\n' },
  { what: 'of 100 Continue', start: '', repeat: 'HTTP/1.1 100 Continue\r\n\r\n' },
  { what: 'of empty lines', start: '', repeat: '\r\n' },
  { what: 'in the status line', start: 'HTTP/1.1 200 ', repeat: 'x' },
])('rejects a flood $what before the timeout', async ({ start, repeat }) => {
  const { url, close } = await startTcp((socket) => flood(socket, start, repeat))
  expect(await sender.attempt(requestTo(url))).toMatchObject(failedWith(deliveryFailures.headersTooLarge()))
  await close()
})

test('rejects a flood in the framing of a body before the timeout', async () => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;'
  const { url, close } = await startTcp((socket) => flood(socket, head, 'x'))
  expect(await sender.attempt(requestTo(url))).toMatchObject({
    outcome: 'failed',
    statusCode: 200,
    error: deliveryFailures.incompleteResponse(),
  })
  await close()
})

test('limits the bytes of each response, not of a connection', async () => {
  receiver.behave((_received, response) => void response.writeHead(200).end('x'.repeat(15_000)))
  for (let sent = 0; sent < 100; sent++)
    expect(await sender.attempt(requestTo(receiver.url))).toMatchObject({ outcome: 'delivered' })
})

test('reads only the start of an endless response and closes the connection', async () => {
  let written = 0
  const dropped = Promise.withResolvers<void>()
  receiver.behave((_received, response) => {
    response.writeHead(200)
    const chunk = Buffer.alloc(64 * 1024, 'x')
    const write = () => {
      while (!response.destroyed && response.write(chunk)) written += chunk.length
    }
    response.on('drain', write)
    response.on('close', dropped.resolve)
    write()
  })
  const result = await sender.attempt(requestTo(receiver.url))
  await dropped.promise
  expect(result).toMatchObject({ outcome: 'delivered', statusCode: 200 })
  // Only what the sockets of both sides buffer.
  expect(written).toBeLessThan(16 * 1024 * 1024)
})

test('does not decompress a response', async () => {
  const bomb = gzipSync(Buffer.alloc(10 * 1024 * 1024))
  receiver.behave((_received, response) => void response.writeHead(500, { 'content-encoding': 'gzip' }).end(bomb))
  const result = await sender.attempt(requestTo(receiver.url))
  expect(result).toMatchObject({ outcome: 'failed', error: 'HTTP 500' })
  expect(result.responseStart?.length).toBeLessThanOrEqual(1024)
})

test('fails if the receiver closes the connection early', async () => {
  receiver.behave((_received, _response, request) => void request.socket.destroy())
  expect(await sender.attempt(requestTo(receiver.url))).toMatchObject(failedWith(deliveryFailures.connectionLost()))

  receiver.behave((_received, response, request) => {
    response.writeHead(200, { 'content-length': '100' }).write('short', () => request.socket.destroy())
  })
  expect(await sender.attempt(requestTo(receiver.url))).toMatchObject(failedWith(deliveryFailures.incompleteResponse()))
})

test('reports invalid HTTP and headers that are too large', async () => {
  const rude = await startTcp((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n\r\n'))
  expect(await sender.attempt(requestTo(rude.url))).toMatchObject(failedWith(deliveryFailures.notHttp()))
  await rude.close()

  receiver.behave(respond(200, { 'x-large': 'x'.repeat(20_000) }))
  expect(await sender.attempt(requestTo(receiver.url))).toMatchObject(failedWith(deliveryFailures.headersTooLarge()))
})

test('reports a refused connection and an unresolvable host', async () => {
  const { url, close } = await startTcp(() => {})
  await close()
  expect(await sender.attempt(requestTo(url))).toMatchObject(failedWith(deliveryFailures.connectionRefused()))
  expect(await sender.attempt(requestTo('http://nowhere.invalid/'))).toMatchObject(
    failedWith(deliveryFailures.unusableHost()),
  )
})

test('verifies TLS certificates and host names', async () => {
  const server = createTlsServer(testCertificate, (_request, response) => response.end('ok')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const resolve = toThisMachine
  const options = { timeoutSeconds: 5, allowPrivate: true }
  const trusting = createWebhookSender(options, { resolve, ca: testCertificate.cert })
  const wary = createWebhookSender(options, { resolve })

  expect(await trusting.attempt(requestTo(`https://${testCertificate.host}:${port}/`))).toMatchObject({
    outcome: 'delivered',
  })
  expect(await wary.attempt(requestTo(`https://${testCertificate.host}:${port}/`))).toMatchObject(
    failedWith(deliveryFailures.certificateNotTrusted()),
  )
  expect(await trusting.attempt(requestTo(`https://other.example:${port}/`))).toMatchObject(
    failedWith(deliveryFailures.certificateOfAnotherHost()),
  )
  expect(await trusting.attempt(requestTo(`https://127.0.0.1:${new URL(receiver.url).port}/`))).toMatchObject(
    failedWith(deliveryFailures.notSecure()),
  )
  await trusting.close()
  await wary.close()
  server.closeAllConnections()
  server.close()
})

const day = 24 * 60 * 60 * 1000
const faultyServers: { what: string; options?: ServerOptions; validFrom?: number; error: Fact }[] = [
  {
    what: 'a server without TLS 1.2',
    options: { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    error: deliveryFailures.outdatedTls(),
  },
  { what: 'a server without HTTP/1.1', options: { ALPNProtocols: ['h2'] }, error: deliveryFailures.noHttp1() },
  {
    what: 'a server that requires a client certificate, with TLS 1.2',
    options: { requestCert: true, maxVersion: 'TLSv1.2' },
    error: deliveryFailures.handshakeRejected(),
  },
  {
    what: 'a server that requires a client certificate, with TLS 1.3',
    options: { requestCert: true, minVersion: 'TLSv1.3' },
    error: deliveryFailures.handshakeRejected(),
  },
  { what: 'an expired certificate', validFrom: -10 * day, error: deliveryFailures.certificateExpired() },
  { what: 'a future certificate', validFrom: 10 * day, error: deliveryFailures.certificateNotYetValid() },
]

test.each(faultyServers)('names the problem of $what', async ({ options, validFrom = -day, error }) => {
  const folder = await folderForTest()
  const authority = await createAuthority(folder, 'authority')
  const { host } = testCertificate
  const issued = { folder, commonName: 'receiver', host, validFrom: Date.now() + validFrom }
  const files = await issueCertificate(authority, issued)
  const [cert, key, ca] = [readFileSync(files.cert), readFileSync(files.key), readFileSync(authority.cert, 'utf8')]
  const server = createTlsServer({ ...options, cert, key }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const trusting = createWebhookSender({ timeoutSeconds: 5, allowPrivate: true }, { resolve: toThisMachine, ca })

  expect(await trusting.attempt(requestTo(`https://${host}:${port}/`))).toMatchObject(failedWith(error))

  await trusting.close()
  server.close()
})

test.each(['UNSPECIFIED', 'INVALID_CA', 'INVALID_PURPOSE', 'PATH_LENGTH_EXCEEDED'])(
  'explains that a certificate is not trusted: %s',
  (code) => {
    const error = Object.assign(new Error('CA signature digest algorithm too weak'), { code })
    expect(explainAttemptError(error)).toEqual(deliveryFailures.certificateNotTrusted())
  },
)

const notAllowed = failedWith(deliveryFailures.unusableHost())

test('does not connect to a host if any of its addresses is private', async () => {
  const { port, connections, close } = await startTcp(() => {})
  for (const addresses of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['::ffff:127.0.0.1'], ['fe80::1%lo']]) {
    const strict = createWebhookSender(
      { timeoutSeconds, allowPrivate: false },
      { resolve: () => Promise.resolve(addresses) },
    )
    expect(await strict.attempt(requestTo(`https://rebound.example:${port}/`))).toMatchObject(notAllowed)
    await strict.close()
  }
  expect(connections()).toBe(0)
  await close()
})

test('does not connect to an address other than the checked one', async () => {
  const { port, connections, close } = await startTcp(() => {})
  let lookups = 0
  // Returns our address on every second query, like a DNS rebinding server.
  const resolve = () => Promise.resolve(lookups++ % 2 === 0 ? ['192.0.2.1'] : ['127.0.0.1'])
  const strict = createWebhookSender({ timeoutSeconds, allowPrivate: false }, { resolve })
  const results = await Promise.all(
    Array.from({ length: 6 }, () => strict.attempt(requestTo(`https://rebound.example:${port}/`))),
  )
  for (const result of results) expect(result).toMatchObject(notAllowed)
  expect(connections()).toBe(0)
  await strict.close()
  await close()
})

test.each(['https://127.0.0.1/', 'https://[::1]/', 'https://0x7f.1/', 'https://localhost/', 'http://example.com/'])(
  'stops sending to the existing endpoint %s when its address is no longer allowed',
  async (url) => {
    const strict = createWebhookSender({ timeoutSeconds, allowPrivate: false })
    expect(await strict.attempt(requestTo(url))).toMatchObject({ error: deliveryFailures.addressNotAllowed() })
    await strict.close()
  },
)

test('sends to a private host that the operator listed, over http, and to no other private address', async () => {
  const { port } = new URL(receiver.url)
  const listing = createWebhookSender(
    { timeoutSeconds, allowPrivate: false, privateHosts: ['orders.lan'] },
    { resolve: toThisMachine },
  )
  expect(await listing.attempt(requestTo(`http://orders.lan:${port}/`))).toMatchObject({ outcome: 'delivered' })
  expect(await listing.attempt(requestTo(`https://rebound.example:${port}/`))).toMatchObject(notAllowed)
  expect(await listing.attempt(requestTo(`http://127.0.0.1:${port}/`))).toMatchObject(
    failedWith(deliveryFailures.addressNotAllowed()),
  )
  expect(await listing.check('http://orders.lan/')).toBe('allowed')
  expect(await listing.check('https://orders.internal/')).toBe('refused')
  await listing.close()
})

test('ignores proxy environment variables', async () => {
  const { url: proxy, connections, close } = await startTcp((socket) => socket.end())
  for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) vi.stubEnv(name, proxy)
  vi.stubEnv('NODE_USE_ENV_PROXY', '1')
  const own = createWebhookSender({ timeoutSeconds, allowPrivate: true })
  expect(await own.attempt(requestTo(receiver.url))).toMatchObject({ outcome: 'delivered' })
  expect(connections()).toBe(0)
  await own.close()
  await close()
})

test('fails only the attempt if a header cannot be sent', async () => {
  expect(await sender.attempt(requestTo(receiver.url, { headers: { 'X-A': 'a\r\nX-B: b' } }))).toMatchObject(
    failedWith(deliveryFailures.unusableRequest()),
  )
})

function failedWith(error: Fact): object {
  return { outcome: 'failed', error }
}

function expectDeadline(milliseconds: number): void {
  // Timers may fire a little early.
  expect(milliseconds).toBeGreaterThanOrEqual(980)
}

/** Writes as fast as the other side reads. */
function flood(socket: Socket, start: string, repeat: string): void {
  socket.write(start)
  const chunk = repeat.repeat(Math.ceil(16_384 / repeat.length))
  const write = () => {
    while (!socket.destroyed && socket.write(chunk)) continue
  }
  socket.on('drain', write)
  write()
}

/** A server that writes arbitrary bytes after the first data it receives. */
async function startTcp(
  speak: (socket: Socket) => void,
): Promise<{ url: string; port: number; connections: () => number; close: () => Promise<void> }> {
  const sockets = new Set<Socket>()
  let connections = 0
  const server: Server = createTcpServer((socket) => {
    connections += 1
    sockets.add(socket.on('error', () => {}))
    socket.once('data', () => speak(socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    connections: () => connections,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

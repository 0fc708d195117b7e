import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { type IncomingMessage, METHODS, request, STATUS_CODES } from 'node:http'
import { text } from 'node:stream/consumers'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { updateAccount } from '../../../src/accounts/account.ts'
import { sendMessage } from '../../../contracts/api/message.ts'
import { type ErrorCode, errors } from '../../../contracts/errors.ts'
import { askRaw, openSocket } from '../../support/raw-socket.ts'
import { nodeForTest, startTestServer, type TestResponse, through } from '../../support/server.ts'
import { forFile } from '../../support/lifetime.ts'

const path = '/api/v1/message/send'

const server = await forFile(startTestServer())
const account = await server.account()

function post(body: string | Buffer, headers: Record<string, string> = {}, to = path): Promise<TestResponse> {
  return server.request('POST', to, {
    headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json', ...headers },
    body,
  })
}

function expectFailure(response: TestResponse, code: ErrorCode): void {
  expect(response.json()).toMatchObject({ success: false, error: { code, message: expect.any(String) } })
  expect(response.statusCode).toBe(errors[code].status)
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(response.headers['x-request-id']).toMatch(/^req_/)
}

const good = JSON.stringify(sendMessage.example.input)
const bodies: { what: string; body: string | Buffer }[] = [
  { what: 'no body', body: '' },
  { what: 'broken JSON', body: '{"to": "346' },
  { what: 'a list', body: '[]' },
  { what: 'null', body: 'null' },
  { what: 'a string', body: '"hello"' },
  { what: 'NaN', body: 'NaN' },
  { what: 'invalid UTF-8', body: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]) },
  { what: 'deep nesting', body: '['.repeat(30_000) + ']'.repeat(30_000) },
  { what: 'deep nesting in a field', body: `{"to":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}` },
  { what: '__proto__', body: `{"__proto__":{"to":"34600111222"},${good.slice(1)}` },
  { what: 'constructor', body: `{"constructor":{"prototype":{}},${good.slice(1)}` },
  {
    what: 'wrong types',
    body: '{"to":[],"template":{},"language":true,"variables":"x","externalId":1,"accountId":null}',
  },
  { what: 'a NUL in a name', body: JSON.stringify({ ...sendMessage.example.input, template: 'a\u0000b' }) },
  { what: 'a lone surrogate', body: good.replace('order_shipped', '\\ud800') },
  { what: 'a number too large', body: '{"to":1e999}' },
]

test.each(bodies)('responds to $what with VALIDATION_ERROR', async ({ body }) => {
  expectFailure(await post(body), 'VALIDATION_ERROR')
})

test('responds to a huge body with PAYLOAD_TOO_LARGE', async () => {
  expectFailure(await post(good.replace('order_shipped', 'x'.repeat(70_000))), 'PAYLOAD_TOO_LARGE')
})

test.each([
  { what: 'the first half of an emoji', field: 'externalId', text: 'parcel \\ud83d' },
  { what: 'the second half of an emoji', field: 'externalId', text: '\\ude00 parcel' },
  { what: 'halves in the wrong order', field: 'template', text: '\\ude00\\ud83d' },
])('names the field that contains $what', async ({ field, text }) => {
  const body = JSON.stringify({ ...sendMessage.example.input, [field]: '#' }).replace('"#"', `"${text}"`)
  const { error } = (await post(body)).json()
  expect(error.message).toMatch(new RegExp(`^${field}: must not contain half of a surrogate pair`))
})

test.each([
  ['{"1":"Ada","2":"\\ud83d"}', /^variables\.2: must not contain half of a surrogate pair/],
  ['{"1":"Ada","2":"x","__proto__":"y"}', /^variables: must not contain the name __proto__/],
])('rejects the variables %s', async (variables, says) => {
  const body = JSON.stringify({ ...sendMessage.example.input, variables: '#' }).replace('"#"', variables)
  const response = await post(body)
  expectFailure(response, 'VALIDATION_ERROR')
  expect(response.json().error.message).toMatch(says)
})

const smileys = '\u{1f600}'.repeat(60)

test.each([
  { what: 'a half that is quoted', variables: '{"\\ud83d":5}' },
  { what: 'an emoji where the name is cut', variables: `{"a${smileys}":5}` },
  { what: 'both', variables: `{"a${smileys}\\ud83d":"x"}` },
])('names a field in whole characters: $what', async ({ variables }) => {
  const body = JSON.stringify({ ...sendMessage.example.input, variables: '#' }).replace('"#"', variables)
  const response = await post(body)
  expectFailure(response, 'VALIDATION_ERROR')
  expect(response.text).not.toMatch(/\\ud[89a-f]/)
})

test('accepts a whole emoji in escapes', async () => {
  const body = JSON.stringify({ ...sendMessage.example.input, externalId: '#' }).replace('"#"', '"\\ud83d\\ude00"')
  expect((await post(body)).json().data).toMatchObject({ externalId: '😀' })
})

test('rejects half of a surrogate pair over tRPC and MCP', async () => {
  const input = JSON.stringify({ ...sendMessage.example.input, externalId: '#' }).replace('"#"', '"\\ud83d"')
  await updateAccount(server.deps, account.accountId, { mcpEnabled: true })
  const trpc = await post(input, {}, '/trpc/message.send')
  expect(trpc.statusCode).toBe(400)
  const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"message_send","arguments":${input.slice(0, -1)},"idempotencyKey":"half"}}}`
  const mcp = await post(call, { accept: 'application/json, text/event-stream' }, '/mcp')
  for (const { text } of [trpc, mcp]) expect(text).toContain('half of a surrogate pair')
})

test('uses the last of duplicate keys, like JSON.parse', async () => {
  expectFailure(await post(`${good.slice(0, -1)},"to":"+1"}`), 'VALIDATION_ERROR')
})

test.each<{ headers: Record<string, string> }>([
  { headers: { 'content-type': 'text/plain' } },
  { headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  { headers: { 'content-type': 'application/json; charset=latin1' } },
  { headers: { 'content-type': 'application/jsonp' } },
  { headers: { 'content-type': 'nonsense' } },
  { headers: { 'content-encoding': 'gzip' } },
])('rejects $headers as an unsupported media type', async ({ headers }) => {
  expectFailure(await post(good, headers), 'UNSUPPORTED_MEDIA_TYPE')
})

const call = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
const doors = [
  { to: path, body: good },
  { to: '/trpc/message.send', body: good },
  { to: '/trpc/message.send,message.send?batch=1', body: `{"0":${good},"1":${good}}` },
  { to: '/settings/trpc/member.list', body: '{}' },
  { to: '/mcp', body: call },
]
const compressed: { as: string; encoding: string; pack: (body: Buffer) => Buffer }[] = [
  { as: 'gzip', encoding: 'gzip', pack: (body) => gzipSync(body) },
  { as: 'gzip under its old name', encoding: 'x-gzip', pack: (body) => gzipSync(body) },
  { as: 'Brotli', encoding: 'br', pack: (body) => brotliCompressSync(body) },
  { as: 'deflate', encoding: 'deflate', pack: (body) => deflateSync(body) },
  { as: 'zstd', encoding: 'zstd', pack: (body) => zstdCompressSync(body) },
  { as: 'gzip and Brotli', encoding: 'gzip, br', pack: (body) => brotliCompressSync(gzipSync(body)) },
  { as: 'gzip that is cut off', encoding: 'gzip', pack: (body) => gzipSync(body).subarray(0, 20) },
  { as: 'gzip of 50 MB', encoding: 'gzip', pack: () => gzipSync(Buffer.alloc(50_000_000)) },
  { as: 'plain JSON that is said to be gzip', encoding: 'gzip', pack: (body) => body },
]

test.each(doors.flatMap((door) => compressed.map((packed) => ({ ...door, ...packed }))))(
  'sends nothing for a body at $to in $as, and does not unpack it',
  async ({ to, body, encoding, pack }) => {
    await updateAccount(server.deps, account.accountId, { mcpEnabled: true })
    const response = await post(pack(Buffer.from(body)), { 'content-encoding': encoding }, to)
    expect({ status: response.statusCode, text: response.text }).toEqual({
      status: 415,
      text: expect.stringContaining('The request body must not be compressed: send it without Content-Encoding.'),
    })
  },
)

test.each(doors)('reads bytes at $to that are compressed without saying so as broken JSON', async ({ to, body }) => {
  expect((await post(gzipSync(body), {}, to)).statusCode).toBe(400)
})

test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
  'accepts %s as JSON',
  async (type) => {
    expect((await post(good, { 'content-type': type })).statusCode).toBe(200)
  },
)

test.each([
  '/api',
  '/api/',
  '/api/v1',
  '/api/v2/message/send',
  '/api/v1/message/send/',
  '/api/v1//message',
  '/api/v1/messages',
  '/nowhere',
])('returns 404 for %s', async (url) => {
  expectFailure(await server.request('GET', url), 'NOT_FOUND')
})

test.each([
  { method: 'GET', url: '/api/v1/message/preview/x', code: 'NOT_FOUND' as const, allow: undefined },
  { method: 'PUT', url: path, code: 'METHOD_NOT_ALLOWED' as const, allow: 'POST' },
  { method: 'GET', url: path, code: 'METHOD_NOT_ALLOWED' as const, allow: 'POST' },
  { method: 'GET', url: '/api/v1/message/%73end?x=1', code: 'METHOD_NOT_ALLOWED' as const, allow: 'POST' },
  { method: 'GET', url: '/api/v1/message/preview', code: 'METHOD_NOT_ALLOWED' as const, allow: 'POST' },
  { method: 'GET', url: '/api/v1/message/sent', code: 'MESSAGE_NOT_FOUND' as const, allow: undefined },
  { method: 'DELETE', url: '/api/v1/message', code: 'METHOD_NOT_ALLOWED' as const, allow: 'GET, HEAD' },
  { method: 'OPTIONS', url: '/api/v1/template', code: 'METHOD_NOT_ALLOWED' as const, allow: 'GET, HEAD' },
  { method: 'PATCH', url: '/api/v1/message/msg_1', code: 'METHOD_NOT_ALLOWED' as const, allow: 'GET, HEAD' },
])('responds to $method $url with $code', async ({ method, url, code, allow }) => {
  const response = await server.request(method, url, { headers: { 'x-api-key': account.apiKey } })
  expectFailure(response, code)
  expect(response.headers['allow']).toBe(allow)
})

test('rejects a HEAD request to a POST path with 405 and Allow', async () => {
  const response = await server.request('HEAD', path)

  expect(response.statusCode).toBe(405)
  expect(response.headers['allow']).toBe('POST')
})

// CONNECT requests a tunnel, so it has no path.
const otherMethods = METHODS.filter((method) => !['CONNECT', 'GET', 'HEAD', 'POST'].includes(method))

test.each(otherMethods)('rejects %s with 405 and Allow for any body', async (method) => {
  for (const headers of [undefined, { 'content-type': 'application/xml', 'content-length': '1' }]) {
    const response = await requestAnyMethod(method, path, headers)

    expect(response).toEqual({ statusCode: 405, allow: 'POST', code: 'METHOD_NOT_ALLOWED' })
  }
})

test.each(['QUERY', 'PROPFIND'])('returns 404 for %s to an unknown route', async (method) => {
  expect(await requestAnyMethod(method, '/nowhere')).toMatchObject({ statusCode: 404, code: 'NOT_FOUND' })
})

/** Uses `node:http`, because undici supports fewer methods. */
async function requestAnyMethod(method: string, url: string, headers: Record<string, string> = {}) {
  const sent = request(server.url + url, { method, headers: { 'x-api-key': account.apiKey, ...headers } })
  sent.end('content-length' in headers ? 'x' : undefined)
  const [response]: IncomingMessage[] = await once(sent, 'response')
  if (!response) throw new Error('no response')
  const { error } = JSON.parse(await text(response))
  return { statusCode: response.statusCode, allow: response.headers.allow, code: error.code }
}

test.each([
  '/api/v1/message/%',
  '/api/v1/message/%ff',
  '/api/v1/message/%00',
  '/api/v1/template/%2e%2e/en',
  '/api/v1/message/..%2f..%2fetc',
  `/api/v1/message/${'x'.repeat(3000)}`,
])('responds to the malformed path %s with the failure envelope', async (url) => {
  const response = await server.request('GET', url, { headers: { 'x-api-key': account.apiKey } })
  expect(response.statusCode).toBeGreaterThanOrEqual(400)
  expect(response.statusCode).toBeLessThan(500)
  expect(response.json()).toMatchObject({ success: false, error: { code: expect.any(String) } })
})

test('responds to arbitrary bytes with a failure envelope and no 5xx', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.json(),
        fc.string(),
        fc.uint8Array({ maxLength: 2000 }).map((bytes) => Buffer.from(bytes)),
      ),
      async (body) => {
        const response = await post(body)
        expect(response.statusCode).toBe(400)
        expect(response.json()).toMatchObject({ success: false, error: { code: 'VALIDATION_ERROR' } })
      },
    ),
    { numRuns: 100 },
  )
})

test('never returns a 5xx for arbitrary field values', async () => {
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string(),
    fc.integer(),
    fc.constant(null),
    fc.constant('en'),
    fc.constant('order_shipped'),
  )
  const request = fc.record(
    {
      to: fc.oneof(value, fc.constant('34600111222')),
      template: value,
      language: value,
      variables: fc.oneof(value, fc.dictionary(fc.string(), value)),
      externalId: value,
      accountId: value,
    },
    { requiredKeys: ['to', 'template', 'language'] },
  )
  await fc.assert(
    fc.asyncProperty(
      request,
      fc.option(fc.string({ minLength: 1 }).map((key) => key.replaceAll(/[^\x21-\x7e]/g, '-'))),
      async (body, key) => {
        const response = await post(JSON.stringify(body), key === null ? {} : { 'idempotency-key': key })
        expect(response.statusCode).toBeLessThan(500)
      },
    ),
    { numRuns: 200 },
  )
})

test.each([
  { query: 'status=failed&status=read', field: 'status' },
  { query: 'limit=1&limit=2', field: 'limit' },
  { query: 'externalId=a&externalId=a', field: 'externalId' },
])('rejects a repeated query parameter: $query', async ({ query, field }) => {
  const response = await account.get(`/api/v1/message?${query}`)

  expectFailure(response, 'VALIDATION_ERROR')
  expect(response.text).toContain(`${field}: takes one value, but the URL has several.`)
})

test('never returns a 5xx for arbitrary query strings', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('to', 'from', 'until', 'cursor', 'limit', 'status', 'template', 'externalId'),
      fc.string({ unit: 'binary' }),
      async (name, value) => {
        for (const url of ['/api/v1/message', '/api/v1/template', '/trpc/message.list']) {
          const response = await account.get(`${url}?${name}=${encodeURIComponent(value.toWellFormed())}`)
          expect(response.statusCode).toBeLessThan(500)
        }
      },
    ),
    { numRuns: 100 },
  )
})

test.each(['{', '[]', 'null', '"x"', '{"json":1}', ''])(
  'answers the tRPC body %j with a documented error code',
  async (body) => {
    const response = await post(body, {}, '/trpc/message.send')
    const { error } = JSON.parse(response.text) as { error: { data: { code: string } } }
    expect(error.data.code).toBe('VALIDATION_ERROR')
    expect(response.text).not.toMatch(/stack|node_modules|\.ts/)
  },
)

test.each([
  { what: 'bytes that are not UTF-8', type: 'application/json', code: 'VALIDATION_ERROR' },
  { what: 'another character set', type: 'application/json; charset=iso-8859-1', code: 'UNSUPPORTED_MEDIA_TYPE' },
])('sends no replacement characters for $what over tRPC', async ({ type, code }) => {
  const headers = { 'content-type': type }
  const input = JSON.stringify({ ...sendMessage.example.input, externalId: 'Zo\u00eb' })
  for (const [to, body] of [
    ['/trpc/message.send', input],
    ['/trpc/message.send?batch=1', `{"0":${input}}`],
  ] as const) {
    const response = await post(Buffer.from(body, 'latin1'), headers, to)
    expect(response.json()).toMatchObject({ error: { data: { code } } })
  }
})

test('formats the error of a whole URL as its door does', async () => {
  const head = `POST http://x/trpc/message.send HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 0`
  const answer = await answerTo(head)
  expect(bodyOf(answer)).toMatchObject({ error: { data: { code: 'UNSUPPORTED_MEDIA_TYPE' } } })
})

test('returns a result for each call of a tRPC batch', async () => {
  const response = await post(
    JSON.stringify({ 0: sendMessage.example.input, 1: {} }),
    {},
    '/trpc/message.send,message.preview?batch=1',
  )
  const [sent, refused] = JSON.parse(response.text) as [
    { result: { data: unknown } },
    { error: { data: { code: string } } },
  ]
  expect(sent.result.data).toMatchObject({ status: 'sent' })
  expect(refused.error.data.code).toBe('VALIDATION_ERROR')
})

test.each([
  { comma: ',', says: 'This batch has 11 calls, and the maximum is 10.' },
  // Encoded twice.
  { comma: '%252C', says: 'The request is not a tRPC request' },
])('rejects a tRPC batch of more than ten calls with the commas $comma', async ({ comma, says }) => {
  const procedures = Array.from({ length: 11 }, () => 'message.list').join(comma)
  const response = await account.get(`/trpc/${procedures}?batch=1&input=${encodeURIComponent('{}')}`)
  expect(response.statusCode).toBe(400)
  expect(response.text).toContain('VALIDATION_ERROR')
  expect(response.text).toContain(says)
})

test.each([
  { what: 'without a content type', method: 'POST', url: '/trpc/message.send' },
  { what: 'with another method', method: 'DELETE', url: '/trpc/message.send' },
  { what: 'with broken percent-encoding', method: 'GET', url: '/trpc/message.list%25zz' },
])('labels the error of a tRPC request $what as JSON', async ({ method, url }) => {
  const response = await server.request(method, url)
  expect(response.json()).toMatchObject({ error: { data: { code: expect.any(String) } } })
  expect(response.headers['content-type']).toBe('application/json')
})

test.each([
  { method: 'GET', procedure: 'message.send', allow: 'POST' },
  { method: 'PUT', procedure: 'message.send', allow: 'POST' },
  { method: 'POST', procedure: 'message.list', allow: 'GET' },
  { method: 'DELETE', procedure: 'message.list', allow: 'GET' },
])(
  'names the method that /trpc/$procedure takes in the response to a $method',
  async ({ method, procedure, allow }) => {
    const headers = { 'x-api-key': account.apiKey, 'content-type': 'application/json' }
    const body = method === 'GET' ? undefined : '{}'
    const response = await server.request(method, `/trpc/${procedure}`, { headers, ...(body && { body }) })
    expect(response.statusCode).toBe(405)
    expect(response.headers['allow']).toBe(allow)
  },
)

test.each([path, '/trpc/message.send', '/settings/auth/sign-in/email'])(
  'does not report an aborted body at %s as a database failure',
  async (to) => {
    const from = server.log.length
    const requests: IncomingMessage[] = []
    const receive = (message: unknown) => void requests.push((message as { request: IncomingMessage }).request)
    subscribe('http.server.request.start', receive)
    const socket = openSocket(server.url)
    const head = `POST ${to} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${account.apiKey}\r\nContent-Type: application/json`
    await new Promise((resolve) => socket.write(`${head}\r\nContent-Length: 500\r\n\r\n{`, resolve))
    // The server must start to read the body before it ends, and notice the end before the log is checked.
    const find = () => requests.find(({ url, method }) => url === to && method === 'POST')
    await expect.poll(() => find()?.readableDidRead).toBe(true)
    socket.destroy()
    await expect.poll(() => find()?.closed).toBe(true)
    unsubscribe('http.server.request.start', receive)
    expect((await server.request('GET', '/healthz')).statusCode).toBe(200)
    expect(server.log.slice(from).filter((line) => line.includes('"level":"error"'))).toEqual([])
  },
)

test.each([
  { to: '/api/v1/template', code: 'VALIDATION_ERROR' },
  { to: '/nowhere', code: 'VALIDATION_ERROR' },
  { to: '/trpc/template.list', code: 'VALIDATION_ERROR' },
  { to: '/healthz', code: 'VALIDATION_ERROR' },
])('rejects a request to $to with two Host headers and closes the connection', async ({ to, code }) => {
  const second = `GET ${to} HTTP/1.1\r\nHost: x\r\n\r\n`
  const socket = openSocket(server.url)
  socket.write(`GET ${to} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${account.apiKey}\r\nhost: y\r\n\r\n${second}`)
  const answer = await text(socket)
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request/)
  expect(answer).toMatch(/^connection: close/im)
  expect(answer.split('HTTP/1.1')).toHaveLength(2)
  expect(answer).toContain(code)
  expect(answer).toContain('more than one Host header')
})

function answerTo(head: string): Promise<string> {
  return askRaw(server.url, `${head}\r\nConnection: close\r\n\r\n`)
}

/** The body of an answer to `answerTo`. */
function bodyOf(answer: string): unknown {
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))
}

function expectRawFailure(answer: string, code: ErrorCode): void {
  const { status } = errors[code]
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} ${STATUS_CODES[status]}\r\n`))
  expect(answer).toMatch(/^x-request-id: req_/im)
  expect(bodyOf(answer)).toMatchObject({ success: false, error: { code } })
}

test.each<{ what: string; head: string; code?: ErrorCode }>([
  { what: 'an unknown expectation', head: `POST ${path} HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nContent-Length: 0` },
  { what: 'no Host header', head: `GET ${path} HTTP/1.1` },
  { what: 'the method CONNECT', head: 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443' },
  { what: 'headers that are too large', head: `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}` },
  { what: 'an unknown HTTP version', head: `GET ${path} HTTP/3.7\r\nHost: x` },
  { what: 'two lengths', head: `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2` },
  { what: 'a negative length', head: `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: -1` },
  {
    what: 'a length and chunks',
    head: `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked`,
  },
  { what: 'an unknown method', head: `BREW ${path} HTTP/1.1\r\nHost: x` },
  { what: 'the start of HTTP/2', head: 'PRI * HTTP/2.0' },
  { what: 'the start of TLS', head: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc' },
  { what: 'a space in the path', head: `GET ${path} a HTTP/1.1\r\nHost: x` },
  { what: 'a NUL in a header', head: `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Name: a\x00b` },
  { what: 'a line of a header that continues', head: `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Name: a\r\n b` },
  { what: 'an unknown transfer coding', head: `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: tea` },
  { what: 'no HTTP', head: 'HELLO WORLD' },
  { what: 'the method TRACE', head: `TRACE ${path} HTTP/1.1\r\nHost: x`, code: 'METHOD_NOT_ALLOWED' },
  {
    what: 'an upgrade to a protocol',
    head: `GET /nowhere HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade`,
    code: 'NOT_FOUND',
  },
  { what: 'no path', head: 'OPTIONS * HTTP/1.1\r\nHost: x', code: 'NOT_FOUND' },
  { what: 'an absolute URL', head: 'GET http://x/nowhere HTTP/1.1\r\nHost: x', code: 'NOT_FOUND' },
  { what: 'a path that is not UTF-8', head: 'GET /api/v1/%ff HTTP/1.1\r\nHost: x' },
])('responds to $what with the failure envelope', async ({ head, code = 'VALIDATION_ERROR' }) => {
  expectRawFailure(await answerTo(head), code)
})

test.each([
  { what: 'a chunk with an invalid length', rest: 'zz\r\n' },
  { what: 'a long chunk extension', rest: `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n` },
  { what: 'large trailers', rest: `2\r\n{}\r\n0\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n` },
])('responds to $what with the failure envelope', async ({ rest }) => {
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${account.apiKey}\r\nContent-Type: application/json`
  const socket = openSocket(server.url)
  socket.write(`${head}\r\nTransfer-Encoding: chunked\r\n\r\n${rest}`)
  expectRawFailure(await text(socket), 'VALIDATION_ERROR')
})

test('accepts a request with HTTP/1.0 and no Host header', async () => {
  expect(await answerTo('GET /healthz HTTP/1.0')).toMatch(/^HTTP\/1\.1 200 OK/)
})

test.each([
  ['X-API-Key', () => account.apiKey],
  ['Idempotency-Key', () => 'parcel-9'],
  ['Content-Type', () => 'application/json'],
  ['Authorization', () => `Bearer ${account.apiKey}`],
])('rejects a request with two %s headers', async (name, value) => {
  const header = `${name}: ${value()}\r\n${name.toLowerCase()}: ${value()}`
  const answer = await answerTo(`POST ${path} HTTP/1.1\r\nHost: x\r\n${header}\r\nContent-Length: 0`)
  expectRawFailure(answer, 'VALIDATION_ERROR')
  expect(answer).toContain(`more than one ${name} header`)
})

test('accepts a comma in one Idempotency-Key header', async () => {
  expect((await post(good, { 'idempotency-key': 'parcel, 9' })).statusCode).toBe(200)
})

test.each([
  ['from', '2026-11-25T00:00:00+02:00', '%2B'],
  ['from', '2026-11-25T00:00:00%2B02:00', '"success":true'],
])('names the encoding of + in a time: %s=%s', async (name, time, says) => {
  expect((await account.get(`/api/v1/message?${name}=${time}`)).text).toContain(says)
})

test('reports an internal error with only its request ID, which it also logs', async () => {
  const broken = await nodeForTest(server, {
    deps: {
      newId: () => {
        throw new Error('secret insides at /srv/waybill/src')
      },
    },
  })
  const response = await through(broken, account).post(path, sendMessage.example.input)

  expectFailure(response, 'INTERNAL_ERROR')
  expect(response.text).not.toMatch(/secret insides|srv/)
  expect(response.json().error.message).toContain(String(response.headers['x-request-id']))
  expect(broken.log.join('')).toContain(String(response.headers['x-request-id']))
})

test.each(['from=0001-01-01T00:00:00%2B01:00', 'until=9999-12-31T23:59:59-01:00', 'from=0000-01-01T00:00:00Z'])(
  'lists everything with %s, which PostgreSQL may not be able to read',
  async (query) => {
    await account.post(path, sendMessage.example.input)
    const response = await account.get(`/api/v1/message?${query}`)
    expect(response.statusCode).toBe(200)
    expect(response.json().data['items']).not.toEqual([])
    expect((await account.get(`/api/v1/event?${query}`)).statusCode).toBe(200)
  },
)

import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { updateAccount } from '../../src/accounts/account.ts'
import { exampleSend } from '../support/example-send.ts'
import { forFile } from '../support/lifetime.ts'
import { nodeForTest, startTestServer } from '../support/server.ts'
import { sendMessage } from '../../contracts/api/message.ts'
import { askRaw } from '../support/raw-socket.ts'

const server = await forFile(startTestServer())
const account = await server.account()
await updateAccount(server.deps, account.accountId, { mcpEnabled: true })

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })

test.each<{ path: string; status: number; body?: string; apiKey?: string; method?: string }>([
  { path: '/api/v1/message', status: 200 },
  { path: '/api/v1/message/export', status: 200 },
  { path: '/api/v1/message/send', body: JSON.stringify(exampleSend), status: 200 },
  { path: '/api/v1/message/send', body: '{}', status: 400 },
  { path: '/api/v1/message', apiKey: 'wrong', status: 401 },
  { path: '/api/v1/message/send', method: 'PUT', status: 405 },
  { path: '/api/v1/unknown', status: 404 },
  { path: '/trpc/message.list', status: 200 },
  { path: '/trpc/message.list,message.list?batch=1', status: 200 },
  { path: '/trpc/message.list', apiKey: 'wrong', status: 401 },
  { path: '/trpc/unknown', status: 404 },
  { path: '/mcp', body: list, status: 200 },
  { path: '/mcp', body: list, apiKey: 'wrong', status: 401 },
  { path: '/settings/trpc/settings.session.get', status: 401 },
  { path: '/settings/auth/sign-out', body: '{}', status: 200 },
])('lets no cache store $status of $path', async ({ path, status, body, apiKey = account.apiKey, method }) => {
  const response = await server.request(method ?? (body === undefined ? 'GET' : 'POST'), path, {
    headers: { 'x-api-key': apiKey, ...(body !== undefined && json) },
    ...(body !== undefined && { body }),
  })
  expect([response.statusCode, response.headers['cache-control']]).toEqual([status, 'no-store'])
})

test('lets no cache store the answer to a request that is not valid HTTP', async () => {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.write('GET\r\n\r\n')
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 [^]*Cache-Control: no-store\r\n/)
})

test.each(['/docs', '/openapi.json'])('lets caches store %s', async (path) => {
  const { headers } = await server.request('GET', path)
  expect(headers['cache-control']).not.toContain('no-store')
})

test('links an error response to the page of its code', async () => {
  const account = await server.account()

  const invalid = await account.post('/api/v1/message/send', {})
  const unknown = await server.request('GET', '/api/v1/nothing')
  const anonymous = await server.request('GET', '/api/v1/message')

  expect(invalid.headers['link']).toBe('</docs/errors/VALIDATION_ERROR>; rel="help"')
  expect(unknown.headers['link']).toBe('</docs/errors/NOT_FOUND>; rel="help"')
  expect(anonymous.headers['link']).toBe('</docs/errors/INVALID_API_KEY>; rel="help"')
  expect((await server.request('GET', '/docs/errors/VALIDATION_ERROR')).statusCode).toBe(200)
})

test('adds no link to a successful response', async () => {
  const account = await server.account()

  const response = await account.post('/api/v1/message/send', sendMessage.example.input)

  expect(response.statusCode).toBe(200)
  expect(response.headers['link']).toBeUndefined()
})

test('adds the link to a failed tRPC call', async () => {
  const response = await server.request('GET', '/trpc/message.list')

  expect(response.headers['link']).toBe('</docs/errors/INVALID_API_KEY>; rel="help"')
})

test("adds no link to the dashboard's own codes, which have no page", async () => {
  const response = await server.request('GET', '/settings/trpc/settings.overview.get')

  expect(response.text).toContain('SIGN_IN_REQUIRED')
  expect(response.headers['link']).toBeUndefined()
})

test('makes the link absolute if the public URL is configured', async () => {
  const publicServer = await nodeForTest(server, { server: { publicUrl: 'https://waybill.example.com' } })

  const response = await publicServer.request('GET', '/api/v1/message')

  expect(response.headers['link']).toBe('<https://waybill.example.com/docs/errors/INVALID_API_KEY>; rel="help"')
})

test('adds the link to the response to invalid HTTP', async () => {
  const answer = await askRaw(server.url, 'nonsense\r\n\r\n')

  expect(answer).toContain('\r\nLink: </docs/errors/VALIDATION_ERROR>; rel="help"\r\n')
})

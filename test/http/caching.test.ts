import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { updateAccount } from '../../src/accounts/account.ts'
import { exampleSend } from '../support/example-send.ts'
import { forFile } from '../support/lifetime.ts'
import { startTestServer } from '../support/server.ts'

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

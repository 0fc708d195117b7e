import { expect, test } from 'vitest'
import { forFile } from '../../support/lifetime.ts'
import { nodeForTest, startTestServer, type TestResponse, type TestServer } from '../../support/server.ts'

const server = await forFile(startTestServer())

function read(node: TestServer, headers = {}): Promise<TestResponse> {
  return node.request('GET', '/metrics', { headers })
}

test('requires METRICS_TOKEN for metrics and serves none without it, except in the sandbox', async () => {
  const guarded = await nodeForTest(server, { server: { metricsToken: 'token-1', sandbox: false } })
  const closed = await nodeForTest(server, { server: { sandbox: false } })

  expect((await read(guarded)).statusCode).toBe(401)
  expect((await read(guarded, { authorization: 'Bearer token-2' })).statusCode).toBe(401)
  expect((await read(guarded, { authorization: 'Bearer token-1' })).statusCode).toBe(200)
  expect((await read(guarded, { authorization: 'bearer token-1' })).statusCode).toBe(200)
  expect((await read(guarded, { authorization: 'token-1' })).statusCode).toBe(401)
  expect((await read(closed, { authorization: 'Bearer undefined' })).statusCode).toBe(401)
})

test('fails readiness but not liveness during shutdown', async () => {
  let draining = false
  const node = await nodeForTest(server, { server: { readState: () => (draining ? 'draining' : 'serving') } })
  expect((await node.request('GET', '/readyz')).statusCode).toBe(200)
  draining = true
  expect((await node.request('GET', '/readyz')).statusCode).toBe(503)
  expect((await node.request('GET', '/healthz')).statusCode).toBe(200)
})

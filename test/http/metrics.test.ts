import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { startTestServer, type TestResponse, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

test('measures requests by route, without IDs or phone numbers in labels', async () => {
  const account = await server.account()
  await account.post('/api/v1/message/send', sendMessage.example.input)
  await account.get('/api/v1/message/msg_00000000000000000000000000?x=34600111222')

  const { text } = await server.request('GET', '/metrics')

  expect(text).toMatch(
    /waybill_http_request_duration_seconds_count\{method="POST",route="\/api\/v1\/message\/send",status="200"\} 1/,
  )
  expect(text).toMatch(/route="\/api\/v1\/message\/:messageId"/)
  expect(text).not.toMatch(/msg_0|34600111222/)
})

test('counts a message with an unknown outcome', async () => {
  const account = await server.account()
  await account.post('/api/v1/message/send', sendMessage.example.input)
  await server.deps.db
    .updateTable('messages')
    .set({ status: 'pending', created_at: new Date(Date.now() - 120_000) })
    .where('account_id', '=', account.accountId)
    .execute()

  const { text } = await server.request('GET', '/metrics')

  expect(text).toMatch(/^waybill_messages_pending 1$/m)
  expect(Number(/^waybill_messages_pending_oldest_seconds (.*)$/m.exec(text)?.[1])).toBeGreaterThan(100)
})

function read(node: TestServer, headers = {}): Promise<TestResponse> {
  return node.request('GET', '/metrics', { headers })
}

test('requires METRICS_TOKEN for metrics and serves none without it, except in the sandbox', async () => {
  const guarded = await startTestServer({ beside: server, server: { metricsToken: 'token-1', sandbox: false } })
  const closed = await startTestServer({ beside: server, server: { sandbox: false } })

  expect((await read(guarded)).statusCode).toBe(401)
  expect((await read(guarded, { authorization: 'Bearer token-2' })).statusCode).toBe(401)
  expect((await read(guarded, { authorization: 'Bearer token-1' })).statusCode).toBe(200)
  expect((await read(closed, { authorization: 'Bearer undefined' })).statusCode).toBe(401)
  await guarded.close()
  await closed.close()
})

test('fails readiness but not liveness during shutdown', async () => {
  let draining = false
  const node = await startTestServer({
    beside: server,
    server: { readState: () => (draining ? 'draining' : 'serving') },
  })
  expect((await node.request('GET', '/readyz')).statusCode).toBe(200)
  draining = true
  expect((await node.request('GET', '/readyz')).statusCode).toBe(503)
  expect((await node.request('GET', '/healthz')).statusCode).toBe(200)
  await node.close()
})

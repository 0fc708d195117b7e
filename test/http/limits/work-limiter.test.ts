import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { updateAccount } from '../../../src/accounts/account.ts'
import { dashboardContracts } from '../../../contracts/dashboard/index.ts'
import { samplesPath } from '../../../contracts/dashboard/template-changes.ts'
import { testMediaPath } from '../../../contracts/dashboard/template.ts'

import { Connections } from '../../../src/http/limits/connections.ts'
import { contracts, restContracts } from '../../../contracts/index.ts'
import { listProcedures, type SessionProcedure } from '../../../contracts/procedure.ts'
import { createWebhookSender } from '../../../src/webhooks/sender/sender.ts'
import { openSocket } from '../../support/raw-socket.ts'
import { forFile, forTest } from '../../support/lifetime.ts'
import {
  nodeForTest,
  startTestServer,
  type TestAccount,
  type TestResponse,
  type TestServer,
  through,
} from '../../support/server.ts'
import { exampleSend } from '../../support/example-send.ts'
import { signedInOwner, type TestOwner } from '../../support/user.ts'
import { startWebhookReceiver } from '../../support/webhook-receiver.ts'
import { manyFields } from '../../support/worst-requests.ts'

/** Large enough that parsing it takes a while, and invalid for every procedure. */
const worstBody = manyFields(55_000)
const json = { 'content-type': 'application/json' }

const server = await forFile(startTestServer())

/** Every procedure must reject its input only after the account was charged, so each answer names the limit. */
describe('an account that has used up its work', () => {
  let node: TestServer
  let spent: TestAccount
  let other: TestAccount
  let owner: TestOwner
  beforeAll(async () => {
    const workLimiter = { workPerMillisecond: 1e-9, maxCreditMilliseconds: 1, maxWaiting: 0 }
    ;[spent, other] = [await server.account(), await server.account()]
    owner = await signedInOwner(server, spent.accountId)
    node = await startTestServer({ beside: server, server: { limits: { workLimiter } } })
    // Use up the work of the account and of the network.
    await send('POST', '/api/v1/message/send')
    await ofOwner('mutation', 'settings.view.save')
  })
  afterAll(() => node.close())

  function send(method: string, path: string, body = worstBody, apiKey = spent.apiKey): Promise<TestResponse> {
    return node.request(method, path, {
      headers: { ...json, accept: 'application/json, text/event-stream', 'x-api-key': apiKey },
      ...(method === 'POST' && { body }),
    })
  }

  function ofOwner(kind: 'query' | 'mutation', name: string): Promise<TestResponse> {
    const headers = { ...json, cookie: owner.cookie() }
    const path = `/settings/trpc/${name}`
    return kind === 'query'
      ? node.request('GET', `${path}?input=%7B%7D`, { headers })
      : node.request('POST', path, { headers, body: worstBody })
  }

  test.each(listProcedures(restContracts))('is limited before $name is parsed, by REST', async ({ contract }) => {
    const response = await send(contract.method, contract.path.replaceAll(/\{\w+\}/g, '%20'))
    expect(response.json().error).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
    expect([response.statusCode, response.headers['retry-after']]).toEqual([429, '1'])
  })

  test.each(listProcedures(contracts))('is limited before $name is parsed, by tRPC', async ({ name, contract }) => {
    const single = await send(contract.method, `/trpc/${name}`)
    expect(single.text).toContain('"code":"RATE_LIMIT_EXCEEDED"')

    const batch = await send(contract.method, `/trpc/${Array(10).fill(name).join(',')}?batch=1&input=%7B%7D`)
    expect(batch.text.match(/"code":"RATE_LIMIT_EXCEEDED"/g)).toHaveLength(10)
  })

  test.each(listProcedures(contracts))('is limited before $name is parsed, by MCP', async ({ name }) => {
    const params = { name: name.replaceAll('.', '_'), arguments: JSON.parse(worstBody) as object }
    const response = await send('POST', '/mcp', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }))
    expect(JSON.parse(response.text)).toMatchObject({ error: { data: { code: 'RATE_LIMIT_EXCEEDED' } } })
  })

  test.each(['tools/list', 'initialize', 'no such method'])('is limited before MCP answers %s', async (method) => {
    const response = await send('POST', '/mcp', JSON.stringify({ jsonrpc: '2.0', id: 1, method }))
    expect(JSON.parse(response.text)).toMatchObject({ error: { data: { code: 'RATE_LIMIT_EXCEEDED' } } })
  })

  test.each(listProcedures<SessionProcedure>(dashboardContracts))(
    'is limited before $name is parsed, in the dashboard',
    async ({ name, contract: { kind } }) => {
      const response = await ofOwner(kind, name)
      expect(response.text).toContain('"code":"RATE_LIMIT_EXCEEDED"')
    },
  )

  test.each([samplesPath, testMediaPath])('is limited before a file for %s is read', async (path) => {
    const headers = { cookie: owner.cookie(), 'content-type': 'multipart/form-data; boundary=x' }
    // These uploads have their parameters in the query.
    const response = await node.request('POST', `${path}?accountId=${spent.accountId}`, { headers, body: 'x' })
    expect(response.json().error).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
  })

  test('is limited before a sign-in is parsed', async () => {
    const response = await node.request('POST', '/settings/auth/sign-in/email', { headers: json, body: worstBody })
    expect([response.statusCode, response.json().error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED'])
  })

  test('leaves other accounts alone', async () => {
    expect((await send('GET', '/api/v1/message', '', other.apiKey)).statusCode).toBe(200)
  })

  test('leaves no line in the log', () => {
    expect(node.log.filter((line) => /"level":"(warn|error|fatal)"/.test(line) && !line.includes('dashboard'))).toEqual(
      [],
    )
  })
})

const query = (name: string, input: object) =>
  `/settings/trpc/settings.${name}?input=${encodeURIComponent(JSON.stringify(input))}`
const form = { 'content-type': 'multipart/form-data; boundary=x' }

test.each([
  { what: 'the messages of a foreign account', path: (accountId: string) => query('message.list', { accountId }) },
  { what: 'an upload to a foreign account', path: (id: string) => `${samplesPath}?accountId=${id}`, headers: form },
  { what: 'a sign-out', path: () => '/settings/auth/sign-out', headers: json, status: 200 },
])('charges the network for $what before anything is read', async ({ path, headers, status = 404 }) => {
  const [{ accountId }, foreign] = [await server.account(), await server.account()]
  const owner = await signedInOwner(server, accountId)
  const workLimiter = { workPerMillisecond: 1e-9, maxCreditMilliseconds: 1, maxWaiting: 0 }
  const node = await nodeForTest(server, { server: { limits: { workLimiter } } })
  const statuses = new Set<number>()
  for (let count = 0; count < 10; count++) {
    const response = await node.request(headers ? 'POST' : 'GET', path(foreign.accountId), {
      headers: { cookie: owner.cookie(), origin: node.url, ...headers },
      ...(headers && { body: '{}' }),
    })
    statuses.add(response.statusCode)
  }
  expect([...statuses]).toEqual([status, 429])
})

test.each(['message.get', 'message%252Eget'])('charges a tRPC batch for all its calls of %s', async (name) => {
  const account = await server.account()
  const workLimiter = { workPerMillisecond: 1e-9, maxCreditMilliseconds: 1, maxWaiting: 0 }
  const node = through(await nodeForTest(server, { server: { limits: { workLimiter } } }), account)
  const input = encodeURIComponent(JSON.stringify({ ...Array.from({ length: 10 }, () => ({ messageId: 'msg_none' })) }))
  const path = `/trpc/${Array(10).fill(name).join(',')}?batch=1&input=${input}`

  expect((await node.get(path)).text.match(/"code":"MESSAGE_NOT_FOUND"/g)).toHaveLength(10)
  expect((await node.get(path)).text.match(/"code":"RATE_LIMIT_EXCEEDED"/g)).toHaveLength(10)
})

/** A tool is known only when its message has been parsed, which takes up to 20 times the memory of its bytes. */
test('parses no message of MCP while an account has as many concurrent calls as it may', async () => {
  const account = await server.account()
  await updateAccount(server.deps, account.accountId, { mcpEnabled: true })
  const headers = { ...json, 'x-api-key': account.apiKey }
  const limits = { workLimiter: { maxConcurrent: 0, maxWaiting: 0 } }
  const full = await nodeForTest(server, { server: { limits } })
  const refused = await full.request('POST', '/mcp', { headers, body: '{' })
  expect(refused.json()).toMatchObject({ error: { data: { code: 'RATE_LIMIT_EXCEEDED' } } })
  // A node with a free place reads it.
  const response = await server.request('POST', '/mcp', { headers, body: '{' })
  expect(response.json()).toMatchObject({ error: { data: { code: 'VALIDATION_ERROR' } } })
})

test('leaves the place of an MCP send to others while it waits for WhatsApp', async () => {
  const account = await server.account()
  await updateAccount(server.deps, account.accountId, { mcpEnabled: true })
  const node = await nodeForTest(server, { server: { limits: { workLimiter: { maxConcurrent: 1, maxWaiting: 0 } } } })
  const post = (method: string, params: object) =>
    node.request('POST', '/mcp', {
      headers: { ...json, accept: 'application/json, text/event-stream', 'x-api-key': account.apiKey },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
  const answer = Promise.withResolvers<undefined>()
  let asked = 0
  server.simulator.intercept(() => {
    asked += 1
    return answer.promise
  })
  try {
    const sending = post('tools/call', { name: 'message_send', arguments: { ...exampleSend, idempotencyKey: 'held' } })
    await expect.poll(() => asked).toBe(1)
    expect((await post('tools/list', {})).statusCode).toBe(200)
    answer.resolve(undefined)
    expect((await sending).text).toContain('waMessageId')
  } finally {
    server.simulator.intercept(undefined)
  }
})

test('leaves the place of a test event to others while it waits for the endpoint', async () => {
  const receiver = await forTest(startWebhookReceiver())
  const asked = Promise.withResolvers<ServerResponse>()
  receiver.behave((_received, response) => asked.resolve(response))
  const { accountId } = await server.account()
  const limits = { workLimiter: { maxConcurrent: 1, maxWaiting: 0 } }
  const webhooks = await forTest(createWebhookSender({ timeoutSeconds: 25, allowPrivate: true }))
  const node = await nodeForTest(server, { server: { limits }, deps: { webhooks } })
  const owner = await signedInOwner(node, accountId)
  const { data } = await owner.mutate<{ endpointId: string }>('webhook.add', { accountId, url: receiver.url })

  const testing = owner.mutate('webhook.test', { accountId, endpointId: data.endpointId })
  const response = await asked.promise
  expect((await owner.mutate('view.save', { accountId, name: 'All', filters: {} })).statusCode).toBe(200)
  response.end('ok')

  expect((await testing).statusCode).toBe(200)
})

function open(node: TestServer, write: string): Socket {
  const socket = openSocket(node.url)
  socket.write(write)
  return socket
}

function post(path: string, { apiKey }: TestAccount, body: string): string {
  return [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    `X-API-Key: ${apiKey}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n')
}

test('answers an account while another floods the server with large bodies', async () => {
  const [flooding, quiet] = [await server.account(), await server.account()]
  // The flood gains next to no time, however long a busy machine takes: after its first calls, the others are rejected.
  const workLimiter = { workPerMillisecond: 1e-6, maxWaitMilliseconds: 100 }
  const node = await nodeForTest(server, { server: { limits: { workLimiter } } })
  let parsed = 0
  const total = 64 * 8
  const sockets = Array.from({ length: 64 }, () =>
    open(node, post('/api/v1/message/preview', flooding, worstBody).repeat(8)).on('data', (data) => {
      parsed += data.toString('latin1').split('HTTP/1.1 400').length - 1
    }),
  )
  try {
    await expect.poll(() => parsed).toBeGreaterThan(0)

    for (let n = 0; n < 10; n++) expect((await through(node, quiet).get('/api/v1/message')).statusCode).toBe(200)

    // Without the limit, the flood would be answered first.
    expect(parsed).toBeLessThan(total / 2)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
})

test('makes the list of tools once, and answers each message with its own ID', async () => {
  const account = await server.account()
  await updateAccount(server.deps, account.accountId, { mcpEnabled: true })
  const list = async (id: string | number): Promise<object> => {
    const headers = { ...json, accept: 'application/json, text/event-stream', 'x-api-key': account.apiKey }
    const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list' })
    const { text } = await server.request('POST', '/mcp', { headers, body })
    const [data = text] = /\{.*\}/.exec(text) ?? []
    return JSON.parse(data) as object
  }
  const first = await list(1)
  expect(first).toMatchObject({ jsonrpc: '2.0', id: 1, result: { tools: expect.any(Array) } })
  for (const id of [2, 'a "quoted" $& ID']) expect(await list(id)).toEqual({ ...first, id })
})

test.each([
  { by: 'REST', path: '/api/v1/template?limit=100' },
  {
    by: 'a tRPC call with another parameter',
    path: `/trpc/template.list?input=${encodeURIComponent('{"limit":100}')}&x`,
  },
  {
    by: 'a tRPC batch',
    path: `/trpc/template.list,template.list?batch=1&input=${encodeURIComponent('{"0":{"limit":100},"1":{"limit":100}}')}`,
  },
])('closes the connection that leaves the most bytes unread, and no other, by $by', async ({ path }) => {
  using counted = vi.spyOn(Connections.prototype, 'countUnread')
  const node = await nodeForTest(server, { server: { limits: { maxUnreadBytes: 256 * 1024 } } })
  const [greedy, quiet] = [await server.account(), await server.account()]
  const components = [{ type: 'BODY', text: 'x'.repeat(1_000) }]
  const templates = server.simulator.templatesOf(greedy.wabaId)
  for (let index = 1; index < 100; index++) templates.add({ name: `long_${index}`, language: 'en', components })
  await greedy.template({ name: 'long_100', components })
  const list = `GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${greedy.apiKey}\r\n\r\n`
  const waiting = open(node, '')
  const socket = open(node, list.repeat(64)).pause()
  // A client that does not read notices the end only when it writes. A server ignores empty lines between requests.
  await expect
    .poll(() => {
      socket.write('\r\n')
      return socket.destroyed
    })
    .toBe(true)
  // Otherwise, it was closed because it read nothing for too long.
  expect(counted).toHaveBeenCalled()

  expect((await through(node, quiet).get('/api/v1/message')).statusCode).toBe(200)
  expect(waiting.destroyed).toBe(false)
  waiting.destroy()
})

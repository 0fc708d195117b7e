import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { sendMessage } from '../../../contracts/api/message.ts'
import { contracts } from '../../../contracts/index.ts'
import { listProcedures } from '../../../contracts/procedure.ts'
import { updateAccount } from '../../../src/accounts/account.ts'
import { setAllowList } from '../../../src/accounts/ip-allow-list.ts'
import { forFile } from '../../support/lifetime.ts'
import { nodeForTest, startTestServer, type TestAccount, type TestResponse, through } from '../../support/server.ts'

const example = sendMessage.example.input
const publicUrl = 'https://waybill.example.com'

const server = await forFile(startTestServer())
const account = await assistedAccount()

/** An account whose owner has turned MCP on. */
async function assistedAccount(options?: { rateLimit: number }): Promise<TestAccount> {
  const created = await server.account(options)
  await updateAccount(server.deps, created.accountId, { mcpEnabled: true })
  return created
}

/** Connects the SDK's client with the 2025 revision (with `initialize`) or the 2026 revision (without). */
async function connect(
  { apiKey }: Pick<TestAccount, 'apiKey'>,
  {
    mode = 'auto',
    header = 'Authorization',
  }: { mode?: 'legacy' | 'auto'; header?: 'Authorization' | 'X-API-Key' } = {},
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
  const headers = { [header]: header === 'Authorization' ? `Bearer ${apiKey}` : apiKey }
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', server.url), { requestInit: { headers } }))
  return client
}

/** The data of a result, or the error in its text. */
async function call(client: Client, name: string, input: object): Promise<unknown> {
  const { isError, structuredContent, content } = await client.callTool({ name, arguments: { ...input } })
  const [first] = content
  const text: unknown = first?.type === 'text' ? JSON.parse(first.text) : undefined
  if (isError) return { failed: text }
  expect(text).toEqual(structuredContent)
  return structuredContent
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}

/** Posts one message in the wire format. */
function post(body: unknown, headers: Record<string, string> = {}): Promise<TestResponse> {
  return server.request('POST', '/mcp', {
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-api-key': account.apiKey,
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

test('serves an account only while its owner has turned it on', async () => {
  const { accountId, apiKey } = await server.account()
  const initializeWith = () => post(initialize, { 'x-api-key': apiKey })

  const off = await initializeWith()
  await updateAccount(server.deps, accountId, { mcpEnabled: true })
  const on = await initializeWith()
  await updateAccount(server.deps, accountId, { mcpEnabled: false })
  const offAgain = await initializeWith()

  expect([off.statusCode, on.statusCode, offAgain.statusCode]).toEqual([403, 200, 403])
  expect(off.json().error).toMatchObject({
    message:
      'MCP is off for this account. An account owner turns it on in the dashboard under Public API, an operator with `waybill account update`.',
    data: { code: 'API_DISABLED' },
  })
})

test('has a tool for each procedure, with the fields of its contract', async () => {
  const client = await connect(account)
  const { tools } = await client.listTools()

  expect(tools.map(({ name, title }) => ({ name, title }))).toEqual(
    listProcedures(contracts).map(({ name, contract: { summary } }) => ({
      name: name.replace('.', '_'),
      title: summary,
    })),
  )
  for (const [index, { contract }] of listProcedures(contracts).entries()) {
    const { inputSchema } = tools[index] ?? {}
    const fields = Object.keys(contract.input.shape)
    expect(Object.keys(inputSchema?.properties ?? {})).toEqual(
      contract.idempotent ? [...fields, 'idempotencyKey'] : fields,
    )
  }
  expect(JSON.stringify(tools)).not.toMatch(/\$ref|\$defs|\$schema/)
})

test.each(['"__proto__":{}', '"variables":{"__proto__":"x"}'])('rejects arguments with %s', async (field) => {
  const input = `{${field},"idempotencyKey":"proto-1","to":"34600111222","template":"order_shipped","language":"en"}`
  const params = `{"name":"message_send","arguments":${input}}`
  const response = await post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`)

  expect(response.text).toContain('"isError":true')
  expect(response.text).toMatch(/no such field|must not contain the name __proto__/)
})

test('lists all tools in 40,000 characters, and explains a shared definition once', async () => {
  const { tools } = await (await connect(account)).listTools()
  const fieldsOf = (tool: string) => tools.find(({ name }) => name === tool)?.inputSchema.properties

  expect(JSON.stringify(tools).length).toBeLessThanOrEqual(40_000)
  expect(fieldsOf('message_send')?.['header']).toMatchObject({ title: 'MessageHeader', properties: { image: {} } })
  expect(fieldsOf('message_preview')?.['header']).toEqual({
    type: 'object',
    title: 'MessageHeader',
    description: 'As in message_send.',
  })
})

test('names tools and arguments in descriptions, not procedures and headers', async () => {
  const { tools } = await (await connect(account)).listTools()
  const text = JSON.stringify(tools)

  expect(tools.find(({ name }) => name === 'code_send')?.description).toContain('With an `idempotencyKey`, a retry')
  expect(text).toContain('written as in `code_send`')
  expect(text).not.toContain('Idempotency-Key')
  const procedures = listProcedures(contracts).map(({ name }) => name)
  expect(procedures.filter((name) => text.includes(`\`${name}\``))).toEqual([])
})

test('announces what only reads, and a send as repeatable with its key', async () => {
  const { tools } = await (await connect(account)).listTools()
  const send = tools.find(({ name }) => name === 'message_send')

  expect(send?.annotations).toEqual({ idempotentHint: true })
  expect(send?.inputSchema.required).toContain('idempotencyKey')
  // The protocol takes a tool without these hints for a destructive one.
  expect(tools.flatMap(({ name, annotations }) => (annotations?.readOnlyHint === true ? [] : [name]))).toEqual([
    'message_send',
    'code_send',
    'code_check',
    'template_create',
    'template_update',
    'template_delete',
    'template_duplicate',
    'suppression_add',
    'suppression_remove',
    'suppression_import',
    'media_import',
    'media_delete',
  ])
})

test.each([
  { mode: 'legacy', header: 'X-API-Key', to: '34600700001' },
  { mode: 'auto', header: 'Authorization', to: '34600700002' },
] as const)('previews, sends once and reads in $mode mode with the key in $header', async (how) => {
  const client = await connect(account, how)
  expect(client.getNegotiatedProtocolVersion()).toMatch(how.mode === 'legacy' ? /^2025-/ : /^2026-/)
  const input = { ...example, to: how.to }

  expect(await call(client, 'message_preview', input)).toMatchObject({
    to: how.to,
    body: expect.stringContaining('Ada'),
  })
  const sent = await call(client, 'message_send', { ...input, idempotencyKey: `mcp-${how.to}` })
  const again = await call(client, 'message_send', { ...input, idempotencyKey: `mcp-${how.to}` })
  expect(sent).toMatchObject({ status: 'sent', to: how.to })
  expect(again).toEqual(sent)
  expect(server.simulator.requests.filter(({ body }) => JSON.stringify(body).includes(`+${how.to}`))).toHaveLength(1)

  const { messageId } = sent as { messageId: string }
  expect(await call(client, 'message_get', { messageId })).toMatchObject({ messageId, to: how.to })
  expect(await call(client, 'message_list', { to: how.to })).toMatchObject({ items: [{ messageId }] })
  const template = { name: example.template, language: example.language }
  expect(await call(client, 'template_get', template)).toMatchObject(template)
  expect(await call(client, 'template_list', { limit: 1 })).toMatchObject({ items: [{}] })
  expect(await call(client, 'event_list', {})).toMatchObject({ items: [] })
  await client.close()
})

test.each(['shared', '"shared"', ' shared '])('treats the idempotency key %j like REST', async (idempotencyKey) => {
  const input = { ...example, to: '34600700003' }
  const rest = await account.post('/api/v1/message/send', input, { 'idempotency-key': 'shared' })
  const tool = await call(await connect(account), 'message_send', { ...input, idempotencyKey })

  expect(tool).toEqual(rest.json().data)
})

test.each([
  { name: 'message_send', input: { ...example, template: 'none', idempotencyKey: 'e1' }, code: 'TEMPLATE_NOT_FOUND' },
  { name: 'message_send', input: example, code: 'VALIDATION_ERROR', says: 'idempotencyKey: is required' },
  {
    name: 'message_send',
    input: { ...example, idempotencyKey: '' },
    code: 'VALIDATION_ERROR',
    says: 'idempotencyKey: ',
  },
  {
    name: 'message_send',
    input: { ...example, to: '+1', idempotencyKey: 'e2' },
    code: 'VALIDATION_ERROR',
    says: 'to: ',
  },
  { name: 'message_preview', input: { ...example, colour: 'red' }, code: 'VALIDATION_ERROR', says: '"colour"' },
  { name: 'message_get', input: { messageId: 'msg_none' }, code: 'MESSAGE_NOT_FOUND' },
  { name: 'message_list', input: { limit: 101 }, code: 'VALIDATION_ERROR', says: 'limit: must be at most 100' },
])('returns $code from $name as a result that a model can read', async ({ name, input, code, says = '' }) => {
  expect(await call(await connect(account), name, input)).toMatchObject({
    failed: { code, message: expect.stringContaining(says) },
  })
})

test('rejects an unknown tool with a protocol error', async () => {
  const client = await connect(account)

  await expect(client.callTool({ name: 'message_delete', arguments: {} })).rejects.toThrow('There is no such tool')
})

test('does not find a message of another account', async () => {
  const other = await assistedAccount()
  const sent = await account.post('/api/v1/message/send', { ...example, to: '34600700004' })

  expect(
    await call(await connect(other), 'message_get', { messageId: sent.json().data['messageId'] as string }),
  ).toEqual({ failed: { code: 'MESSAGE_NOT_FOUND', message: expect.any(String) } })
})

test('shares the rate limit with the API, and counts only sends', async () => {
  const limited = await assistedAccount({ rateLimit: 1 })
  const client = await connect(limited)
  const send = (idempotencyKey: string) => call(client, 'message_send', { ...example, idempotencyKey })

  expect(await call(client, 'template_list', {})).toMatchObject({ items: expect.any(Array) })
  expect(await send('first')).toMatchObject({ status: 'sent' })
  expect(await send('second')).toEqual({
    failed: { code: 'RATE_LIMIT_EXCEEDED', message: expect.any(String), retryAfterSeconds: expect.any(Number) },
  })
  expect((await limited.post('/api/v1/message/send', example)).statusCode).toBe(429)
})

test.each([
  { attack: 'without a key', headers: { 'x-api-key': '' }, status: 401, code: 'INVALID_API_KEY' },
  { attack: 'with a wrong key', headers: { 'x-api-key': 'wb_live_0' }, status: 401, code: 'INVALID_API_KEY' },
  {
    attack: 'with a wrong bearer token',
    headers: { 'x-api-key': '', authorization: 'Bearer wb_live_0' },
    status: 401,
    code: 'INVALID_API_KEY',
  },
  { attack: 'from a foreign page', headers: { origin: 'https://evil.example' }, status: 403, code: 'FOREIGN_ORIGIN' },
  { attack: 'from a page without origin', headers: { origin: 'null' }, status: 403, code: 'FOREIGN_ORIGIN' },
  {
    attack: 'from a page that rebinds a name',
    headers: { origin: 'http://evil.example', host: 'evil.example' },
    status: 403,
    code: 'FOREIGN_ORIGIN',
  },
  { attack: 'as text', headers: { 'content-type': 'text/plain' }, status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' },
  { attack: 'as a batch', body: [initialize, initialize], status: 400, code: 'VALIDATION_ERROR' },
  { attack: 'as an empty batch', body: [], status: 400, code: 'VALIDATION_ERROR' },
  { attack: 'as broken JSON', body: '{"jsonrpc":', status: 400, code: 'VALIDATION_ERROR' },
  { attack: 'as a string', body: '"initialize"', status: 400, code: 'VALIDATION_ERROR' },
  { attack: 'that is too large', body: `"${'x'.repeat(70_000)}"`, status: 413, code: 'PAYLOAD_TOO_LARGE' },
])('rejects a message $attack with $status', async ({ headers = {}, body = initialize, status, code }) => {
  const response = await post(body, headers as Record<string, string>)

  expect(response.statusCode).toBe(status)
  expect(JSON.parse(response.text)).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: { code: expect.any(Number), message: expect.any(String), data: { code } },
  })
})

test('links the rejection of another origin to the page of its code', async () => {
  const response = await post(initialize, { origin: 'https://evil.example' })

  expect(response.headers['link']).toBe('</docs/errors/FOREIGN_ORIGIN>; rel="help"')
  const page = await server.request('GET', '/docs/errors/FOREIGN_ORIGIN')
  expect(page.text).toContain('WAYBILL_PUBLIC_URL')
})

test('accepts a message from its own origin', async () => {
  expect((await post(initialize, { origin: publicUrl })).statusCode).toBe(200)
})

test.each([
  undefined,
  '*/*',
  'application/*, text/*;q=0.5',
  'Application/JSON, Text/Event-Stream',
  'text/event-stream',
])('answers a client that sends the Accept header %j', async (accept) => {
  const response = await account.post('/mcp', initialize, accept === undefined ? {} : { accept })

  expect({ status: response.statusCode, text: response.text }).toEqual({
    status: 200,
    text: expect.stringContaining('"protocolVersion"'),
  })
})

test('says what to accept to a client that accepts no event stream', async () => {
  const response = await post(initialize, { accept: 'application/json' })

  expect(response.statusCode).toBe(406)
  expect(response.text).toContain('Client must accept both application/json and text/event-stream')
  expect(response.json()).toMatchObject({ error: { code: -32_000 } })
  expect(response.json().error).not.toHaveProperty('data')
})

test('checks the key before it reads the message', async () => {
  expect((await post('{"jsonrpc":', { 'x-api-key': '' })).statusCode).toBe(401)
})

test.each([
  { message: { colour: 'red' } },
  { message: { jsonrpc: '2.0', id: 1, method: 'no/such' } },
  { message: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 7 } } },
  { message: { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'file:///etc/passwd' } } },
])('responds to $message with a JSON-RPC error', async ({ message }) => {
  const response = await post(message)

  expect(response.statusCode).toBeLessThan(500)
  expect(response.text).toMatch(/"error":\{"code":-32\d{3},/)
  expect(response.text).not.toMatch(/\.ts:|node_modules/)
})

test('opens no stream that outlives its request', async () => {
  const client = await connect(account)
  const listen = {
    jsonrpc: '2.0',
    id: 1,
    method: 'subscriptions/listen',
    params: {
      notifications: { toolsListChanged: true },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': client.getNegotiatedProtocolVersion(),
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  }
  const response = await post(listen, {
    'mcp-protocol-version': client.getNegotiatedProtocolVersion() ?? '',
    'mcp-method': 'subscriptions/listen',
  })

  expect(response.text).toContain('Subscription limit reached')
})

test.each(['GET', 'DELETE'])('rejects %s, since there is no session', async (method) => {
  const response = await server.request(method, '/mcp', { headers: { 'x-api-key': account.apiKey } })

  expect(response.statusCode).toBe(405)
  expect(response.headers['allow']).toBe('POST')
})

test('rejects an address that is not on the allow-list', async () => {
  const listed = await assistedAccount()
  await setAllowList(server.deps, listed.accountId, ['192.0.2.1'])
  const response = await post(initialize, { 'x-api-key': listed.apiKey })

  expect(response.statusCode).toBe(403)
  expect(response.text).toContain('IP_NOT_ALLOWED')
})

test('counts towards the limit of concurrent requests', async () => {
  const full = await nodeForTest(server, { server: { maxConcurrentRequests: 0 } })
  const response = await through(full, account).post('/mcp', initialize)
  expect(response.statusCode).toBe(503)
  expect(response.text).toContain('SERVICE_UNAVAILABLE')
})

test('logs no key', () => {
  expect(server.log.filter((line) => line.includes('wb_live_') || line.includes(account.apiKey))).toEqual([])
})

test('does not load the SDK before the first message', async () => {
  const module = path.resolve(import.meta.dirname, '../../../src/http/server.ts')
  const script = `
    import { registerHooks } from 'node:module'
    let loaded = 0
    registerHooks({ load: (url, context, next) => (url.includes('/@modelcontextprotocol/') && (loaded += 1), next(url, context)) })
    await import(${JSON.stringify(module)})
    const before = loaded
    await import(${JSON.stringify(path.resolve(module, '../mcp/session.ts'))})
    console.log(JSON.stringify({ before, used: loaded > 0 }))
  `
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])

  expect(JSON.parse(stdout)).toEqual({ before: 0, used: true })
})

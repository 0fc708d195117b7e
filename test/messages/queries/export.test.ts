import { once } from 'node:events'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { Message } from '../../../contracts/api/message.ts'
import { updateAccount } from '../../../src/accounts/account.ts'
import { revokeKey } from '../../../src/accounts/api-key.ts'
import { exampleSend } from '../../support/example-send.ts'
import { openSocket } from '../../support/raw-socket.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer, through, type TestAccount, type TestServer } from '../../support/server.ts'
import { exportPath as path, insertMessages, listAll, readLines } from './exported.ts'

const pageSize = 100

const server = await forFile(startTestServer())
const account = await server.account()
await insertMessages(server, account, 250)

/** A node that calls `onPage` after each statement that reads messages, with its number, before the page is used. */
async function startWatchedNode(
  onPage: (number: number) => Promise<void> | void = () => {},
  options: Parameters<typeof startTestServer>[0] = {},
): Promise<{ node: TestServer; countPages: () => number }> {
  const reads = new WeakSet<object>()
  let pages = 0
  const db = server.deps.db.withPlugin({
    transformQuery: ({ node, queryId }) => {
      if (node.kind === 'SelectQueryNode' && JSON.stringify(node).includes('"messages"')) reads.add(queryId)
      return node
    },
    transformResult: async ({ result, queryId }) => {
      if (reads.has(queryId)) await onPage(++pages)
      return result
    },
  })
  const node = await startTestServer({ beside: server, ...options, deps: { db } })
  return { node, countPages: () => pages }
}

/** Requests an export over a socket, of which the test decides how much it reads. */
function open(node: TestServer, { apiKey }: TestAccount, { query = '', version = '1.1', method = 'GET' } = {}): Socket {
  const socket = openSocket(node.url)
  socket.write(
    `${method} ${path}${query} HTTP/${version}\r\nHost: x\r\nX-API-Key: ${apiKey}\r\nConnection: close\r\n\r\n`,
  )
  return socket
}

async function readToEnd(socket: Socket): Promise<string> {
  const parts: Buffer[] = []
  socket.on('data', (data: Buffer) => parts.push(data))
  if (!socket.closed) await once(socket, 'close')
  return Buffer.concat(parts).toString()
}

/** The messages in a chunked response, complete or not. */
function readChunked(response: string): Message[] {
  const body = response.slice(response.indexOf('\r\n\r\n') + 4)
  const lines = body.replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/g, '').replace(/\r\n$/, '')
  return readLines(lines.slice(0, lines.lastIndexOf('\n') + 1))
}

const lastChunk = /\r\n0\r\n\r\n$/

test('writes CSV with the fields of the API, and changes no value', async () => {
  const customer = await server.account()
  const externalId = '=1+1, "quoted"; -2'
  await customer.post('/api/v1/message/send', { ...exampleSend, externalId })
  await customer.post('/api/v1/message/send', { ...exampleSend, to: '15550131026' })
  const [failed, sent] = await listAll(customer)

  const response = await customer.get(`${path}?format=csv`)

  expect(response.headers['content-type']).toBe('text/csv; charset=utf-8; header=present')
  expect(response.text).toBe(
    [
      'messageId,waMessageId,status,to,recipient,waId,userId,template,language,accountId,externalId,createdAt,sentAt,deliveredAt,readAt,failedAt,error.code,error.message',
      `${failed?.messageId},,failed,15550131026,,,,order_shipped,en,${failed?.accountId},order-1042,${failed?.createdAt},,,,${failed?.failedAt},131026,${failed?.error?.message.includes(',') ? `"${failed.error.message}"` : failed?.error?.message}`,
      `${sent?.messageId},${sent?.waMessageId},sent,${exampleSend.to},,,,order_shipped,en,${sent?.accountId},"=1+1, ""quoted""; -2",${sent?.createdAt},${sent?.sentAt},,,,,`,
      '',
    ].join('\r\n'),
  )
})

test('has no row and no line without messages, and nothing of other accounts', async () => {
  const customer = await server.account()

  expect((await customer.get(path)).text).toBe('')
  expect((await customer.get(`${path}?format=csv`)).text).toMatch(/^messageId,.*\r\n$/)
})

test('ends although messages are recorded while it is read, and continues before the cursor', async () => {
  const customer = await server.account()
  await insertMessages(server, customer, 3 * pageSize)
  const all = await listAll(customer)
  const { node } = await startWatchedNode(async () => {
    await customer.post('/api/v1/message/send', exampleSend)
  })

  expect(readLines((await through(node, customer).get(path)).text)).toEqual(all)
  const rest = await customer.get(`${path}?cursor=${all[41]?.messageId}`)
  expect(readLines(rest.text)).toEqual(all.slice(42))
  await node.close()
})

test('loses and repeats nothing if a client continues after a lost connection', async () => {
  const customer = await server.account()
  await insertMessages(server, customer, 5 * pageSize)
  const { node } = await startWatchedNode((page) => {
    if (page === 3) throw new Error('the database is gone')
  })

  const cut = await readToEnd(open(node, customer))
  expect(cut).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(cut).not.toMatch(lastChunk)
  const before = readChunked(cut)
  expect(before).toHaveLength(2 * pageSize)
  const rest = await customer.get(`${path}?cursor=${before.at(-1)?.messageId}`)

  expect([...before, ...readLines(rest.text)]).toEqual(await listAll(customer))
  expect(node.log.filter((line) => line.includes('a request failed'))).toHaveLength(1)
  await node.close()
})

test('answers a failure of the first page in the envelope, and frees the place', async () => {
  const { node } = await startWatchedNode((page) => {
    if (page === 1) throw new Error('the database is gone')
  })
  const caller = through(node, account)

  const failed = await caller.get(path)
  expect([failed.statusCode, failed.json().error.code]).toEqual([500, 'INTERNAL_ERROR'])
  expect((await caller.get(path)).statusCode).toBe(200)
  await node.close()
})

/** More than the buffers of the kernel hold: 40 MB in 30 pages. */
async function insertLargeExport(): Promise<TestAccount> {
  const customer = await server.account()
  await insertMessages(server, customer, 30 * pageSize, { errorBytes: 40_000 })
  return customer
}

test('refuses a second export of the account, and stops reading when the client leaves', async () => {
  const customer = await insertLargeExport()
  const other = await server.account()
  const { node, countPages } = await startWatchedNode()
  const caller = through(node, customer)
  const socket = open(node, customer)
  await once(socket, 'data')
  socket.pause()

  const refused = await caller.get(path)
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '30'])
  expect(refused.json().error).toMatchObject({
    code: 'RATE_LIMIT_EXCEEDED',
    message: 'This account already has an export in progress. Try again in 30 seconds.',
  })
  expect((await through(node, other).get(path)).statusCode).toBe(200)

  socket.destroy()
  await expect.poll(async () => (await caller.get(`${path}?externalId=none`)).statusCode).toBe(200)
  expect(countPages()).toBeLessThan(30)
  await node.close()
})

test('reads no further than a client that does not read, and disconnects it', async () => {
  const customer = await insertLargeExport()
  const { node, countPages } = await startWatchedNode(() => {}, { server: { stallMilliseconds: 300 } })
  const socket = open(node, customer).pause()

  // A client that does not read notices the close only by writing.
  await expect
    .poll(() => {
      socket.write('\r\n')
      return socket.destroyed
    })
    .toBe(true)
  await expect.poll(async () => (await through(node, customer).get(`${path}?externalId=none`)).statusCode).toBe(200)
  expect(countPages()).toBeLessThan(30)
  await node.close()
})

test('gives all of a large export to a client that pauses', async () => {
  const customer = await insertLargeExport()
  const socket = open(server, customer)
  socket.on('data', () => {
    socket.pause()
    setImmediate(() => socket.resume())
  })

  const response = await readToEnd(socket)

  expect(response).toMatch(lastChunk)
  expect(readChunked(response)).toHaveLength(30 * pageSize)
})

test.each([
  { change: 'a revoked key', make: ({ accountId }: TestAccount) => revokeKey(server.deps, accountId) },
  {
    change: 'disabled API access',
    make: ({ accountId }: TestAccount) => updateAccount(server.deps, accountId, { apiEnabled: false }),
  },
])('ends an export at the next page after $change', async ({ make }) => {
  const customer = await server.account()
  await insertMessages(server, customer, 5 * pageSize)
  // Looks like a batch of tRPC, whose calls share the check of their key.
  const externalId = 'batch=1'
  const ofCustomer = server.deps.db.updateTable('messages').where('account_id', '=', customer.accountId)
  await ofCustomer.set({ external_id: externalId }).execute()
  const { node, countPages } = await startWatchedNode(async (page) => {
    if (page === 2) await make(customer)
  })

  const response = await readToEnd(open(node, customer, { query: `?externalId=${externalId}` }))

  expect(response).not.toMatch(lastChunk)
  expect(readChunked(response)).toHaveLength(2 * pageSize)
  expect(countPages()).toBe(2)
  await node.close()
})

test('ends when the server stops', async () => {
  const customer = await insertLargeExport()
  const { node } = await startWatchedNode()
  const socket = open(node, customer)
  await once(socket, 'data')
  socket.pause()

  await node.close()

  expect(await readToEnd(socket.resume())).not.toMatch(lastChunk)
})

test('fails with an ordinary error if the server stops before the first page', async () => {
  const page = Promise.withResolvers<void>()
  const { node, countPages } = await startWatchedNode(() => page.promise)
  const response = through(node, account).get(path)
  await expect.poll(countPages).toBe(1)

  const closed = node.close()
  page.resolve()

  expect((await response).json().error).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  await closed
})

test('answers HEAD without reading on, and refuses HTTP/1.0, which cannot show that a response is incomplete', async () => {
  const { node, countPages } = await startWatchedNode()

  const head = await node.request('HEAD', path, { headers: { 'x-api-key': account.apiKey } })
  expect([head.statusCode, head.headers['content-type']]).toEqual([200, 'application/x-ndjson'])
  expect(countPages()).toBe(1)
  const old = await readToEnd(open(node, account, { version: '1.0' }))
  expect(old).toMatch(/^HTTP\/1\.1 400 [^]*An export needs HTTP\/1\.1/)
  expect((await through(node, account).get(path)).statusCode).toBe(200)
  await node.close()
})

test('counts exports, and records them in the audit log', async () => {
  const customer = await server.account()
  const statuses = await Promise.all([customer.get(`${path}?format=xml`), server.request('GET', path)])
  expect(statuses.map(({ statusCode }) => statusCode)).toEqual([400, 401])

  for (let count = 0; count < 30; count++) expect((await customer.get(path)).statusCode).toBe(200)
  const refused = await customer.get(path)

  expect([refused.statusCode, refused.json().error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED'])
  expect(refused.json().error.message).toContain('You may export 30 times per hour')
  const entries = await server.deps.db
    .selectFrom('audit_entries')
    .selectAll()
    .where('account_id', '=', customer.accountId)
    .execute()
  expect(entries.filter((entry) => JSON.stringify(entry).includes('exported messages by API'))).toHaveLength(60)
})

test('is in the request log with the failure that ended it', async () => {
  const customer = await server.account()
  await insertMessages(server, customer, 3 * pageSize)
  const { node } = await startWatchedNode(
    async (page) => {
      if (page === 2) await revokeKey(server.deps, customer.accountId)
    },
    { requestLog: {} },
  )
  await readToEnd(open(node, customer))
  await node.close()

  const logged = await server.deps.db
    .selectFrom('api_requests')
    .select(['path', 'status', 'error_code'])
    .where('account_id', '=', customer.accountId)
    .execute()
  expect(logged).toEqual([{ path, status: 200, error_code: 'INVALID_API_KEY' }])
})

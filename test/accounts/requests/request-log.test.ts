import { type Kysely, type KyselyPlugin, sql } from 'kysely'
import { expect, test } from 'vitest'
import { changes } from '../../../contracts/facts/changes.ts'
import type { RecentUse } from '../../../contracts/dashboard/public-api.ts'
import type {
  ApiRequest,
  ApiRequestDetails,
  ApiRequestPage,
  RequestSummary,
} from '../../../contracts/dashboard/request.ts'
import { updateAccount } from '../../../src/accounts/account.ts'
import { setAllowList } from '../../../src/accounts/ip-allow-list.ts'
import { summarizeApiRequests } from '../../../src/accounts/requests/list.ts'
import { getRecentUse } from '../../../src/accounts/requests/recent-use.ts'
import { findRequests, insertRequests } from '../../../src/accounts/requests/store.ts'
import { eraseRecipient } from '../../../src/messages/erasure/erase.ts'
import type { Database } from '../../../src/platform/db/schema.ts'
import { createRequestIds, firstRequestIdAt, timeOfRequestId } from '../../../src/platform/ids.ts'
import { hasData, removeAccount } from '../../../src/cli/account-data/remove.ts'
import { exportAccount } from '../../../src/cli/account-data/export.ts'
import { forFile } from '../../support/lifetime.ts'
import { accountWithOwner, signedInOwner } from '../../support/user.ts'
import { startTestServer } from '../../support/server.ts'

const message = { template: 'order_shipped', language: 'en', variables: { '1': 'Ada', '2': 'WB-1042' } }

const server = await forFile(startTestServer({ requestLog: { flushMilliseconds: 20 } }))
const { owner, ...account } = await accountWithOwner(server)

async function list(filter: object = {}, by = { owner, accountId: account.accountId }): Promise<ApiRequest[]> {
  const { statusCode, data, error } = await by.owner.query<ApiRequestPage>('request.list', {
    accountId: by.accountId,
    ...filter,
  })
  expect(error?.message).toBeUndefined()
  expect(statusCode).toBe(200)
  return data.items
}

/** Waits until a request with this ID is recorded. */
async function find(requestId: unknown): Promise<ApiRequestDetails> {
  const details = async () => {
    const { data } = await owner.query<ApiRequestDetails>('request.get', { accountId: account.accountId, requestId })
    return data
  }
  await expect.poll(details).toMatchObject({ requestId })
  return details()
}

test('counts the requests by error code regardless of the filter by code', async () => {
  const counted = await server.account()
  const by = { owner: await signedInOwner(server, counted.accountId), accountId: counted.accountId }
  const summarize = async (filter: object) => {
    const { data } = await by.owner.query<RequestSummary>('request.summary', { accountId: by.accountId, ...filter })
    return data
  }
  for (const to of ['34600111222', '+1', '+2']) await counted.post('/api/v1/message/send', { ...message, to })
  await counted.get('/api/v1/nothing')
  await expect.poll(async () => (await list({}, by)).length).toBe(4)
  const [first, second] = (await summarize({})).errorCodes

  expect(await summarize({})).toMatchObject({ count: 4, isComplete: true })
  expect(first).toEqual({ errorCode: 'VALIDATION_ERROR', count: 2 })
  expect(second).toMatchObject({ count: 1 })
  expect(await summarize({ errorCode: 'VALIDATION_ERROR' })).toMatchObject({ count: 2, errorCodes: [first, second] })
  expect(await summarize({ outcome: 'succeeded' })).toEqual({ count: 1, isComplete: true, errorCodes: [], keptDays: 7 })
  expect(await summarize({ path: 'nothing' })).toMatchObject({ count: 1, errorCodes: [second] })

  const bounded = await summarizeApiRequests(server.deps, { accountId: by.accountId }, 3)
  expect(bounded).toMatchObject({ count: 3, isComplete: false })
})

test('reports recent IP addresses, the peak minute and who refused requests with 429', async () => {
  const used = await server.account()
  const viewer = await signedInOwner(server, used.accountId, { role: 'viewer' })
  const read = async () => (await viewer.query<RecentUse>('publicApi.recentUse', { accountId: used.accountId })).data
  const minute = new Date(Math.floor(Date.now() / 60_000) * 60_000 - 600_000)
  const record = (request: Partial<Parameters<typeof insertRequests>[1][number]>, at: number) => ({
    accountId: used.accountId,
    keyHash: undefined,
    id: `${firstRequestIdAt(new Date(minute.getTime() + at))}_0`,
    method: 'POST',
    path: '/api/v1/message/send',
    status: 200,
    errorCode: undefined,
    durationMilliseconds: 1,
    keyStart: 'waybill_live_0',
    address: '192.0.2.10',
    messageIds: ['msg_1'],
    receivedAt: performance.now(),
    externalId: undefined,
    request: undefined,
    answer: undefined,
    ...request,
  })
  const none = { rateLimit: 0, codeLimit: 0, whatsApp: 0 }
  expect(await read()).toMatchObject({ addresses: [], rejected: none })
  expect(await read()).not.toHaveProperty('highestMinute')

  await insertRequests(server.deps.db, [
    record({}, 1_000),
    record({ messageIds: ['msg_2', 'msg_3'] }, 59_000),
    record({ address: '192.0.2.11' }, 61_000),
    record({ status: 429, errorCode: 'RATE_LIMIT_EXCEEDED', messageIds: undefined }, 62_000),
    record({ status: 429, errorCode: 'WHATSAPP_THROTTLED', messageIds: undefined }, 62_100),
    record({ status: 429, errorCode: 'WHATSAPP_THROTTLED', messageIds: undefined }, 62_200),
    record({ status: 403, errorCode: 'IP_NOT_ALLOWED', address: '203.0.113.1', messageIds: undefined }, 63_000),
  ])

  const use = {
    addresses: ['192.0.2.10', '192.0.2.11'],
    // Failed sends count towards the limit, but not those from an address that the allow-list rejects.
    highestMinute: { at: new Date(minute.getTime() + 60_000).toISOString(), sends: 4 },
    rejected: { rateLimit: 1, codeLimit: 0, whatsApp: 2 },
  }
  expect(await read()).toMatchObject(use)
  const bounded = await getRecentUse(server.deps, used.accountId, 5)
  expect(bounded).toMatchObject({ since: new Date(minute.getTime() + 61_000).toISOString(), rejected: use.rejected })
})

test('records a send with its message, and no bodies', async () => {
  const response = await account.post('/api/v1/message/send', { ...message, to: '34600111222' })

  const recorded = await find(response.headers['x-request-id'])
  expect(recorded).toEqual({
    requestId: response.headers['x-request-id'],
    at: timeOfRequestId(recorded.requestId).toISOString(),
    method: 'POST',
    path: '/api/v1/message/send',
    status: 200,
    durationMilliseconds: expect.any(Number),
    keyStart: account.apiKey.slice(0, 14),
    address: '127.0.0.1',
    messageIds: [response.json().data['messageId']],
  })
})

test('records a rejected request with its body and its response', async () => {
  const response = await account.post('/api/v1/message/send', {
    ...message,
    to: '+34 600 111 222',
    externalId: 'order-rejected',
  })
  expect(response.statusCode).toBe(400)

  const recorded = await find(response.headers['x-request-id'])
  expect(recorded).toMatchObject({
    status: 400,
    errorCode: 'VALIDATION_ERROR',
    externalId: 'order-rejected',
    messageIds: [],
  })
  const [listed] = await list({ search: 'order-rejected' })
  expect(listed).toMatchObject({ errorMessage: response.json().error.message })
  expect(JSON.parse(recorded.answer ?? '')).toEqual(response.json())
  expect(JSON.parse(recorded.request ?? '')).toEqual({
    template: 'order_shipped',
    language: 'en',
    variables: { '1': '[hidden: 3 characters]', '2': '[hidden: 7 characters]' },
    to: '+34 600 111 222',
    externalId: 'order-rejected',
  })
})

test('shows what an error quotes of the recorded request, and hides what it quotes of a hidden value', async () => {
  const response = await account.post('/api/v1/message/send', { ...message, template: 'offer_2026', 'my 4711 code': 1 })
  expect(response.statusCode).toBe(400)
  const unknown = await account.post('/api/v1/message/send', { ...message, to: '34600111222', template: 'offer_2026' })
  expect(unknown.statusCode).toBe(404)

  expect((await find(response.headers['x-request-id'])).answer).not.toContain('4711')
  expect((await find(unknown.headers['x-request-id'])).answer).toContain('offer_2026')
})

test('records a send that WhatsApp rejects with the message that failed', async () => {
  const response = await account.post('/api/v1/message/send', {
    ...message,
    to: '15550131026',
    externalId: 'order-undeliverable',
  })
  expect(response.json().error.code).toBe('MESSAGE_REJECTED')

  const recorded = await find(response.headers['x-request-id'])
  expect(recorded).toMatchObject({ errorCode: 'MESSAGE_REJECTED', messageIds: [expect.stringMatching(/^msg_/)] })
  const { rows } = await sql<{ status: string; external_id: string }>`
    select status, external_id from messages where id = ${recorded.messageIds[0]}`.execute(server.deps.db)
  expect(rows).toEqual([{ status: 'failed', external_id: 'order-undeliverable' }])
})

test('links a repeated request to the message of the first', async () => {
  const body = { ...message, to: '34600111222' }
  const first = await account.post('/api/v1/message/send', body, { 'idempotency-key': 'repeated' })
  const second = await account.post('/api/v1/message/send', body, { 'idempotency-key': 'repeated' })

  const [one, two] = [await find(first.headers['x-request-id']), await find(second.headers['x-request-id'])]
  expect(one.messageIds).toEqual([first.json().data['messageId']])
  expect(two.messageIds).toEqual(one.messageIds)
})

test('records every tRPC call, and both messages of a batch', async () => {
  const input = { ...message, to: '34600111222' }
  const batch = { 0: input, 1: { ...input, variables: { '1': 'Ada' } }, 2: input }
  const response = await account.post('/trpc/message.send,message.send,message.send?batch=1', batch)
  expect(response.statusCode).toBe(207)

  const recorded = await find(response.headers['x-request-id'])
  expect(recorded).toMatchObject({
    method: 'POST',
    path: '/trpc/message.send,message.send,message.send',
    status: 207,
    errorCode: 'VALIDATION_ERROR',
    messageIds: [expect.stringMatching(/^msg_/), expect.stringMatching(/^msg_/)],
  })
  expect(JSON.parse(recorded.request ?? '')).toMatchObject({ 1: { variables: { '1': '[hidden: 3 characters]' } } })
  expect(recorded.answer).toContain('variables')
  const [listed] = await list({ search: response.headers['x-request-id'] })
  expect(listed?.errorMessage).toMatch(/^variables: /)
})

test('records a failed call of an MCP tool', async () => {
  await updateAccount(server.deps, account.accountId, { mcpEnabled: true })
  const response = await server.request('POST', '/mcp', {
    headers: {
      authorization: `Bearer ${account.apiKey}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'message_send',
        arguments: { ...message, to: '0034', externalId: 'from-a-tool', idempotencyKey: 'k' },
      },
    }),
  })

  const recorded = await find(response.headers['x-request-id'])
  expect(recorded).toMatchObject({ path: '/mcp', errorCode: 'VALIDATION_ERROR', externalId: 'from-a-tool' })
  expect(JSON.parse(recorded.request ?? '')).toMatchObject({
    method: 'tools/call',
    params: { name: 'message_send', arguments: { to: '0034', idempotencyKey: '[hidden: 1 character]' } },
  })
})

test.each([
  { what: 'an unknown path', method: 'POST', path: '/api/v1/messages/send', status: 404, code: 'NOT_FOUND' },
  { what: 'a wrong method', method: 'GET', path: '/api/v1/message/send', status: 405, code: 'METHOD_NOT_ALLOWED' },
])('records a request to $what, which fails before its key is checked', async ({ method, path, status, code }) => {
  const response = await server.request(method, path, { headers: { 'x-api-key': account.apiKey } })
  expect(response.statusCode).toBe(status)

  expect(await find(response.headers['x-request-id'])).toMatchObject({ method, path, status, errorCode: code })
})

test('records a body that is too large without storing it', async () => {
  const response = await account.post('/api/v1/message/send', { ...message, to: '1'.repeat(70_000) })
  expect(response.statusCode).toBe(413)

  const recorded = await find(response.headers['x-request-id'])
  expect(recorded).toMatchObject({ status: 413, errorCode: 'PAYLOAD_TOO_LARGE' })
  expect(recorded.request).toBeUndefined()
})

test('records requests that the allow-list or disabled access rejects', async () => {
  const strict = await server.account()
  await setAllowList(server.deps, strict.accountId, ['192.0.2.1'])
  const fromElsewhere = await strict.get('/api/v1/message')
  await setAllowList(server.deps, strict.accountId, [])
  await updateAccount(server.deps, strict.accountId, { apiEnabled: false })
  const disabled = await strict.get('/api/v1/message?status=sent')
  const strictOwner = { owner: await signedInOwner(server, strict.accountId), accountId: strict.accountId }

  await expect.poll(() => list({}, strictOwner)).toHaveLength(2)
  expect(await list({}, strictOwner)).toMatchObject([
    { requestId: disabled.headers['x-request-id'], status: 403, errorCode: 'API_DISABLED' },
    { requestId: fromElsewhere.headers['x-request-id'], status: 403, errorCode: 'IP_NOT_ALLOWED' },
  ])
})

test('searches by outcome, code, path, request ID, message ID, external ID and time', async () => {
  const from = new Date().toISOString()
  const sent = await account.post('/api/v1/message/send', { ...message, to: '34600111222', externalId: 'found-me' })
  const failed = await account.post('/api/v1/message/preview', { ...message, to: 'nobody', externalId: 'found-me' })
  const read = await account.get('/api/v1/template')
  const [sentId, failedId, readId] = [sent, failed, read].map(({ headers }) => String(headers['x-request-id']))
  await find(readId)
  const idsOf = async (filter: object) => (await list({ from, ...filter })).map(({ requestId }) => requestId)

  expect(await idsOf({})).toEqual([readId, failedId, sentId])
  expect(await idsOf({ outcome: 'failed' })).toEqual([failedId])
  expect(await idsOf({ outcome: '4xx' })).toEqual([failedId])
  expect(await idsOf({ outcome: '5xx' })).toEqual([])
  expect(await idsOf({ outcome: 'succeeded' })).toEqual([readId, sentId])
  expect(await idsOf({ errorCode: 'VALIDATION_ERROR' })).toEqual([failedId])
  expect(await idsOf({ errorCode: 'NOT_FOUND' })).toEqual([])
  expect(await idsOf({ path: 'message/' })).toEqual([failedId, sentId])
  expect(await idsOf({ path: '%' })).toEqual([])
  expect(await idsOf({ search: ` ${readId} ` })).toEqual([readId])
  expect(await idsOf({ search: sent.json().data['messageId'] })).toEqual([sentId])
  expect(await idsOf({ search: 'found-me' })).toEqual([failedId, sentId])
  expect(await idsOf({ search: 'found-me', outcome: 'failed' })).toEqual([failedId])
  expect(await idsOf({ search: 'found' })).toEqual([])
  expect(await list({ until: from, search: readId })).toEqual([])
})

test('pages through the requests without repeating one', async () => {
  const { owner: by, ...paged } = await accountWithOwner(server)
  for (let count = 0; count < 5; count += 1) await paged.get('/api/v1/event')
  await expect.poll(() => list({}, { owner: by, accountId: paged.accountId })).toHaveLength(5)
  const seen: string[] = []
  for (let cursor: string | undefined; ;) {
    const { data } = await by.query<ApiRequestPage>('request.list', {
      accountId: paged.accountId,
      limit: 2,
      ...(cursor && { cursor }),
    })
    seen.push(...data.items.map(({ requestId }) => requestId))
    if (data.nextCursor === undefined) break
    cursor = data.nextCursor
  }
  expect(new Set(seen).size).toBe(5)
  expect(seen).toEqual(seen.toSorted().toReversed())
  const { error } = await by.query('request.list', { accountId: paged.accountId, cursor: "'; drop table messages" })
  expect(error.data.code).toBe('VALIDATION_ERROR')
})

test('repeats and skips no request if others are recorded while a page is read', async () => {
  const { accountId } = await server.account()
  const start = firstRequestIdAt(new Date())
  const record = (...numbers: number[]) =>
    sql`
      insert into api_requests (account_id, id, method, path, status, duration_ms, key_start, address)
      select ${accountId}, ${start} || n, 'GET', '/api/v1/message', 200, 1, 'wb_', '::1'
      from unnest(${numbers}::integer[]) n`.execute(server.deps.db)
  await record(1, 2, 3, 4, 5, 6)
  let statements = 0
  const recordMeanwhile: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if ((statements += 1) === 1) await record(7, 8)
      return result
    },
  }
  const db = server.deps.db.withPlugin(recordMeanwhile)
  const read = async (beforeId?: string) => {
    const { rows, stoppedAt } = await findRequests(db, accountId, { path: 'message', beforeId }, 10, 3)
    return { found: rows.map(({ id }) => id.slice(start.length)), stoppedAt }
  }

  const first = await read()
  expect(first).toEqual({ found: ['8', '7', '6', '5', '4'], stoppedAt: `${start}4` })
  expect(await read(first.stoppedAt)).toEqual({ found: ['3', '2', '1'], stoppedAt: `${start}1` })
})

test('hides the requests of an account from members of other accounts', async () => {
  const response = await account.get('/api/v1/message')
  const { requestId } = await find(response.headers['x-request-id'])
  const { owner: outsider, ...other } = await accountWithOwner(server)

  const own = await outsider.query('request.get', { accountId: other.accountId, requestId })
  expect(own.error.data.code).toBe('NOT_FOUND')
  const foreign = await outsider.query('request.get', { accountId: account.accountId, requestId })
  expect(foreign.error.data.code).toBe('NOT_FOUND')
  expect(await list({}, { owner: outsider, accountId: other.accountId })).toEqual([])
})

/** Delays all statements of a database until `after` resolves. */
function delayStatements(db: Kysely<Database>, after: Promise<void>): Kysely<Database> {
  const executeQuery: typeof db.executeQuery = async (query) => {
    await after
    return db.executeQuery(query)
  }
  return new Proxy(db, {
    get: (target, name) => {
      if (name === 'executeQuery') return executeQuery
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

test('erases a number from the log and from buffered requests', async () => {
  const number = '34699887766'
  const erased = await server.account()
  const by = { owner: await signedInOwner(server, erased.accountId), accountId: erased.accountId }
  // Rejected with the number in the body, in the external ID and in the path.
  await erased.post('/api/v1/message/preview', {
    ...message,
    template: 'no_such',
    to: number,
    externalId: `+${number}`,
  })
  await erased.post(`/api/v1/message/${number}`, {})
  await expect.poll(() => list({}, by)).toHaveLength(2)
  expect(await countRowsWith(number)).toBe(2)
  // Arrives before the erasure and is written after it.
  const late = {
    accountId: erased.accountId,
    id: createRequestIds(server.deps.randomBytes)(),
    method: 'POST',
    path: `/api/v1/message/${number}`,
    status: 404,
    durationMilliseconds: 1,
    keyStart: erased.apiKey.slice(0, 14),
    address: '127.0.0.1',
    receivedAt: performance.now(),
    keyHash: undefined,
    errorCode: 'NOT_FOUND',
    messageIds: undefined,
    externalId: undefined,
    request: undefined,
    answer: undefined,
  }

  // Its statement is in flight to the database during the erasure.
  const erasure = Promise.withResolvers<void>()
  const inserted = insertRequests(delayStatements(server.deps.db, erasure.promise), [late])

  const result = await eraseRecipient(
    server.deps,
    { recipient: number },
    { audited: (_accountId, what, run) => (expect(what).toEqual(changes.eraseRecipient()), run()) },
  )
  erasure.resolve()
  await inserted

  expect(result).toMatchObject({ complete: true, rows: { api_requests: 2 } })
  expect(await countRowsWith(number)).toBe(0)
  expect(await list({}, by)).toHaveLength(2)
  // Later requests are recorded again.
  const response = await erased.get('/api/v1/message')
  await expect.poll(() => list({}, by)).toHaveLength(3)
  expect((await list({}, by))[0]?.requestId).toBe(response.headers['x-request-id'])
})

async function countRowsWith(text: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from api_requests r where r::text like ${`%${text}%`}`.execute(server.deps.db)
  return rows[0]?.count ?? 0
}

test('exports the requests of an account and removes them with it', async () => {
  const leaving = await server.account()
  const by = { owner: await signedInOwner(server, leaving.accountId), accountId: leaving.accountId }
  await leaving.post('/api/v1/message/send', { to: 'nobody' })
  await expect.poll(() => list({}, by)).toHaveLength(1)

  const lines = (await Array.fromAsync(exportAccount(server.deps, leaving.accountId))).flat()
  expect(lines.map((line) => JSON.parse(line) as { type: string })).toContainEqual({
    type: 'apiRequest',
    data: expect.objectContaining({ status: 400, request: expect.stringContaining('nobody') }),
  })

  await removeAccount(server.deps.db, leaving.accountId)
  expect(await hasData(server.deps.db, leaving.accountId)).toBe(false)
})

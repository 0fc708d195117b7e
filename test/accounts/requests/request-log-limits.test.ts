import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { sql } from 'kysely'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import type { ApiRequestDetails, ApiRequestPage } from '../../../contracts/dashboard/request.ts'
import type { RequestLogLimits } from '../../../src/accounts/requests/request-log.ts'
import { forFile } from '../../support/lifetime.ts'
import { signedInOwner } from '../../support/user.ts'
import { nodeForTest, startTestServer, type TestAccount, through } from '../../support/server.ts'
import { lockWaits } from '../../support/lock-waits.ts'

const message = { to: '34600111222', template: 'order_shipped', language: 'en' }
const variables = { '1': 'Ada', '2': 'WB-1042' }

const server = await forFile(startTestServer({ requestLog: { flushMilliseconds: 20 } }))

/** Waits for the given number of requests of an account and returns everything stored about them. */
async function readStored(account: Pick<TestAccount, 'accountId'>, count: number): Promise<string[]> {
  const read = async () => {
    const { rows } = await sql<{ text: string }>`
      select concat_ws(' ', path, error_code, external_id, request, answer) as text from api_requests
      where account_id = ${account.accountId} order by id`.execute(server.deps.db)
    return rows.map(({ text }) => text)
  }
  await expect.poll(async () => (await read()).length).toBe(count)
  return read()
}

/** Secrets in every position where a caller can write one. */
const code = '73910462'
test.each(
  Object.entries({
    'the code of a check': { path: '/api/v1/code/check', body: { to: '34600111222', code } },
    'a numeric code': { path: '/api/v1/code/check', body: { to: '34600111222', code: Number(code) } },
    'the code of a send': { path: '/api/v1/code/send', body: { ...message, template: 'no_such', code } },
    variables: {
      path: '/api/v1/message/send',
      body: { ...message, variables: { '1': code, to: code, template: code } },
    },
    'an unknown field': { path: '/api/v1/message/send', body: { ...message, otp: code, nested: [{ to: [code] }] } },
    'the name of a field': { path: '/api/v1/message/send', body: { ...message, [code]: true, [`otp ${code}`]: 1 } },
    'a visible field of the wrong type': { path: '/api/v1/message/send', body: { ...message, language: { code } } },
    'a body that is an array': { path: '/api/v1/message/send', body: [code, [code]] },
    'a body that is a string': { path: '/api/v1/message/send', body: code },
  }),
)('never stores a one-time code in %s', async (_position, { path, body }) => {
  const account = await server.account()
  expect((await account.post(path, body)).statusCode).toBeGreaterThanOrEqual(400)

  expect((await readStored(account, 1)).join()).not.toContain(code)
})

test('shows the structure of malformed JSON without its words', async () => {
  const account = await server.account()
  const malformed = `{"to": "34600111222", "code": "${code}", variables: {'1': "Ünal"},}`
  await account.postText('/api/v1/message/send', malformed)

  const [stored] = await readStored(account, 1)
  expect(stored).toContain(`{"to": "00000000000", "code": "00000000", variables: {'0': "xxxx"},}`)
})

test('never stores a code of a valid request', async () => {
  const account = await server.account()
  const body = { ...message, template: 'login_code', code: '481516' }
  expect((await account.post('/api/v1/message/send', body)).statusCode).toBe(200)

  expect(await readStored(account, 1)).toEqual(['/api/v1/message/send'])
})

test('stores no API key from any part of a request', async () => {
  const account = await server.account()
  const { apiKey } = account
  await account.post('/api/v1/message/send', { ...message, externalId: apiKey, accountId: `Bearer ${apiKey}` })
  await account.get(`/api/v1/${apiKey}?apiKey=${apiKey}`)
  await account.get(`/api/v1/message?status=${apiKey}&apiKey=${apiKey}&${apiKey}=1`)

  const stored = (await readStored(account, 3)).join('\n')
  expect(stored).not.toContain(apiKey.slice(20, 60))
  expect(stored).toContain('/api/v1/wb_live_[hidden]')
})

test('stores text with special characters of SQL and HTML unchanged', async () => {
  const account = await server.account()
  const path = `/api/v1/<script>alert(1)</script>'";--`
  await getRaw(path, account.apiKey)
  await account.post('/api/v1/message/send', { ...message, externalId: 'a\0b\x1b[2J\x9b31m', template: '\ud800' })

  const [first, second] = await readStored(account, 2)
  expect(first).toContain(path)
  expect(second).toContain(String.raw`a\u0000b`)
  // A terminal would interpret control characters.
  expect(second).not.toMatch(/[^\P{Cc}\n]/u)
})

/** Sends a path unchanged, which other clients normalize. */
async function getRaw(path: string, apiKey: string): Promise<void> {
  const [response] = (await once(get(server.url, { path, headers: { 'x-api-key': apiKey } }), 'response')) as [
    IncomingMessage,
  ]
  await once(response.resume(), 'end')
}

test('limits the stored size of large bodies', async () => {
  const account = await server.account()
  const numbers = Array.from({ length: 1000 }, (_, index) => `+3460011${index}`)
  await account.post('/api/v1/suppression/import', { recipients: numbers })
  await account.post('/api/v1/message/send', { ...message, variables: Object.fromEntries(numbers.entries()) })
  await account.postText('/api/v1/message/send', '['.repeat(5_000) + ']'.repeat(5_000))

  for (const text of await readStored(account, 3)) expect(text.length).toBeLessThan(10_000)
})

test('stores no account for a request with an unknown key', async () => {
  const before = await countAll()
  const account = await server.account()
  const unknown = `wb_live_${randomBytes(32).toString('hex')}`
  for (const apiKey of [unknown, `${account.apiKey.slice(0, 14)}${'0'.repeat(58)}`, account.apiKey.slice(0, 30), ''])
    for (const path of ['/api/v1/message', '/api/v1/no-such-path'])
      await server.request('GET', path, { headers: { 'x-api-key': apiKey } })
  await account.get('/api/v1/message')

  await readStored(account, 1)
  expect(await countAll()).toBe(before + 1)
})

async function countAll(): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::integer as count from api_requests`.execute(
    server.deps.db,
  )
  return rows[0]?.count ?? 0
}

async function startLimited(requestLog: Partial<RequestLogLimits>) {
  const registry = new Registry()
  const limited = await nodeForTest(server, { requestLog, server: { registry } })
  const readDropped = async (reason: string) => {
    const found = new RegExp(`^waybill_request_log_dropped_total\\{reason="${reason}"\\} (\\d+)$`, 'm').exec(
      await registry.metrics(),
    )
    return Number(found?.[1])
  }
  return { limited, readDropped }
}

test('limits the stored failures of an account, and still stores its sends', async () => {
  const { limited, readDropped } = await startLimited({ perMinute: 10, bodiesPerMinute: 3 })
  const flooding = await limited.account()
  const other = await limited.account()
  const flood = Array.from({ length: 40 }, () => flooding.post('/api/v1/message/send', { to: 'x'.repeat(50_000) }))
  for (const response of await Promise.all(flood)) expect(response.statusCode).toBe(400)
  const sent = await flooding.post('/api/v1/message/send', { ...message, variables })
  await other.get('/api/v1/message')

  expect(await readStored(other, 1)).toHaveLength(1)
  const stored = await readStored(flooding, 11)
  expect(stored.filter((text) => text.includes('"to": "xxx'))).toHaveLength(3)
  // Every failure keeps its message.
  expect(stored.filter((text) => text.includes('"message": "to: must'))).toHaveLength(10)
  expect(await readDropped('limit')).toBe(30)
  const { rows } = await sql`
    select from api_requests where message_ids = ${sent.json().data['messageId']}`.execute(server.deps.db)
  expect(rows).toHaveLength(1)
})

test('counts the requests of a batch that began before those of another process were counted', async () => {
  const { db } = server.deps
  const { accountId, post } = await server.account()
  await db.transaction().execute(async (trx) => {
    await sql`insert into request_log_limits values (${accountId}, now(), 0, 0)`.execute(trx)
    expect((await post('/api/v1/message/send', {})).statusCode).toBe(400)
    await expect.poll(() => lockWaits(server.deps.db, '%request_log_limits%')).toHaveLength(1)
    await sql`update request_log_limits set window_started_at = clock_timestamp(), requests = 1
      where account_id = ${accountId}`.execute(trx)
  })

  const countRequests = async () => {
    const { rows } = await sql<{ requests: number }>`
      select requests from request_log_limits where account_id = ${accountId}`.execute(db)
    return rows[0]?.requests
  }
  await readStored({ accountId }, 1)
  expect(await countRequests()).toBe(2)
})

test('limits the stored requests with invalid keys', async () => {
  const { limited, readDropped } = await startLimited({ uncheckedPerMinute: 5 })
  for (let count = 0; count < 8; count += 1)
    await limited.request('GET', '/api/v1/no-such-path', {
      headers: { 'x-api-key': `wb_live_${randomBytes(32).toString('hex')}` },
    })

  expect(await readDropped('limit')).toBe(3)
})

const findBlockedInserts = () => lockWaits(server.deps.db, '%insert_api_requests%')

test('responds without delay while the log cannot be written, and drops requests beyond its buffer', async () => {
  const { limited, readDropped } = await startLimited({ maxWaiting: 20 })
  const account = await limited.account()
  await server.deps.db.transaction().execute(async (trx) => {
    await sql`lock table api_requests in access exclusive mode`.execute(trx)
    // While the insert of this request waits for the lock, no other one starts.
    await account.get('/api/v1/message')
    await expect.poll(findBlockedInserts).toHaveLength(1)
    const sends = Array.from({ length: 30 }, () => account.post('/api/v1/message/send', { ...message, variables }))
    for (const response of await Promise.all(sends)) expect(response.statusCode).toBe(200)
    await expect.poll(() => readDropped('full')).toBe(10)
  })

  expect(await readStored(account, 21)).toHaveLength(21)
})

test('retries an insert that the database canceled', async () => {
  const { limited, readDropped } = await startLimited({})
  const account = await limited.account()
  await server.deps.db.transaction().execute(async (trx) => {
    await sql`lock table api_requests in access exclusive mode`.execute(trx)
    await account.get('/api/v1/message')
    await expect.poll(findBlockedInserts).toHaveLength(1)
    const [blocked] = await findBlockedInserts()
    await sql`select pg_cancel_backend(${blocked}::integer)`.execute(server.deps.db)
    // The retry waits for the same lock.
    await expect.poll(findBlockedInserts).toHaveLength(1)
  })

  expect(await readStored(account, 1)).toHaveLength(1)
  for (const reason of ['limit', 'full', 'database']) expect(await readDropped(reason)).toBe(0)
})

test('drops and counts requests that the database rejects permanently', async () => {
  const { limited, readDropped } = await startLimited({})
  const account = await limited.account()
  await sql`alter table api_requests rename to api_requests_away`.execute(server.deps.db)
  try {
    expect((await account.get('/api/v1/message')).statusCode).toBe(200)
    await expect.poll(() => readDropped('database')).toBe(1)
  } finally {
    await sql`alter table api_requests_away rename to api_requests`.execute(server.deps.db)
  }
  await account.get('/api/v1/message')

  expect(await readStored(account, 1)).toHaveLength(1)
})

test('writes buffered requests when the server stops', async () => {
  const account = await server.account()
  const node = await startTestServer({ beside: server, requestLog: { flushMilliseconds: 3_600_000 } })
  await through(node, account).get('/api/v1/message')

  await node.close()

  expect(await readStored(account, 1)).toHaveLength(1)
})

test('shows members only stored data', async () => {
  const account = await server.account()
  const owner = await signedInOwner(server, account.accountId, { role: 'viewer' })
  await account.post('/api/v1/code/check', { to: '34600111222', code, clientIp: '203.0.113.7' })
  await readStored(account, 1)

  const { data: page } = await owner.query<ApiRequestPage>('request.list', { accountId: account.accountId })
  const [listed] = page.items
  const { data } = await owner.query<ApiRequestDetails>('request.get', {
    accountId: account.accountId,
    requestId: listed?.requestId,
  })
  expect(JSON.stringify(page)).not.toContain('clientIp')
  expect(JSON.parse(data.request ?? '')).toEqual({
    to: '34600111222',
    code: '[hidden: 8 characters]',
    clientIp: '[hidden: 11 characters]',
  })
  expect(data.errorCode).toBe('CODE_NOT_FOUND')
})

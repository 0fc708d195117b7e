import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { hashApiKey } from '../../src/accounts/api-key.ts'
import { findCaller, spendRequest } from '../../src/accounts/authenticate-store.ts'
import { setAllowList } from '../../src/accounts/ip-allow-list.ts'
import { forFile } from '../support/lifetime.ts'
import { nodeForTest, startTestServer, through } from '../support/server.ts'

const path = '/api/v1/message/send'
const example = sendMessage.example.input

const server = await forFile(startTestServer())

test('allows 60 requests a minute by default', async () => {
  const { accountId } = await server.account()
  await sql`update accounts set rate_limit_per_minute = default where id = ${accountId}`.execute(server.deps.db)
  const row = await server.deps.db
    .selectFrom('accounts')
    .select('rate_limit_per_minute')
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow()
  expect(row.rate_limit_per_minute).toBe(60)
})

test('counts down in the headers and sends Retry-After on rejection', async () => {
  const account = await server.account({ rateLimit: 2 })

  const first = await account.post(path, example)
  const second = await account.post(path, example)
  const third = await account.post(path, example)

  expect(first.headers['ratelimit']).toMatch(/^"default";r=1;t=\d+$/)
  expect(first.headers['ratelimit-policy']).toBe('"default";q=2;w=60')
  expect(second.headers['ratelimit']).toMatch(/^"default";r=0;t=\d+$/)
  expect(third.statusCode).toBe(429)
  expect(third.json().error.code).toBe('RATE_LIMIT_EXCEEDED')
  const retryAfter = Number(third.headers['retry-after'])
  expect(retryAfter).toBeGreaterThan(0)
  expect(retryAfter).toBeLessThanOrEqual(60)
  expect(third.headers['ratelimit']).toBe(`"default";r=0;t=${retryAfter}`)
})

test('allows requests again after a minute', async () => {
  const account = await server.account({ rateLimit: 1 })
  await account.post(path, example)
  expect((await account.post(path, example)).statusCode).toBe(429)

  await sql`update rate_limits set window_started_at = window_started_at - interval '60 seconds' where account_id = ${account.accountId}`.execute(
    server.deps.db,
  )

  expect((await account.post(path, example)).statusCode).toBe(200)
})

test('starts a new minute immediately when the clock is set back by an hour', async () => {
  const account = await server.account({ rateLimit: 1 })
  await account.post(path, example)
  await sql`update rate_limits set window_started_at = window_started_at + interval '1 hour' where account_id = ${account.accountId}`.execute(
    server.deps.db,
  )

  expect((await account.post(path, example)).statusCode).toBe(200)
  expect((await account.post(path, example)).statusCode).toBe(429)
})

test('enforces one exact limit across all nodes under load', async () => {
  const node = await nodeForTest(server)
  const account = await server.account({ rateLimit: 30 })

  const responses = await Promise.all(
    Array.from({ length: 80 }, (_, index) => (index % 2 === 0 ? account : through(node, account)).post(path, example)),
  )

  expect(responses.filter((response) => response.statusCode === 200)).toHaveLength(30)
  expect(responses.filter((response) => response.statusCode === 429)).toHaveLength(50)
})

test('counts concurrent requests from several addresses and accounts separately', async () => {
  const accounts = await Promise.all([100, 100].map((rateLimit) => server.account({ rateLimit })))
  await setAllowList(server.deps, accounts[0]?.accountId ?? '', ['192.0.2.0/30'])
  const requests = Array.from({ length: 40 }, (_, index) => ({
    account: index % 2,
    keyHash: hashApiKey(accounts[index % 2]?.apiKey ?? ''),
    address: `192.0.2.${(index % 5) + 1}`,
    spend: index % 8 !== 0,
  }))

  const rows = await Promise.all(requests.map((request) => findCaller(server.deps.db, request)))

  const responses = rows.map((row, index) => ({ row, request: requests[index] }))
  const usedBy = (account: number) =>
    responses.filter(({ request }) => request?.account === account).flatMap(({ row }) => row?.used ?? [])
  expect(usedBy(0).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 9 }, (_, index) => index + 1))
  expect(usedBy(1).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
  const listed = new Set(['192.0.2.1', '192.0.2.2', '192.0.2.3'])
  for (const { row, request } of responses)
    expect(row?.addressAllowed).toBe(request?.account === 1 || listed.has(request?.address ?? ''))
})

test('limits each account independently', async () => {
  const [spent, other] = [await server.account({ rateLimit: 1 }), await server.account({ rateLimit: 1 })]
  await spent.post(path, example)
  expect((await spent.post(path, example)).statusCode).toBe(429)
  expect((await other.post(path, example)).statusCode).toBe(200)
})

test('counts invalid requests but neither blocked addresses nor lookups', async () => {
  const account = await server.account({ rateLimit: 2 })
  expect((await account.post(path, {})).statusCode).toBe(400)

  await setAllowList(server.deps, account.accountId, ['203.0.113.9'])
  expect((await account.post(path, example)).statusCode).toBe(403)
  await setAllowList(server.deps, account.accountId, [])
  expect((await account.get('/api/v1/message')).statusCode).toBe(200)
  expect((await account.post('/api/v1/message/preview', example)).statusCode).toBe(200)

  expect((await account.post(path, example)).statusCode).toBe(200)
  expect((await account.post(path, example)).statusCode).toBe(429)
})

test('counts requests without an API key towards the same limit, and none of a suspended account', async () => {
  const { db } = server.deps
  const account = await server.account({ rateLimit: 2 })
  const { accountId } = account

  expect(await spendRequest(db, accountId)).toEqual({ limit: 2, used: 1, resetSeconds: expect.any(Number) })
  expect((await account.post(path, example)).headers['ratelimit']).toMatch(/^"default";r=0;/)
  expect(await spendRequest(db, accountId)).toMatchObject({ limit: 2, used: 3 })
  expect(await spendRequest(db, 'acc_none')).toBeUndefined()

  await sql`update accounts set suspended_at = now() where id = ${accountId}`.execute(db)
  await expect(spendRequest(db, accountId)).rejects.toThrow('This account is suspended')
  const { used } = await db
    .selectFrom('rate_limits')
    .select('used')
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  expect(used).toBe(3)
})

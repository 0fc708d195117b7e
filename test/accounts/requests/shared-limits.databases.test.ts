import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { setAllowList } from '../../../src/accounts/ip-allow-list.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer, type TestServer } from '../../support/server.ts'

const perMinute = 10
const bodiesPerMinute = 3

const requestLog = { perMinute, bodiesPerMinute, flushMilliseconds: 20 }
const first = await forFile(startTestServer({ requestLog }))
const second = await forFile(startTestServer({ requestLog, beside: first }))

function fail(server: TestServer, apiKey: string): Promise<Response> {
  return fetch(`${server.url}/api/v1/suppression/add`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ to: 'not a number' }),
  })
}

interface Stored {
  withBody: number
  withMessage: number
}

async function countStored(accountId: string): Promise<Stored> {
  const { rows } = await sql<Stored>`
    select count(request)::integer as "withBody", count(answer)::integer as "withMessage"
    from api_requests where account_id = ${accountId}`.execute(first.deps.db)
  return rows[0] ?? { withBody: 0, withMessage: 0 }
}

/** Every request that a process has answered is then written or dropped. */
async function countCounted(accountId: string): Promise<number> {
  const { rows } = await sql<{ requests: number }>`
    select requests from request_log_limits where account_id = ${accountId}`.execute(first.deps.db)
  return rows[0]?.requests ?? 0
}

test('shares the limits of an account among all processes, and keeps the messages of failures', async () => {
  const flooding = await first.account()
  const other = await first.account()
  // Neither process alone reaches the limit.
  for (let sent = 0; sent < perMinute - 1; sent += 1)
    for (const process of [first, second]) expect((await fail(process, flooding.apiKey)).status).toBe(400)
  await fail(second, other.apiKey)

  await expect.poll(() => countStored(other.accountId)).toEqual({ withBody: 1, withMessage: 1 })
  await expect.poll(() => countCounted(flooding.accountId)).toBe(2 * (perMinute - 1))
  await expect
    .poll(() => countStored(flooding.accountId))
    .toEqual({ withBody: bodiesPerMinute, withMessage: perMinute })
})

test('counts the requests of a key whose account is not known yet', async () => {
  const { accountId, apiKey } = await first.account()
  await setAllowList(first.deps, accountId, ['203.0.113.1'])
  for (let sent = 0; sent < perMinute - 1; sent += 1)
    for (const process of [first, second]) expect((await fail(process, apiKey)).status).toBe(403)

  await expect.poll(() => countCounted(accountId)).toBe(2 * (perMinute - 1))
  await expect.poll(async () => (await countStored(accountId)).withMessage).toBe(perMinute)
})

import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { ApiRequestDetails, ApiRequestPage } from '../../../contracts/dashboard/request.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer } from '../../support/server.ts'
import { runCommand } from '../run-command.ts'
import { createAccount } from '../../../src/accounts/account.ts'
import { createTestDeps } from '../../support/deps.ts'
import { openTestDatabase } from '../../support/database.ts'

const server = await forFile(startTestServer({ requestLog: { flushMilliseconds: 20 } }))

const list = (...words: string[]) => runCommand(server.deps, 'request', 'list', ...words)

test('lists and shows requests as text and as JSON', async () => {
  const account = await server.account()
  await account.get('/api/v1/template')
  const failed = await account.post('/api/v1/message/send', { to: '+34', externalId: 'order-1' })
  const requestId = String(failed.headers['x-request-id'])
  await expect.poll(async () => (await list(account.accountId)).text).toContain(requestId)

  const { text, json } = await list(account.accountId, '--outcome', 'failed', '--search', 'order-1')
  expect(text.split('\n')).toHaveLength(2)
  expect(text).toMatch(/^REQUEST +TIME +METHOD +PATH +STATUS +ERROR +MS +ADDRESS\n/)
  expect((json as ApiRequestPage).items).toMatchObject([{ requestId, status: 400, errorCode: 'VALIDATION_ERROR' }])

  const shown = await runCommand(server.deps, 'request', 'get', account.accountId, requestId)
  expect(shown.text).toContain('"to": "+34"')
  expect((shown.json as ApiRequestDetails).answer).toContain('VALIDATION_ERROR')
})

test.each([
  { words: ['--outcome', 'bad'], problem: '--outcome' },
  { words: ['--error-code', 'no code'], problem: '--error-code must be an error code' },
  { words: ['--from', 'yesterday'], problem: '--from must be an ISO 8601 time' },
  { words: ['--limit', '1000'], problem: '--limit must be at most 100' },
])('explains $words', async ({ words, problem }) => {
  const { accountId } = await server.account()
  await expect(async () => list(accountId, ...words)).rejects.toThrow(problem)
})

test('reports an unknown account and an unknown request', async () => {
  const { accountId } = await server.account()
  await expect(list('acc_none')).rejects.toThrow('acc_none')
  for (const requestId of ['req_000000000000_1', "'", '../x'])
    await expect(runCommand(server.deps, 'request', 'get', accountId, requestId)).rejects.toThrow(
      'no recorded request with this ID',
    )
})

test('examines a bounded number of requests, and continues where it stopped', async () => {
  const { accountId } = await server.account()
  await sql`
    insert into api_requests (account_id, id, method, path, status, duration_ms, key_start, address)
    select ${accountId}, 'req_' || lpad(to_hex(n), 12, '0') || '_1', 'GET',
      case n when 0 then '/api/v1/event' else '/api/v1/message' end, 200, 1, 'wb_live_000000', '192.0.2.1'
    from generate_series(0, 20000) as n`.execute(server.deps.db)

  const stopped = (await list(accountId, '--path', 'event')).text

  expect(stopped).toMatch(/^No matches among the newest requests\.\n\nMore: --cursor req_/)
  const rest = await list(accountId, '--path', 'event', '--cursor', stopped.split(' ').at(-1) ?? '')
  expect((rest.json as ApiRequestPage).items).toHaveLength(1)
  expect((rest.json as ApiRequestPage).nextCursor).toBeUndefined()
})

const database = await forFile(openTestDatabase())

test('distinguishes a search that stopped early from one without results', async () => {
  const deps = createTestDeps(database)
  const { accountId } = await createAccount(deps, { name: 'Shop' })
  const search = async (...words: string[]) =>
    (await runCommand(deps, 'message', 'list', accountId, '--status', 'failed', ...words)).text
  expect(await search()).toBe('No messages.')
  await sql`
    insert into messages (account_id, id, whatsapp_account_id, status, to_number, template_name, template_language,
      created_at)
    select ${accountId}, 'msg_' || lpad(n::text, 26, '0'), 'wa_1', case n when 0 then 'failed' else 'sent' end,
      '34600111222', 'order_shipped', 'en', now()
    from generate_series(0, 50000) as n`.execute(deps.db)

  const stopped = await search()

  expect(stopped).toMatch(/^No matches among the newest messages\.\n\nMore: --cursor msg_/)
  expect(await search('--cursor', stopped.split(' ').at(-1) ?? '')).toContain(`msg_${'0'.repeat(26)}`)
})

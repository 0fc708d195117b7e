import { expect, test } from 'vitest'
import { createAccount, listAccounts, updateAccount } from '../../src/accounts/account.ts'
import { setAllowList } from '../../src/accounts/ip-allow-list.ts'
import { openTestDatabase } from '../support/database.ts'
import { createTestDeps } from '../support/deps.ts'
import { forFile } from '../support/lifetime.ts'

const database = await forFile(openTestDatabase())
const deps = createTestDeps(database)

test('creates an enabled account with a limit of 60 requests a minute and an empty allow-list', async () => {
  const account = await createAccount(deps, { name: '  Ada & Co  ' })

  expect(account).toEqual({
    accountId: expect.stringMatching(/^acc_/),
    name: 'Ada & Co',
    api: 'enabled',
    rateLimit: 60,
    templateChanges: 'disabled',
    mcp: 'disabled',
    timeZone: 'UTC',
    allowList: [],
    createdAt: expect.stringMatching(/^2026-11-20T/),
  })
  expect(await listAccounts(deps)).toContainEqual(account)
})

test.each(['', '   ', 'a\nb', 'x'.repeat(201)])('rejects the account name %j', async (name) => {
  await expect(createAccount(deps, { name })).rejects.toThrow(/^The name of an account must/)
})

test('updates only the given fields', async () => {
  const { accountId } = await createAccount(deps, { name: 'Update' })

  expect(await updateAccount(deps, accountId, { apiEnabled: false })).toMatchObject({ api: 'disabled', rateLimit: 60 })
  expect(await updateAccount(deps, accountId, { rateLimit: 600 })).toMatchObject({ api: 'disabled', rateLimit: 600 })
})

test.each([0, -1, 1.5, Number.NaN, 1_000_001])('rejects the rate limit %d', async (rateLimit) => {
  const { accountId } = await createAccount(deps, { name: 'Rate' })

  await expect(updateAccount(deps, accountId, { rateLimit })).rejects.toThrow(/^The rate limit must be a whole number/)
})

test('rejects an empty update', async () => {
  const { accountId } = await createAccount(deps, { name: 'Nothing' })

  await expect(updateAccount(deps, accountId, {})).rejects.toThrow('Nothing to change: no setting was given.')
})

test.each([
  ['update', () => updateAccount(deps, 'acc_none', { rateLimit: 1 })],
  ['allow-list', () => setAllowList(deps, 'acc_none', [])],
])('reports an unknown account (%s)', async (_name, call) => {
  await expect(call()).rejects.toThrow('There is no account "acc_none"')
})

import { expect, test } from 'vitest'
import { createAccount, listAccounts, updateAccount } from '../../src/accounts/account.ts'
import { setAllowList } from '../../src/accounts/ip-allow-list.ts'
import { openTestDatabase } from '../support/database.ts'
import { createTestDeps } from '../support/deps.ts'
import { forFile } from '../support/lifetime.ts'
import { generateKey, hashApiKey, regenerateKey, revokeKey } from '../../src/accounts/api-key.ts'

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

/** The account whose stored key hash matches this key. */
async function ownerOf(apiKey: string): Promise<string | undefined> {
  const row = await deps.db
    .selectFrom('api_keys')
    .select('account_id')
    .where('key_hash', '=', Buffer.from(hashApiKey(apiKey), 'hex'))
    .executeTakeFirst()
  return row?.account_id
}

test('returns a key once and stores only its hash', async () => {
  const { accountId } = await createAccount(deps, { name: 'Key' })

  const { apiKey, start, createdAt } = await generateKey(deps, accountId)

  expect(apiKey).toMatch(/^wb_live_[0-9a-f]{64}$/)
  expect(apiKey.startsWith(start)).toBe(true)
  expect(createdAt).toMatch(/^2026-11-20T/)
  expect(await ownerOf(apiKey)).toBe(accountId)
  const rows = await deps.db.selectFrom('api_keys').selectAll().where('account_id', '=', accountId).execute()
  expect(JSON.stringify(rows)).not.toContain(apiKey)
  const accounts = await listAccounts(deps)
  expect(accounts.find((account) => account.accountId === accountId)?.keyStart).toBe(start)
  expect(JSON.stringify(accounts)).not.toContain(apiKey)
})

test('rejects generating a second key for an account', async () => {
  const { accountId } = await createAccount(deps, { name: 'Second' })
  const { apiKey } = await generateKey(deps, accountId)

  await expect(generateKey(deps, accountId)).rejects.toMatchObject({
    message: `Account ${accountId} already has an API key.`,
    remedy: expect.stringContaining(`waybill key regenerate ${accountId}`),
  })

  expect(await ownerOf(apiKey)).toBe(accountId)
})

test('generates one key for concurrent calls', async () => {
  const { accountId } = await createAccount(deps, { name: 'Race' })

  const results = await Promise.allSettled([1, 2, 3, 4].map(() => generateKey(deps, accountId)))

  expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
})

test('invalidates a revoked key and allows a new one', async () => {
  const { accountId } = await createAccount(deps, { name: 'Revoke' })
  const { apiKey } = await generateKey(deps, accountId)

  expect(await revokeKey(deps, accountId)).toEqual({ revoked: true })
  expect(await revokeKey(deps, accountId)).toEqual({ revoked: false })

  expect(await ownerOf(apiKey)).toBeUndefined()
  const renewed = await generateKey(deps, accountId)
  expect(await ownerOf(renewed.apiKey)).toBe(accountId)
})

test.each([generateKey, regenerateKey, revokeKey])('reports an unknown account (%o)', async (action) => {
  await expect(action(deps, 'acc_none')).rejects.toThrow('There is no account "acc_none"')
})

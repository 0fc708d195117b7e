import { expect, test } from 'vitest'
import { createAccount, listAccounts } from '../../src/accounts/account.ts'
import { generateKey, hashApiKey, regenerateKey, revokeKey } from '../../src/accounts/api-key.ts'
import { openTestDatabase } from '../support/database.ts'
import { createTestDeps } from '../support/deps.ts'
import { forFile } from '../support/lifetime.ts'

const database = await forFile(openTestDatabase())
const deps = createTestDeps(database)

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

import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { revokeKey } from '../../src/accounts/api-key.ts'
import { Pipeline } from '../../src/pipeline/pipeline.ts'
import { forFile } from '../support/lifetime.ts'
import { startTestServer } from '../support/server.ts'
import { accountWithOwner, signedInOwner } from '../support/user.ts'

/** Calls that wait for another of their account are made by a caller who may have lost access meanwhile. */

const server = await forFile(startTestServer({ server: { limits: { workLimiter: { maxConcurrent: 1 } } } }))

/** Runs while a call of the account holds its only place, and ends that call afterwards. */
async function whileOccupied<T>(accountId: string, run: (isWaiting: () => Promise<void>) => Promise<T>): Promise<T> {
  const owner = await signedInOwner(server, accountId)
  using calls = vi.spyOn(Pipeline.prototype, 'run')
  const made = async (count: number) => {
    await expect.poll(() => calls.mock.calls.length).toBe(count)
  }
  const { occupying, result } = await server.deps.db.transaction().execute(async (trx) => {
    // Every change of the account waits for its place in the audit log.
    await sql`select from audit_chains where account_id = ${accountId} for update`.execute(trx)
    const occupying = owner.mutate('publicApi.setAccess', { accountId, enabled: true })
    await made(1)
    return { occupying, result: await run(() => made(2)) }
  })
  await occupying
  return result
}

test('a user who was removed while a call waited changes nothing', async () => {
  const { accountId, owner: removed } = await accountWithOwner(server)

  const { call } = await whileOccupied(accountId, async (isWaiting) => {
    const call = removed.mutate('publicApi.regenerateKey', { accountId })
    await isWaiting()
    await server.deps.db.deleteFrom('owner_sessions').execute()
    return { call }
  })

  expect(await call).toMatchObject({ statusCode: 401, error: { data: { code: 'SIGN_IN_REQUIRED' } } })
})

test('an API key that was revoked while a call waited changes nothing', async () => {
  const account = await server.account()

  const { call } = await whileOccupied(account.accountId, async (isWaiting) => {
    const call = account.post('/api/v1/suppression/add', { to: '34600111222' })
    await isWaiting()
    await revokeKey(server.deps, account.accountId)
    return { call }
  })

  expect((await call).statusCode).toBe(401)
  expect(await server.deps.db.selectFrom('suppressions').selectAll().execute()).toEqual([])
})

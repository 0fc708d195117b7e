import { afterEach, beforeEach, expect, test } from 'vitest'
import { refreshDueTokens } from '../../../src/whatsapp-accounts/health/refresh.ts'
import { openAccessToken } from '../../../src/whatsapp-accounts/secrets.ts'
import { findWhatsAppAccount } from '../../../src/whatsapp-accounts/store.ts'
import { replaceSecrets } from '../../../src/whatsapp-accounts/update.ts'
import type { Deps } from '../../../src/deps.ts'
import { createRefreshAuditor } from '../../../src/users/audit/by-waybill.ts'
import { exampleSend } from '../../support/example-send.ts'
import { readStoredHealth, setHealth } from '../../support/health.ts'
import { forFile } from '../../support/lifetime.ts'
import { signedInOwner } from '../../support/user.ts'
import { nodeForTest, startTestServer, type TestAccount } from '../../support/server.ts'

let account: TestAccount
let oldToken: string
let tokens = 0

const day = 86_400
const appId = '300000000000777'

const server = await forFile(startTestServer())
server.simulator.addApp({ id: appId, name: 'App', secret: 'test-app-secret' })
beforeEach(async () => {
  account = await server.account()
  oldToken = `EAAexpiring${++tokens}x${account.phoneNumberId}`
  await useToken(oldToken, 10 * day)
})
afterEach(() => server.simulator.intercept(undefined))

/** Replaces the token of the account by one that expires. */
async function useToken(accessToken: string, expiresInSeconds: number, more: object = {}): Promise<void> {
  const { phoneNumberId, wabaId, accountId, whatsAppAccountId } = account
  const expiresAt = Math.floor(Date.now() / 1000) + expiresInSeconds
  server.simulator.addPhoneNumber({ phoneNumberId, wabaId, accessToken })
  server.simulator.addToken(accessToken, { appId, wabaIds: [wabaId], expiresAt, ...more })
  await replaceSecrets(server.deps, accountId, whatsAppAccountId, { accessToken })
}

const refresh = (deps: Partial<Deps> = {}) => {
  const all = { ...server.deps, ...deps }
  return refreshDueTokens(all, createRefreshAuditor(all))
}

const readHealth = () => readStoredHealth(server.deps, account)

async function storedToken(): Promise<string | undefined> {
  const { accountId, whatsAppAccountId } = account
  const row = await findWhatsAppAccount(server.deps.db, accountId, whatsAppAccountId)
  return row && openAccessToken(server.deps, { accountId, whatsAppAccountId }, row.accessTokenEncrypted)
}

async function audited(): Promise<string[]> {
  const owner = await signedInOwner(server, account.accountId)
  const log = await owner.query<{ items: { what: string; who: string; outcome: string }[] }>('audit.list', {
    accountId: account.accountId,
  })
  return log.data.items
    .filter(({ what }) => what.startsWith('refreshed'))
    .map(({ who, what, outcome }) => `${who} ${what}: ${outcome}`)
}

const send = () => account.post('/api/v1/message/send', exampleSend)

/** Makes the refresh due, as if a day had passed. */
const makeDue = () =>
  server.deps.db.updateTable('whatsapp_account_health').set({ token_refresh_due_at: null }).execute()

const crash = () => Promise.reject(new Error('the process died'))

const noSecretLogged = () =>
  expect(server.log.some((line) => line.includes('EAA') || line.includes('test-app-secret'))).toBe(false)

test('replaces a token that expires soon with one that expires later, once across all nodes', async () => {
  const node = await nodeForTest(server)

  await Promise.all([refresh(), refreshDueTokens(node.deps, createRefreshAuditor(node.deps))])
  await refresh()

  const token = await storedToken()
  expect(token).toMatch(/^EAArefreshed/)
  expect(token).not.toBe(oldToken)
  const health = await readHealth()
  expect((health.token_expires_at?.getTime() ?? 0) - Date.now()).toBeGreaterThan(59 * day * 1000)
  expect(health).toMatchObject({
    token_refreshed_at: expect.any(Date),
    token_refresh_problem: null,
    token_problem: null,
  })
  expect(await audited()).toEqual([`waybill refreshed the access token of ${account.whatsAppAccountId}: done`])
  expect((await send()).statusCode).toBe(200)
  const calls = server.simulator.requests.filter(
    ({ path, query }) => path === '/oauth/access_token' && query.get('fb_exchange_token') === oldToken,
  )
  expect(calls).toHaveLength(1)
  expect(Object.fromEntries(calls[0]?.query ?? [])).toMatchObject({
    grant_type: 'fb_exchange_token',
    client_id: appId,
    set_token_expires_in_60_days: 'true',
  })
  noSecretLogged()
})

test.each([
  ['a token that does not expire soon', 30 * day],
  ['a token that has expired', -60],
])('does not refresh %s', async (_what, expiresInSeconds) => {
  await setHealth(server.deps, account, { token_expires_at: new Date(Date.now() + expiresInSeconds * 1000) })

  await refresh()

  expect(await storedToken()).toBe(oldToken)
})

test('keeps the token if the secret of the app is not known', async () => {
  const { callbacks } = server.deps

  await refresh({ callbacks: { ...callbacks, appSecret: undefined } })

  expect(await storedToken()).toBe(oldToken)
  expect(await readHealth()).toMatchObject({ token_refresh_problem: null })
})

test('keeps the token if Meta rejects the refresh, reports it once, and tries again', async () => {
  await useToken(`${oldToken}r`, 5 * day, { refuses: { 'GET oauth': 200 } })

  await refresh()
  await makeDue()
  await refresh()

  expect(await storedToken()).toBe(`${oldToken}r`)
  expect((await send()).statusCode).toBe(200)
  const health = (await account.trpc.account.health.query({})).whatsAppAccounts[0]
  expect(health?.findings).toContainEqual(
    expect.objectContaining({
      code: 'token_expiring',
      message: expect.stringContaining('could not be refreshed. WhatsApp does not let this access token do that'),
    }),
  )
  expect(await audited()).toEqual([`waybill refreshed the access token of ${account.whatsAppAccountId}: refused`])
  expect(
    server.log.filter((line) => line.includes('could not refresh') && line.includes(account.whatsAppAccountId)),
  ).toHaveLength(1)
  noSecretLogged()
})

/** Stores what a process of the version before stores, which knows no column of facts. */
async function storeAsBefore(problem: string | null): Promise<void> {
  await setHealth(server.deps, account, { token_refresh_problem: problem })
}

test('reports a problem again that a process of the version before solved or replaced, and no other', async () => {
  await useToken(`${oldToken}v`, 5 * day, { refuses: { 'GET oauth': 200 } })
  await refresh()
  const { token_refresh_problem: problem } = await readHealth()
  for (const before of [null, 'Another problem.', problem]) {
    await storeAsBefore(before)
    await makeDue()
    await refresh()

    expect(await readHealth()).toMatchObject({ token_refresh_problem: problem })
  }

  expect(await audited()).toHaveLength(3)
})

test.each([
  ['is not valid', { valid: false, scopes: [] }, 'reports it as invalid'],
  [
    'lacks a permission',
    { valid: true, scopes: ['whatsapp_business_management'] },
    'lacks the permission whatsapp_business_messaging',
  ],
  [
    'expires earlier',
    {
      valid: true,
      scopes: ['whatsapp_business_management', 'whatsapp_business_messaging'],
      expiresAt: new Date(Date.now() + day * 1000),
    },
    'does not expire later',
  ],
])('keeps the token if the new one %s', async (_what, described, problem) => {
  const { whatsapp } = server.deps
  await refresh({
    whatsapp: {
      ...whatsapp,
      inspectToken: (input) =>
        input.accessToken === oldToken
          ? whatsapp.inspectToken(input)
          : Promise.resolve({ ok: true, value: { appId, ...described } }),
    },
  })

  expect(await storedToken()).toBe(oldToken)
  expect((await readHealth()).token_refresh_problem).toContain(problem)
})

test('keeps the token if the new one cannot use the number', async () => {
  const { whatsapp } = server.deps
  await refresh({
    whatsapp: {
      ...whatsapp,
      getNumberDetails: (input) => whatsapp.getNumberDetails({ ...input, accessToken: 'EAAnobody' }),
    },
  })

  expect(await storedToken()).toBe(oldToken)
  expect((await readHealth()).token_refresh_problem).toContain('cannot use the number')
})

test('keeps a working token through a crash before the new one is stored, and refreshes it later', async () => {
  await refreshDueTokens(server.deps, crash)

  expect(await storedToken()).toBe(oldToken)
  expect((await send()).statusCode).toBe(200)
  expect(await audited()).toEqual([])

  await makeDue()
  await refresh()
  expect(await storedToken()).toMatch(/^EAArefreshed/)
})

test('does not overwrite a token that a user replaced during the refresh', async () => {
  const { whatsapp } = server.deps
  const theirs = `${oldToken}theirs`
  await refresh({
    whatsapp: {
      ...whatsapp,
      refreshToken: async (input) => {
        const issued = await whatsapp.refreshToken(input)
        if (input.accessToken === oldToken) await useToken(theirs, 60 * day)
        return issued
      },
    },
  })

  expect(await storedToken()).toBe(theirs)
  expect(await audited()).toEqual([])
})

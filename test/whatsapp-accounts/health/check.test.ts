import { afterEach, beforeEach, expect, test } from 'vitest'
import { deactivateRefused, removeWhatsAppAccount } from '../../../src/whatsapp-accounts/change.ts'
import { subscribeStored } from '../../../src/whatsapp-accounts/connect/subscribe.ts'
import { readAccountHealth } from '../../../src/whatsapp-accounts/health/read.ts'
import { checkDueAccounts, checkNow } from '../../../src/whatsapp-accounts/health/check.ts'
import { accessTokenPurpose } from '../../../src/whatsapp-accounts/secrets.ts'
import { findWhatsAppAccount } from '../../../src/whatsapp-accounts/store.ts'
import { replaceSecrets } from '../../../src/whatsapp-accounts/update.ts'
import type { WhatsApp } from '../../../src/whatsapp/whatsapp.ts'
import { callbackPath } from '../../support/callbacks.ts'
import { addApp, readStoredHealth, setHealth } from '../../support/health.ts'
import { forFile } from '../../support/lifetime.ts'
import { cancelLockWait } from '../../support/lock-waits.ts'
import { startTestServer, type TestAccount } from '../../support/server.ts'

/** The secret that the server is configured with. */
const secret = 'test-app-secret'
const server = await forFile(startTestServer())
let account: TestAccount
let accessToken: string
beforeEach(async () => {
  account = await server.account()
  accessToken = `EAAtoken${account.phoneNumberId}`
})
afterEach(() => server.simulator.intercept(undefined))

const owner = () => ({ accountId: account.accountId, whatsAppAccountId: account.whatsAppAccountId })

const readHealth = () => readStoredHealth(server.deps, account)

async function readStored() {
  const row = await findWhatsAppAccount(server.deps.db, account.accountId, account.whatsAppAccountId)
  if (!row) throw new Error('the account was removed')
  return row
}

/** Replaces the token of the account by one of this app. */
async function useTokenOf(appId: string, more: { expiresAt?: number } = {}, token = accessToken) {
  const { phoneNumberId, wabaId } = account
  server.simulator.addPhoneNumber({ phoneNumberId, wabaId, accessToken: token })
  server.simulator.addToken(token, { appId, wabaIds: [wabaId], ...more })
  await replaceSecrets(server.deps, account.accountId, account.whatsAppAccountId, { accessToken: token })
}

const view = async () => {
  const health = (await account.trpc.account.health.query({})).whatsAppAccounts[0]
  return { ...health, codes: health?.findings.map(({ code }) => code) }
}

test('reports an app secret of another app, and still reads the facts of the token', async () => {
  const appId = addApp(server, 'the-real-secret')
  const expiresAt = Math.floor(Date.now() / 1000) + 40 * 86_400
  await useTokenOf(appId)
  server.simulator.addToken(accessToken, { appId, wabaIds: [account.wabaId], expiresAt })

  await checkNow(server.deps, owner())

  const health = await view()
  expect(health).toMatchObject({
    canSend: true,
    token: { valid: true, expiresAt: new Date(expiresAt * 1000).toISOString() },
  })
  expect(health.findings).toContainEqual(
    expect.objectContaining({
      code: 'callback_problem',
      message: expect.stringContaining('app secret does not match the app of this access token'),
    }),
  )

  server.simulator.addApp({ id: appId, name: 'App', secret })
  await checkNow(server.deps, owner())
  expect((await view()).codes).not.toContain('callback_problem')
})

test.each([{ storedBy: 'this version' }, { storedBy: 'the version before, without facts' }])(
  'says a wrong app secret as facts, and ends it when the secret is right; stored by $storedBy',
  async ({ storedBy }) => {
    const appId = addApp(server, 'the-real-secret')
    await useTokenOf(appId)
    await checkNow(server.deps, owner())
    const { callback_problem: problem } = await readHealth()
    expect(problem).toMatch(/^The app secret does not match the app of this access token\. Copy the app secret/)
    if (storedBy !== 'this version') await setHealth(server.deps, account, { callback_advice: null })

    const state = await readAccountHealth(server.deps, account.accountId, { forDashboard: true })
    const finding = state.whatsAppAccounts[0]?.findings.find(({ code }) => code === 'callback_problem')
    expect(finding).toMatchObject({
      message: `There is a problem with the callback URL. ${problem}`,
      facts: {
        message: {
          code: 'finding.callbackProblem',
          params: {
            problem:
              storedBy === 'this version'
                ? { code: 'connect.advised', params: { message: { code: 'connect.wrongAppSecret.message' } } }
                : problem,
          },
        },
      },
    })

    server.simulator.addApp({ id: appId, name: 'App', secret })
    await checkNow(server.deps, owner())
    expect(await readHealth()).toMatchObject({ callback_problem: null, callback_advice: null })
  },
)

test('shows the text that the version before has stored in place of a problem with facts', async () => {
  await useTokenOf(addApp(server, 'the-real-secret'))
  await checkNow(server.deps, owner())
  await setHealth(server.deps, account, { callback_problem: 'Meta got HTTP 502.' })

  expect((await view()).findings).toContainEqual(
    expect.objectContaining({ message: 'There is a problem with the callback URL. Meta got HTTP 502.' }),
  )
})

const findSince = async () => (await view()).findings?.find(({ code }) => code === 'callback_problem')?.since

test('keeps the time at which a finding was first found until it is resolved', async () => {
  const appId = addApp(server, 'the-real-secret')
  await useTokenOf(appId)
  const at = (time: string) => ({ ...server.deps, now: () => new Date(time) })

  await checkNow(at('2026-11-20T10:00:00.000Z'), owner())
  await checkNow(at('2026-11-20T10:30:00.000Z'), owner())
  expect(await findSince()).toBe('2026-11-20T10:00:00.000Z')

  server.simulator.addApp({ id: appId, name: 'App', secret })
  await checkNow(at('2026-11-20T11:00:00.000Z'), owner())
  expect(await findSince()).toBeUndefined()
  server.simulator.addApp({ id: appId, name: 'App', secret: 'the-real-secret' })
  await checkNow(at('2026-11-20T11:30:00.000Z'), owner())
  expect(await findSince()).toBe('2026-11-20T11:30:00.000Z')
})

test('accepts a token of another app than the stored one, and stores its app', async () => {
  const [earlier, current] = [addApp(server, secret), addApp(server, 'its-own-secret')]
  await useTokenOf(current)
  await setHealth(server.deps, account, { app_id: earlier })

  await checkNow(server.deps, owner())

  expect(await readHealth()).toMatchObject({ app_id: current, token_problem: null })
  expect(await view()).toMatchObject({ canSend: true, token: { valid: true } })
})

test('recognizes an expired token with the credentials of its app', async () => {
  const appId = addApp(server, secret)
  await useTokenOf(appId)
  server.simulator.addToken(accessToken, { appId, wabaIds: [account.wabaId], expiresAt: 1_700_000_000 })

  await checkNow(server.deps, owner())

  expect(await readHealth()).toMatchObject({ token_problem: expect.stringContaining('expired') })
  expect(await view()).toMatchObject({ canSend: false })
})

test('keeps the known expiry of a token if WhatsApp does not say it', async () => {
  const appId = addApp(server, secret)
  const expiresAt = Math.floor(Date.now() / 1000) + 86_400
  await useTokenOf(appId, { expiresAt })
  const data = { is_valid: true, app_id: appId, scopes: [], expires_at: null }
  server.simulator.intercept(({ path }) =>
    path.includes('debug_token') ? { kind: 'json', status: 200, body: { data } } : undefined,
  )

  await checkNow(server.deps, owner())

  expect(await readHealth()).toMatchObject({ token_expires_at: new Date(expiresAt * 1000), token_problem: null })
})

test('clears the facts of the previous token if those of the new one cannot be read', async () => {
  const appId = addApp(server, secret)
  const expiresAt = Math.floor(Date.now() / 1000) + 86_400
  await useTokenOf(appId, { expiresAt })
  expect(await readHealth()).toMatchObject({ app_id: appId, token_expires_at: new Date(expiresAt * 1000) })
  server.simulator.intercept(({ path }) => (path.includes('debug_token') ? { kind: 'drop' } : undefined))

  await useTokenOf(appId, {}, `${accessToken}2`)

  expect(await readHealth()).toMatchObject({ app_id: null, token_expires_at: null, token_problem: null })
})

/** Responds to reads of the number like `whatsapp`, but runs `meanwhile` first. */
function delayed(
  read: 'getNumberDetails' | 'getPhoneNumber',
  meanwhile: () => Promise<unknown>,
  fixedOutcome?: Awaited<ReturnType<WhatsApp['getNumberDetails']>>,
): WhatsApp {
  const { whatsapp } = server.deps
  let isFirst = true
  return {
    ...whatsapp,
    [read]: async (input: Parameters<WhatsApp['getPhoneNumber']>[0]) => {
      const outcome = fixedOutcome ?? (await whatsapp[read](input))
      if (isFirst) {
        isFirst = false
        await meanwhile()
      }
      return outcome
    },
  }
}

test('ignores the check of a token that was replaced during the check', async () => {
  const appId = addApp(server, secret)
  await useTokenOf(appId)
  const expiresAt = Math.floor(Date.now() / 1000) + 30 * 86_400
  const refused = {
    ok: false,
    refused: true,
    accountUnusable: true,
    reason: 'WhatsApp returned error code 190',
    error: { code: 190, title: 'revoked' },
  } as const
  const whatsapp = delayed('getNumberDetails', () => useTokenOf(appId, { expiresAt }, `${accessToken}new`), refused)

  await checkNow({ ...server.deps, whatsapp }, owner())

  expect(await readStored()).toMatchObject({ active: true, inactiveReason: null })
  expect(await readHealth()).toMatchObject({ token_expires_at: new Date(expiresAt * 1000), token_problem: null })
})

test('keeps a concurrent replacement of the token when the WABA changes', async () => {
  const appId = addApp(server, secret)
  await useTokenOf(appId)
  const wabaId = '599911112222'
  server.simulator.addPhoneNumber({ phoneNumberId: account.phoneNumberId, wabaId, accessToken })
  server.simulator.addToken(accessToken, { appId, wabaIds: [wabaId, account.wabaId] })
  const next = `${accessToken}next`
  const whatsapp = delayed('getPhoneNumber', async () => {
    server.simulator.addPhoneNumber({ phoneNumberId: account.phoneNumberId, wabaId: account.wabaId, accessToken: next })
    await replaceSecrets(server.deps, account.accountId, account.whatsAppAccountId, { accessToken: next })
  })

  const changed = replaceSecrets({ ...server.deps, whatsapp }, account.accountId, account.whatsAppAccountId, { wabaId })

  await expect(changed).rejects.toThrow('changed at the same time')
  const { accessTokenEncrypted: encrypted, wabaId: stored } = await readStored()
  expect(server.deps.secrets.decrypt(encrypted, accessTokenPurpose(account.whatsAppAccountId))).toBe(next)
  expect(stored).toBe(account.wabaId)
})

test('does not fail if the account is removed during a step', async () => {
  const whatsapp: WhatsApp = {
    ...server.deps.whatsapp,
    subscribeApp: async (input) => {
      await removeWhatsAppAccount(server.deps, account)
      return server.deps.whatsapp.subscribeApp(input)
    },
  }

  const step = await subscribeStored({ ...server.deps, whatsapp }, account)

  expect(step).toMatchObject({ ok: true })
})

/** Overrides the callback URL for the WABA of the account, as a user can at Meta. */
async function overrideCallback(url: string): Promise<void> {
  const response = await fetch(`${server.simulator.url}/v25.0/${account.wabaId}/subscribed_apps`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ override_callback_uri: url, verify_token: server.deps.callbacks.verifyToken }),
  })
  expect(response.status).toBe(200)
}

test('keeps an override of the callback URL when it subscribes the app again', async () => {
  const appId = addApp(server, secret)
  await useTokenOf(appId)
  const overrideCallbackUrl = `${server.url}${callbackPath}?override`
  await overrideCallback(overrideCallbackUrl)

  expect(await subscribeStored(server.deps, account)).toMatchObject({ ok: true })
  await replaceSecrets(server.deps, account.accountId, account.whatsAppAccountId, { accessToken })
  expect(await server.deps.whatsapp.listSubscribedApps({ wabaId: account.wabaId, accessToken })).toMatchObject({
    value: expect.arrayContaining([{ appId, overrideCallbackUrl }]),
  })

  const otherAppId = addApp(server, secret)
  await useTokenOf(otherAppId, {}, `${accessToken}other`)
  expect(server.simulator.subscribedApps(account.wabaId)).toContain(otherAppId)
})

test('reports that statuses go to an override of the callback URL, until it is removed', async () => {
  await useTokenOf(addApp(server, secret))
  await overrideCallback(`${server.url}${callbackPath}?override`)
  await checkNow(server.deps, owner())
  expect((await view()).findings).toContainEqual(
    expect.objectContaining({
      code: 'callback_overridden',
      message: expect.stringContaining(`go to ${server.url}${callbackPath}?override, and not to`),
      fix: expect.stringContaining('Remove the override at Meta.'),
    }),
  )

  await server.deps.whatsapp.subscribeApp({ wabaId: account.wabaId, accessToken })
  await checkNow(server.deps, owner())
  expect((await view()).codes).not.toContain('callback_overridden')
})

const due = async () => (await readHealth()).next_check_at.getTime() <= Date.now()

test('schedules one check after a rejected send', async () => {
  const input = await readStored()
  await setHealth(server.deps, account, { next_check_at: new Date(Date.now() + 3_600_000) })

  await deactivateRefused(server.deps, input, { code: 190, title: 'Access token has expired' })
  expect(await due()).toBe(true)

  await checkDueAccounts(server.deps)
  await deactivateRefused(server.deps, input, { code: 190, title: 'Access token has expired' })
  expect(await due()).toBe(false)
})

test('stores what it read although another check holds a number of the same WhatsApp Business Account', async () => {
  await checkNow(server.deps, owner())
  const checked = await readHealth()
  const other = await account.addWhatsAppAccount({ wabaId: account.wabaId, phoneNumberId: `6${account.phoneNumberId}` })

  await server.deps.db.transaction().execute(async (trx) => {
    await trx
      .selectFrom('whatsapp_account_health')
      .select('account_id')
      .where('whatsapp_account_id', '=', other)
      .forUpdate()
      .executeTakeFirstOrThrow()
    const cancelled = cancelLockWait(server.deps.db)
    await expect(checkNow(server.deps, owner())).rejects.toThrow('canceling statement')
    await cancelled
  })

  expect((await readHealth()).number_checked_at).not.toEqual(checked.number_checked_at)
})

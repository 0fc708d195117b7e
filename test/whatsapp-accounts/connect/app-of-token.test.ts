import { beforeEach, expect, test } from 'vitest'
import { configureCallback } from '../../../src/whatsapp-accounts/connect/subscribe.ts'
import { replaceSecrets } from '../../../src/whatsapp-accounts/update.ts'
import type { WhatsApp } from '../../../src/whatsapp/whatsapp.ts'
import { addApp, readStoredHealth, setHealth } from '../../support/health.ts'
import { forFile } from '../../support/lifetime.ts'
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

const health = () => readStoredHealth(server.deps, account)

/** Replaces the token of the account, and the app secret if it is given, by those of this app. */
async function useTokenOf(
  appId: string,
  { token = accessToken, appSecret }: { token?: string; appSecret?: string } = {},
) {
  const { accountId, whatsAppAccountId, phoneNumberId, wabaId } = account
  server.simulator.addPhoneNumber({ phoneNumberId, wabaId, accessToken: token })
  server.simulator.addToken(token, { appId, wabaIds: [wabaId] })
  await replaceSecrets(server.deps, accountId, whatsAppAccountId, { accessToken: token, appSecret })
}

const setCallback = (deps = server.deps) => configureCallback(deps, account)

test('sets the callback URL of the app that the token belongs to, not of an app stored earlier', async () => {
  const [earlier, current] = [addApp(server, secret), addApp(server, 'its-own-secret')]
  await useTokenOf(current)
  await setHealth(server.deps, account, { app_id: earlier })

  const refused = await setCallback()

  expect(refused).toMatchObject({ ok: false, message: expect.stringContaining('app secret does not match') })
  expect(server.simulator.callbackOf(earlier)).toBeUndefined()
  expect(await health()).toMatchObject({ app_id: current, callback_url: null })

  await useTokenOf(current, { appSecret: 'its-own-secret' })
  await setHealth(server.deps, account, { app_id: earlier })

  expect(await setCallback()).toMatchObject({ ok: true })
  expect(server.simulator.callbackOf(earlier)).toBeUndefined()
  expect(server.simulator.callbackOf(current)?.callbackUrl).toContain(account.whatsAppAccountId)
  expect(await health()).toMatchObject({ app_id: current })
})

/** Calls WhatsApp as usual, and runs `meanwhile` before the first response about a token is used. */
function withMeanwhile(meanwhile: () => Promise<unknown>): WhatsApp {
  const { whatsapp } = server.deps
  let isFirst = true
  return {
    ...whatsapp,
    inspectToken: async (input) => {
      const outcome = await whatsapp.inspectToken(input)
      if (isFirst) {
        isFirst = false
        await meanwhile()
      }
      return outcome
    },
  }
}

test('does not store the app of a token that was replaced during the check', async () => {
  const [earlier, current] = [addApp(server, secret), addApp(server, secret)]
  await useTokenOf(earlier)
  await setHealth(server.deps, account, { app_id: null })
  const whatsapp = withMeanwhile(() => useTokenOf(current, { token: `${accessToken}2` }))

  await setCallback({ ...server.deps, whatsapp })

  expect(await health()).toMatchObject({ app_id: current, callback_url: null, callback_problem: null })
})

test('keeps the stored app if WhatsApp does not report the app of the token', async () => {
  const appId = addApp(server, secret)
  await useTokenOf(appId)
  server.simulator.intercept(({ path }) => (path.includes('debug_token') ? { kind: 'drop' } : undefined))

  const step = await setCallback()
  server.simulator.intercept(undefined)

  expect(step).toMatchObject({ ok: true })
  expect(await health()).toMatchObject({ app_id: appId })
})

test('does not use the secret of the server for an account whose own app secret cannot be decrypted', async () => {
  const appId = addApp(server, 'its-own-secret')
  await useTokenOf(appId, { appSecret: 'its-own-secret' })
  await server.deps.db
    .updateTable('whatsapp_accounts')
    .set({ app_secret_encrypted: server.deps.secrets.encrypt('its-own-secret', 'another purpose') })
    .where('id', '=', account.whatsAppAccountId)
    .execute()

  const step = await setCallback()

  expect(step).toMatchObject({ ok: false, message: expect.stringContaining('cannot be decrypted') })
})

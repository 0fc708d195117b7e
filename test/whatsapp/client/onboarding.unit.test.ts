import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { callbackFields } from '../../../src/whatsapp/callbacks/subscription.ts'
import { createCloudApi } from '../../../src/whatsapp/client/cloud-api.ts'
import { sandboxTokens } from '../../../src/whatsapp/simulator/onboarding/sandbox-tokens.ts'
import { startSimulator, type Simulator } from '../../../src/whatsapp/simulator/simulator.ts'
import type { SimulatedNumber } from '../../../src/whatsapp/simulator/state.ts'
import { ok } from '../../../src/whatsapp/simulator/exchange.ts'
import { forFile } from '../../support/lifetime.ts'

const simulator = await forFile(startSimulator({ sandbox: true }))
const whatsapp = await forFile(createCloudApi({ url: simulator.url, version: 'v25.0' }))
afterEach(() => simulator.intercept(undefined))

const app = { appId: '300000000000009', appSecret: 'secret-of-the-app' }
let numbers = 0

/** A number, its WABA and a token that belongs to `app`. */
function addNumber(more: Partial<SimulatedNumber> = {}, token: Parameters<Simulator['addToken']>[1] = {}) {
  const id = String(++numbers).padStart(4, '0')
  const number = { phoneNumberId: `7000${id}`, wabaId: `8000${id}`, accessToken: `token-${id}` }
  simulator.addApp({ id: app.appId, name: 'Test app', secret: app.appSecret })
  simulator.addPhoneNumber({ ...number, ...more })
  simulator.addToken(number.accessToken, { appId: app.appId, wabaIds: [number.wabaId], ...token })
  return number
}

/** Responds like a callback URL whose verify token is `expected`. */
async function startCallback(expected: string): Promise<string> {
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '/', 'http://localhost').searchParams
    const verified = query.get('hub.mode') === 'subscribe' && query.get('hub.verify_token') === expected
    response.writeHead(verified ? 200 : 403).end(verified ? query.get('hub.challenge') : 'no')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  // A TCP server always has an address of this type.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

test('describes a token with its app, permissions and business accounts', async () => {
  const { accessToken, wabaId } = addNumber()

  expect(await whatsapp.inspectToken({ accessToken })).toEqual({
    ok: true,
    value: {
      valid: true,
      appId: app.appId,
      appName: 'Test app',
      scopes: ['whatsapp_business_management', 'whatsapp_business_messaging'],
      wabaIds: [wabaId],
      expiresAt: 'never',
    },
  })
})

test.each([
  { expires_at: 0, expiresAt: 'never' },
  { expires_at: '0', expiresAt: 'never' },
  { expires_at: 1_900_000_000, expiresAt: new Date(1_900_000_000_000) },
  { expires_at: null, expiresAt: undefined },
  { expires_at: '', expiresAt: undefined },
  { expires_at: [], expiresAt: undefined },
  { expires_at: 1_900_000_000_000, expiresAt: new Date(1_900_000_000_000) },
  { expires_at: 1e15, expiresAt: undefined },
  { expires_at: -1, expiresAt: undefined },
  { expires_at: undefined, expiresAt: undefined },
])('reads the expiry $expires_at of a token as $expiresAt', async ({ expires_at, expiresAt }) => {
  const { accessToken } = addNumber()
  simulator.intercept(() =>
    ok({ data: { is_valid: true, scopes: [], ...(expires_at !== undefined && { expires_at }) } }),
  )

  const inspected = await whatsapp.inspectToken({ accessToken })

  expect(inspected.ok && inspected.value.expiresAt).toEqual(expiresAt)
})

test.each([undefined, null, 'false', 0])(
  'says nothing about a token of which WhatsApp does not say whether it is valid: %j',
  async (is_valid) => {
    const { accessToken } = addNumber()
    simulator.intercept(() => ok({ data: { is_valid, scopes: [] } }))

    const inspected = await whatsapp.inspectToken({ accessToken })

    expect(inspected).toEqual({ ok: false, refused: false, accountUnusable: false, reason: 'an unreadable response' })
  },
)

test('describes an expired token only with the credentials of its app', async () => {
  const { accessToken } = addNumber({}, { expiresAt: 1_700_000_000 })

  expect(await whatsapp.inspectToken({ accessToken })).toMatchObject({ ok: false, error: { code: 190 } })
  expect(await whatsapp.inspectToken({ accessToken, app })).toMatchObject({
    ok: true,
    value: { valid: false, expiresAt: new Date(1_700_000_000_000), reason: expect.stringContaining('expired') },
  })
})

test('lists the business accounts and numbers that a token may use', async () => {
  const { accessToken, wabaId, phoneNumberId } = addNumber({ status: 'PENDING' })

  expect(await whatsapp.listBusinessAccounts({ accessToken, wabaIds: [wabaId] })).toEqual({
    ok: true,
    value: [{ wabaId, name: 'Simulated Business' }],
  })
  expect(await whatsapp.listPhoneNumbers({ wabaId, accessToken })).toEqual({
    ok: true,
    value: [
      {
        phoneNumberId,
        displayPhoneNumber: '+1 555-010-0001',
        verifiedName: 'Simulated Business',
        status: 'PENDING',
        qualityRating: 'GREEN',
        throughput: 'STANDARD',
        nameStatus: 'APPROVED',
        codeVerificationStatus: 'VERIFIED',
        portfolioId: `9${wabaId.slice(1)}`,
        messagingLimit: 'TIER_250',
        onBusinessApp: false,
        health: expect.arrayContaining([
          expect.objectContaining({
            entity: 'PHONE_NUMBER',
            canSend: 'BLOCKED',
            reasons: [expect.objectContaining({ description: expect.any(String), solution: expect.any(String) })],
          }),
        ]),
      },
    ],
  })
})

test.each([
  { says: 'both', node: { is_on_biz_app: true, platform_type: 'CLOUD_API' }, expected: true },
  { says: 'no platform', node: { is_on_biz_app: true }, expected: true },
  { says: 'another platform', node: { is_on_biz_app: true, platform_type: 'NOT_APPLICABLE' }, expected: false },
  { says: 'that it is not in the app', node: { is_on_biz_app: false, platform_type: 'CLOUD_API' }, expected: false },
  { says: 'nothing', node: {}, expected: undefined },
])('reads whether the WhatsApp Business app uses a number if WhatsApp says $says', async ({ node, expected }) => {
  const { accessToken, wabaId, phoneNumberId } = addNumber()
  const answer = (withPlatform: boolean) =>
    simulator.intercept(({ path, query }) => {
      const fields = query.get('fields') ?? ''
      if (!fields.includes('is_on_biz_app')) return undefined
      const message = '(#100) Tried accessing nonexisting field (platform_type)'
      if (fields.includes('platform_type') && !withPlatform)
        return { kind: 'json', status: 400, body: { error: { message, type: 'OAuthException', code: 100 } } }
      const one = { id: phoneNumberId, ...node }
      return ok(path.endsWith('/phone_numbers') ? { data: [one] } : one)
    })

  for (const withPlatform of [true, false]) {
    answer(withPlatform)
    const use = await whatsapp.isOnBusinessApp({ phoneNumberId, accessToken })
    const details = await whatsapp.getNumberDetails({ phoneNumberId, accessToken })
    const listed = await whatsapp.listPhoneNumbers({ wabaId, accessToken })

    expect(use).toEqual({ ok: true, value: expected })
    expect([details.ok && details.value.onBusinessApp, listed.ok && listed.value[0]?.onBusinessApp]).toEqual([
      expected,
      expected,
    ])
  }
})

test.each(['v21.0', 'v22.0', 'v23.0'])('reads a number without its messaging limit with %s', async (version) => {
  const { accessToken, wabaId, phoneNumberId } = addNumber()
  const older = createCloudApi({ url: simulator.url, version })
  onTestFinished(() => older.close())

  const details = await older.getNumberDetails({ phoneNumberId, accessToken })
  expect(details).toMatchObject({ ok: true, value: { phoneNumberId, status: 'CONNECTED', onBusinessApp: false } })
  expect(details).not.toHaveProperty('value.messagingLimit')
  const listed = await older.listPhoneNumbers({ wabaId, accessToken })
  expect(listed).toEqual({ ok: true, value: details.ok && [details.value] })
})

test('lists numbers if WhatsApp does not say whether the app uses them', async () => {
  const { accessToken, wabaId, phoneNumberId } = addNumber()
  simulator.intercept(({ query }) =>
    query.get('fields')?.includes('is_on_biz_app')
      ? { kind: 'text', status: 502, contentType: 'text/html', text: '' }
      : undefined,
  )

  expect(await whatsapp.listPhoneNumbers({ wabaId, accessToken })).toMatchObject({ value: [{ phoneNumberId }] })
  expect(await whatsapp.getNumberDetails({ phoneNumberId, accessToken })).toMatchObject({ value: { phoneNumberId } })
})

test('finds business accounts through businesses if the token is not narrowed', async () => {
  const { accessToken, wabaId } = addNumber({}, { scopes: ['business_management', 'whatsapp_business_management'] })

  expect(await whatsapp.listBusinessAccounts({ accessToken })).toMatchObject({ ok: true, value: [{ wabaId }] })
})

test('finds business accounts if WhatsApp does not show a list of a business', async () => {
  const { accessToken, wabaId } = addNumber({}, { scopes: ['business_management', 'whatsapp_business_management'] })
  let refused = '/client_whatsapp_business_accounts'
  simulator.intercept(({ path }) =>
    path.endsWith(refused) ? { kind: 'json', status: 403, body: { error: { message: 'No.', code: 10 } } } : undefined,
  )

  expect(await whatsapp.listBusinessAccounts({ accessToken })).toMatchObject({ ok: true, value: [{ wabaId }] })
  refused = '_whatsapp_business_accounts'
  expect(await whatsapp.listBusinessAccounts({ accessToken })).toMatchObject({ ok: false, error: { code: 10 } })
})

test('says that WhatsApp does not show a list of a business if the other one is empty', async () => {
  const { accessToken } = addNumber({}, { scopes: ['business_management', 'whatsapp_business_management'] })
  simulator.intercept(({ path }) => {
    if (path.endsWith('/client_whatsapp_business_accounts'))
      return { kind: 'json', status: 403, body: { error: { message: 'No.', code: 10 } } }
    return path.endsWith('/owned_whatsapp_business_accounts')
      ? { kind: 'json', status: 200, body: { data: [] } }
      : undefined
  })

  expect(await whatsapp.listBusinessAccounts({ accessToken })).toMatchObject({ ok: false, error: { code: 10 } })
})

test('needs business_management to list businesses', async () => {
  const { accessToken } = addNumber()

  expect(await whatsapp.listBusinessAccounts({ accessToken })).toMatchObject({ ok: false, error: { code: 200 } })
})

test('sets the PIN with the first registration, and requires it for later ones', async () => {
  const number = addNumber({ status: 'PENDING' })

  expect(await whatsapp.registerNumber({ ...number, pin: '111111' })).toEqual({ ok: true, value: undefined })
  expect(await whatsapp.getNumberDetails(number)).toMatchObject({ value: { status: 'CONNECTED' } })
  for (const code of [133005, 133005, 133005, 133008])
    expect(await whatsapp.registerNumber({ ...number, pin: '222222' })).toMatchObject({ ok: false, error: { code } })
})

test('rejects more than ten registrations of a number', async () => {
  const number = addNumber()
  for (let attempt = 0; attempt < 10; attempt++)
    expect(await whatsapp.registerNumber({ ...number, pin: '111111' })).toMatchObject({ ok: true })

  expect(await whatsapp.registerNumber({ ...number, pin: '111111' })).toMatchObject({ error: { code: 133016 } })
})

const [ofNumber, ofWaba, ofApp] = ['https://number.example/', 'https://waba.example/', 'https://app.example/']

test.each([
  { configuration: { phone_number: ofNumber, whatsapp_business_account: ofWaba, application: ofApp }, is: ofNumber },
  { configuration: { phone_number: '', whatsapp_business_account: ofWaba, application: ofApp }, is: ofWaba },
  { configuration: { application: ofApp }, is: undefined },
  { configuration: null, is: undefined },
])('reads which callback URL overrides that of the app: $is', async ({ configuration, is }) => {
  const { accessToken, phoneNumberId } = addNumber()
  simulator.intercept(() => ok({ id: phoneNumberId, webhook_configuration: configuration }))

  const details = await whatsapp.getNumberDetails({ phoneNumberId, accessToken })
  expect(details.ok && details.value.callbackOverride).toBe(is)
})

test('subscribes the app of the token, even repeatedly', async () => {
  const number = addNumber()
  expect(await whatsapp.listSubscribedApps(number)).toEqual({ ok: true, value: [] })

  await whatsapp.subscribeApp(number)
  await whatsapp.subscribeApp(number)

  expect(await whatsapp.listSubscribedApps(number)).toEqual({ ok: true, value: [{ appId: app.appId }] })
})

test('requires a subscription and the handshake to override the callback URL; DELETE unsubscribes', async () => {
  const { wabaId, accessToken } = addNumber()
  const url = await startCallback('right')
  const request = async (method: string, body?: object) => {
    const response = await fetch(`${simulator.url}/v25.0/${wabaId}/subscribed_apps`, {
      method,
      headers: { authorization: `Bearer ${accessToken}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.text() }
  }
  const override = { override_callback_uri: url, verify_token: 'right' }

  expect(await request('POST', override)).toMatchObject({ status: 400 })
  await request('POST')
  expect(await request('POST', { ...override, verify_token: 'wrong' })).toMatchObject({
    status: 400,
    body: expect.stringContaining('2200'),
  })
  expect(await request('POST', override)).toMatchObject({ status: 200 })
  expect((await request('GET')).body).toContain(url)
  await request('DELETE')
  expect(simulator.subscribedApps(wabaId)).toEqual([])
})

test('sets the callback URL of an app after a handshake with it', async () => {
  addNumber()
  const url = await startCallback('right')
  expect(await whatsapp.getAppSubscription(app)).toEqual({ ok: true, value: undefined })

  expect(await whatsapp.subscribeCallback(app, { url, verifyToken: 'wrong' })).toMatchObject({
    ok: false,
    error: { code: 2200, details: expect.stringContaining('HTTP Status Code = 403') },
  })
  expect(await whatsapp.subscribeCallback(app, { url, verifyToken: 'right' })).toEqual({
    ok: true,
    value: [...callbackFields],
  })
  expect(await whatsapp.getAppSubscription(app)).toEqual({
    ok: true,
    value: { callbackUrl: url, fields: [...callbackFields], active: true },
  })
})

test('exchanges a token of the app for another one, and repeats no secret in an error', async () => {
  const { accessToken } = addNumber()
  const issued = await whatsapp.refreshToken({ accessToken, app })
  expect(issued).toMatchObject({ ok: true })
  const renewed = issued.ok ? issued.value.accessToken : ''
  expect(renewed).not.toBe(accessToken)

  const [before, after] = await Promise.all(
    [accessToken, renewed].map((one) => whatsapp.inspectToken({ accessToken: one })),
  )
  expect(before).toMatchObject({ ok: true, value: { valid: true } })
  expect(after).toMatchObject({ ok: true, value: { valid: true, appId: app.appId, expiresAt: expect.any(Date) } })
  for (const wrong of [
    { accessToken: 'EAAnobodyknowsthistoken', app },
    { accessToken, app: { ...app, appSecret: 'wrong-secret' } },
  ]) {
    const refused = await whatsapp.refreshToken(wrong)
    expect(refused).toMatchObject({ ok: false, refused: true, error: { code: 190 } })
    expect(JSON.stringify(refused)).not.toMatch(/EAAnobody|wrong-secret/)
  }
})

test('rejects an app secret of another app without repeating it', async () => {
  addNumber()
  const refused = await whatsapp.getAppSubscription({ ...app, appSecret: 'wrong-secret' })

  expect(refused).toMatchObject({ ok: false, refused: true, error: { code: 190 } })
  expect(JSON.stringify(refused)).not.toContain('wrong-secret')
})

test('redacts tokens in an error', async () => {
  const { accessToken } = addNumber()
  simulator.intercept(({ headers, query }) => ({
    kind: 'json',
    status: 400,
    body: {
      error: {
        code: 190,
        message: `Malformed access token ${String(headers['authorization'])} ${query.get('input_token')}`,
      },
    },
  }))

  const refused = await whatsapp.inspectToken({ accessToken, app })

  expect(refused).toMatchObject({ ok: false })
  expect(JSON.stringify(refused)).not.toMatch(/token-\d|secret-of-the-app/)
})

test('skips items that cannot be parsed', async () => {
  const { accessToken, wabaId } = addNumber()
  simulator.intercept(({ path }) =>
    path === `/${wabaId}/phone_numbers` ? ok({ data: [null, { id: 4711 }, { name: 'without an ID' }] }) : undefined,
  )

  const listed = await whatsapp.listPhoneNumbers({ wabaId, accessToken })

  expect(listed).toEqual({ ok: true, value: [{ phoneNumberId: '4711' }] })
})

test.each(sandboxTokens.map(({ token, does }) => ({ token, does })))(
  '$token: $does',
  async ({ token: accessToken }) => {
    const inspected = await whatsapp.inspectToken({ accessToken })
    const wabaIds = inspected.ok ? inspected.value.wabaIds : undefined
    const [wabaId = '0'] = wabaIds ?? []
    const listed = await whatsapp.listPhoneNumbers({ wabaId, accessToken })
    const [number] = listed.ok ? listed.value : []
    const registered = await whatsapp.registerNumber({
      phoneNumberId: number?.phoneNumberId ?? '0',
      accessToken,
      pin: '654321',
    })
    const subscribed = await whatsapp.subscribeApp({ wabaId, accessToken })
    const codes = [inspected, listed, registered, subscribed].map((outcome) => (outcome.ok ? 0 : outcome.error?.code))

    const expected: Record<string, (number | undefined)[]> = {
      'sandbox-token-registered': [0, 0, 133005, 0],
      'sandbox-token-expired': [190, 190, 190, 190],
      'sandbox-token-no-management': [0, 100, 100, 100],
      'sandbox-token-no-accounts': [0, 100, 100, 100],
      'sandbox-token-pin': [0, 0, 133005, 0],
      'sandbox-token-pin-locked': [0, 0, 133008, 0],
      'sandbox-token-register-limit': [0, 0, 133016, 0],
      'sandbox-token-subscribe-refused': [0, 0, 0, 200],
      'sandbox-token-throttled': [0, 80007, 100, 0],
      'sandbox-token-throttled-later': [0, 0, 80007, 80007],
    }
    expect(codes).toEqual(expected[accessToken] ?? [0, 0, 0, 0])
  },
)

test('rejects a callback URL for the app of sandbox-token-callback-unreachable', async () => {
  const appSecret = 'secret-of-the-sandbox'
  simulator.reportTo({ url: `${simulator.url}/callbacks`, appSecret })
  const inspected = await whatsapp.inspectToken({ accessToken: 'sandbox-token-callback-unreachable' })
  const app = { appId: inspected.ok ? (inspected.value.appId ?? '') : '', appSecret }

  const refused = await whatsapp.subscribeCallback(app, {
    url: 'https://waybill.example.com/webhooks/whatsapp',
    verifyToken: 'verify',
  })
  simulator.reportTo(undefined)

  expect(refused).toMatchObject({ ok: false, error: { code: 2200 } })
  expect(simulator.callbackOf(app.appId)).toBeUndefined()
})

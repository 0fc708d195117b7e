import { beforeEach, expect, onTestFinished, test } from 'vitest'
import type { CallbackSetUp, CallbackStep, TokenReport } from '../../../contracts/dashboard/connect.ts'
import { callbackFields, requiredCallbackFields } from '../../../src/whatsapp/callbacks/subscription.ts'
import { failPlainParameter } from '../../../src/whatsapp/simulator/errors.ts'
import { forFile } from '../../support/lifetime.ts'
import { accountWithOwner, signedInOwner, type TestOwner } from '../../support/user.ts'
import { startTestServer, type TestAccount, type TestServer } from '../../support/server.ts'

const app = { id: '300000000000077', secret: 'test-app-secret' }
const server = await forFile(startTestServer())
server.simulator.addApp({ ...app, name: 'Shop app' })
let account: TestAccount
let owner: TestOwner
beforeEach(async () => {
  account = await server.account()
  owner = await signedInOwner(server, account.accountId)
})

const call = <T = CallbackStep>(name: string, input: object = {}, person = owner, accountId = account.accountId) =>
  person.mutate<T>(`whatsAppAccount.${name}`, { accountId, ...input })

/** The audit log of an account, as text. */
async function readAuditLog(person: TestOwner, accountId: string): Promise<string> {
  return JSON.stringify((await person.query('audit.list', { accountId, limit: 100 })).data)
}

let numbers = 0

function newNumber(token: Parameters<TestServer['simulator']['addToken']>[1] = {}, status = 'CONNECTED') {
  const id = String(++numbers).padStart(4, '0')
  const number = { phoneNumberId: `5100${id}`, wabaId: `5200${id}`, accessToken: `EAAconnect${id}` }
  server.simulator.addPhoneNumber({ ...number, status })
  server.simulator.addToken(number.accessToken, { appId: app.id, wabaIds: [number.wabaId], ...token })
  return number
}

async function add(number: ReturnType<typeof newNumber>, more: object = {}) {
  const { data } = await call<{ whatsAppAccountId: string; subscribed: boolean; subscriptionProblem?: string }>('add', {
    ...number,
    ...more,
  })
  return data
}

test('checks a token and lists the numbers that it may use', async () => {
  const number = newNumber()

  const { data } = await call<object>('inspectToken', { accessToken: number.accessToken })

  expect(data).toMatchObject({
    valid: true,
    message: 'The token is valid and belongs to the app “Shop app”. It does not expire.',
    appId: app.id,
    missing: [],
    accounts: [{ wabaId: number.wabaId, numbers: [{ phoneNumberId: number.phoneNumberId, status: 'CONNECTED' }] }],
  })
  expect(data).not.toHaveProperty('fix')
})

test.each([
  { wrong: 'an unknown token', token: undefined, valid: false, says: 'WhatsApp rejects this access token' },
  { wrong: 'an expired token', token: { expiresAt: 1_700_000_000 }, valid: false, says: 'Session has expired' },
  {
    wrong: 'a token without messaging',
    token: { scopes: ['whatsapp_business_management'] },
    valid: true,
    says: 'It lacks the permission whatsapp_business_messaging.',
  },
  {
    wrong: 'a token without accounts',
    token: { wabaIds: [] },
    valid: true,
    says: 'It has no access to a phone number',
  },
  {
    wrong: 'a throttled account',
    token: { refuses: { 'GET phone_numbers': 80007 } },
    valid: true,
    says: 'reached WhatsApp’s limit of API calls',
  },
] as const)('explains $wrong and how to fix it', async ({ token, valid, says }) => {
  const { accessToken } = newNumber(token && ({ ...token, ...('wabaIds' in token && { wabaIds: [] }) } as object))
  const given = token === undefined ? 'EAAunknown' : accessToken

  const { data } = await call<TokenReport>('inspectToken', { accessToken: given })

  expect(data).toMatchObject({ valid, message: expect.stringContaining(says), fix: expect.any(String) })
  expect(JSON.stringify(data)).not.toContain(given)
})

test.each([
  { unreadable: 'node', hidden: (path: string) => path === '/5299999' },
  { unreadable: 'numbers', hidden: (path: string) => path === '/5299999/phone_numbers' },
])('lists the other numbers if WhatsApp does not show the $unreadable of a business account', async ({ hidden }) => {
  const number = newNumber()
  server.simulator.addPhoneNumber({ phoneNumberId: '5199999', wabaId: '5299999', accessToken: number.accessToken })
  server.simulator.addToken(number.accessToken, { appId: app.id, wabaIds: ['5299999', number.wabaId] })
  const refuse = (code: number) =>
    server.simulator.intercept(({ path }) =>
      hidden(path) ? { kind: 'json', status: 403, body: { error: { message: 'No.', code } } } : undefined,
    )
  onTestFinished(() => server.simulator.intercept(undefined))

  refuse(10)
  const { data } = await call<{ accounts: object[] }>('inspectToken', { accessToken: number.accessToken })
  expect(data.accounts).toMatchObject([{ wabaId: number.wabaId, numbers: [{ phoneNumberId: number.phoneNumberId }] }])

  // A retry may read all of them.
  refuse(80007)
  expect((await call('inspectToken', { accessToken: number.accessToken })).data).toMatchObject({
    message: expect.stringContaining('limit of API calls'),
    accounts: [],
  })
})

test.each([
  { with: 'its subcode', message: 'El objeto no existe.', subcode: 33, advised: true },
  { with: 'its text, without a subcode', message: "Object with ID '1' does not exist", advised: true },
  { with: 'another subcode', message: "Parameter 'x' does not exist", subcode: 2388077, advised: false },
])('explains an unknown ID by $with', async ({ message, subcode, advised }) => {
  const { accessToken } = newNumber()
  const error = { message, code: 100, ...(subcode !== undefined && { error_subcode: subcode }) }
  server.simulator.intercept(({ path }) =>
    path.endsWith('/phone_numbers') ? { kind: 'json', status: 400, body: { error } } : undefined,
  )

  const { data } = await call('inspectToken', { accessToken })
  server.simulator.intercept(undefined)

  expect(data.message).toContain('WhatsApp said (100)')
  expect(data.message.includes('WhatsApp does not know this ID')).toBe(advised)
})

test('subscribes the app when an account is added by its IDs', async () => {
  const number = newNumber()

  expect(await add(number)).toEqual({ whatsAppAccountId: expect.any(String), subscribed: true })

  expect(server.simulator.subscribedApps(number.wabaId)).toEqual([app.id])
})

test('adds the account and reports the error if WhatsApp rejects the subscription', async () => {
  const number = newNumber({ refuses: { 'POST subscribed_apps': 200 } })

  const added = await add(number)

  expect(added).toMatchObject({ subscribed: false, subscriptionProblem: expect.stringContaining('(200)') })
  const again = await call('subscribe', { whatsAppAccountId: added.whatsAppAccountId })
  expect(again.data).toMatchObject({ ok: false, fix: expect.stringContaining('system user') })

  server.simulator.addToken(number.accessToken, { appId: app.id, wabaIds: [number.wabaId] })
  expect((await call('subscribe', { whatsAppAccountId: added.whatsAppAccountId })).data).toMatchObject({ ok: true })
})

test('rejects a token without permission to send, and stores nothing', async () => {
  const number = newNumber({ scopes: ['whatsapp_business_management'] })

  const refused = await call('add', number)

  expect(refused).toMatchObject({
    statusCode: 400,
    error: { data: { fields: { accessToken: expect.stringContaining('whatsapp_business_messaging') } } },
  })
  expect(server.simulator.subscribedApps(number.wabaId)).toEqual([])
  const stored = server.deps.db
    .selectFrom('whatsapp_accounts')
    .selectAll()
    .where('phone_number_id', '=', number.phoneNumberId)
  expect(await stored.execute()).toEqual([])
})

test('sets the callback URL of the app after Meta’s handshake with this server', async () => {
  const { whatsAppAccountId } = await add(newNumber())

  const { data } = await call('configureCallback', { whatsAppAccountId })

  expect(data).toMatchObject({ ok: true })
  expect(server.simulator.callbackOf(app.id)).toMatchObject({
    callbackUrl: `${server.url}/webhooks/whatsapp`,
    fields: [...callbackFields],
  })
})

test('sets the callback URL without the field standby if Meta does not offer it', async () => {
  const { whatsAppAccountId } = await add(newNumber())
  server.simulator.intercept(({ path, body }) =>
    path.endsWith('/subscriptions') && JSON.stringify(body).includes('standby')
      ? failPlainParameter('fields')
      : undefined,
  )
  onTestFinished(() => server.simulator.intercept(undefined))

  expect((await call('configureCallback', { whatsAppAccountId })).data).toMatchObject({ ok: true })
  expect(server.simulator.callbackOf(app.id)?.fields).toEqual([...requiredCallbackFields])
})

test('assigns an app with its own secret its own callback URL', async () => {
  const other = { id: '300000000000088', name: 'Other', secret: 'secret-of-the-other-app' }
  server.simulator.addApp(other)
  const { whatsAppAccountId } = await add(newNumber({ appId: other.id }), { appSecret: other.secret })

  expect((await call('configureCallback', { whatsAppAccountId })).data).toMatchObject({ ok: true })

  expect(server.simulator.callbackOf(other.id)?.callbackUrl).toBe(
    `${server.url}/webhooks/whatsapp/${whatsAppAccountId}`,
  )
})

test.each([
  {
    obstacle: 'an app secret of another app',
    callbacks: {},
    appSecret: 'secret-of-another-app',
    says: 'The app secret does not match the app of this access token.',
  },
  {
    obstacle: 'a callback URL that Meta cannot reach',
    callbacks: { baseUrl: 'http://127.0.0.1:9' },
    says: 'Meta called the callback URL and did not get the expected answer.',
  },
  {
    obstacle: 'a verify token that the server does not expect',
    callbacks: { verifyToken: 'of-another-server' },
    says: 'HTTP Status Code = 403',
  },
  {
    obstacle: 'no https address',
    callbacks: { baseUrl: undefined },
    says: 'WAYBILL_PUBLIC_URL is not an https address',
  },
  { obstacle: 'no app secret', callbacks: { appSecret: undefined }, says: 'Waybill does not have the app secret' },
  { obstacle: 'no verify token', callbacks: { verifyToken: undefined }, says: 'META_VERIFY_TOKEN is not set' },
])('reports $obstacle in the callback step and shows the values to enter', async ({ callbacks, appSecret, says }) => {
  const { whatsAppAccountId } = await add(newNumber(), appSecret === undefined ? {} : { appSecret })
  const before = server.deps.callbacks
  server.deps.callbacks = { ...before, ...callbacks }

  const { data } = await call('configureCallback', { whatsAppAccountId })
  server.deps.callbacks = before

  expect(data).toMatchObject({
    ok: false,
    message: expect.stringContaining(says),
    fix: expect.any(String),
    enter: { fields: expect.arrayContaining(['messages']) },
  })
})

test.each([
  { callbacks: { baseUrl: undefined }, says: 'operator of this server to set WAYBILL_PUBLIC_URL' },
  { callbacks: { appSecret: undefined }, says: 'App settings > Basic' },
  { callbacks: { verifyToken: undefined }, says: 'operator of this server to set META_VERIFY_TOKEN' },
])('explains the obstacle before the first attempt: $says', async ({ callbacks, says }) => {
  const { whatsAppAccountId } = await add(newNumber())
  const read = async () =>
    (
      await owner.query<CallbackSetUp>('whatsAppAccount.callbackSetUp', {
        accountId: account.accountId,
        whatsAppAccountId,
      })
    ).data
  expect(await read()).toEqual({
    enter: {
      callbackUrl: `${server.url}/webhooks/whatsapp`,
      verifyToken: 'test-verify-token',
      fields: expect.arrayContaining(['messages', 'account_update', 'template_category_update']),
    },
  })
  const before = server.deps.callbacks
  server.deps.callbacks = { ...before, ...callbacks }

  const { obstacle } = await read()
  server.deps.callbacks = before

  expect(obstacle?.fix).toContain(says)
})

test('registers a number with its PIN, and explains a wrong PIN', async () => {
  const number = newNumber({}, 'PENDING')
  const { whatsAppAccountId } = await add(number)

  expect((await call('register', { whatsAppAccountId, pin: '246810' })).data).toMatchObject({ ok: true })
  expect((await call('register', { whatsAppAccountId, pin: '111111' })).data).toMatchObject({
    ok: false,
    message: expect.stringContaining('The PIN does not match'),
    fix: expect.any(String),
  })
  expect((await call('register', { whatsAppAccountId, pin: '12345' })).statusCode).toBe(400)
})

test('does not register a number that is also used in the WhatsApp Business app', async () => {
  const number = newNumber({}, 'PENDING')
  const { whatsAppAccountId } = await add(number)
  // In the app since it was added here.
  server.simulator.addPhoneNumber({ ...number, status: 'PENDING', onBusinessApp: true })
  const { length } = server.simulator.requests

  expect((await call('register', { whatsAppAccountId, pin: '246810' })).data).toMatchObject({
    ok: false,
    message: expect.stringContaining('would disconnect the app on the phone'),
  })

  const calls = server.simulator.requests.slice(length).map(({ method, path }) => `${method} ${path}`)
  expect(calls).toEqual([`GET /${number.phoneNumberId}`])
  await call('check', { whatsAppAccountId })
  const { whatsAppAccounts } = await account.trpc.account.health.query({})
  expect(whatsAppAccounts.find(({ accountId }) => accountId === whatsAppAccountId)).toMatchObject({
    number: { onBusinessApp: true },
    findings: expect.arrayContaining([
      expect.objectContaining({ code: 'number_not_linked', fix: expect.stringContaining('Do not register it') }),
    ]),
  })
  expect((await call<object>('inspectToken', { accessToken: number.accessToken })).data).toMatchObject({
    accounts: [{ numbers: [{ phoneNumberId: number.phoneNumberId, onBusinessApp: true }] }],
  })
})

test.each([
  { answer: { kind: 'drop' } as const, registers: false },
  {
    answer: { kind: 'json', status: 400, body: { error: { message: 'No field', code: 100 } } } as const,
    registers: true,
  },
])(
  'registers a number of which WhatsApp cannot say whether the app uses it: $registers',
  async ({ answer, registers }) => {
    const number = newNumber({}, 'PENDING')
    const { whatsAppAccountId } = await add(number)
    server.simulator.intercept(({ query }) => (query.get('fields')?.includes('is_on_biz_app') ? answer : undefined))
    onTestFinished(() => server.simulator.intercept(undefined))

    expect((await call('register', { whatsAppAccountId, pin: '246810' })).data.ok).toBe(registers)
  },
)

test.each([
  { refusal: 133008 as const, says: 'WhatsApp has locked the registration of this number', does: 'set a new PIN' },
  { refusal: 133016 as const, says: 'WhatsApp allows 10 attempts in 72 hours', does: 'Wait 72 hours' },
  { refusal: 80007 as const, says: 'reached WhatsApp’s limit of API calls', does: 'Wait a few minutes' },
])('explains a registration rejected with $refusal, and can repeat it', async ({ refusal, says, does }) => {
  const number = newNumber({ refuses: { 'POST register': refusal } }, 'PENDING')
  const { whatsAppAccountId } = await add(number)

  expect((await call('register', { whatsAppAccountId, pin: '135790' })).data).toMatchObject({
    ok: false,
    message: expect.stringContaining(says),
    fix: expect.stringContaining(does),
  })

  server.simulator.addToken(number.accessToken, { appId: app.id, wabaIds: [number.wabaId] })
  expect((await call('register', { whatsAppAccountId, pin: '135790' })).data).toMatchObject({ ok: true })
})

test('moves a number to the account that proves its ownership if the token of the current one fails', async () => {
  const number = newNumber()
  const first = await add(number)
  const { owner: winnerOwner, ...winner } = await accountWithOwner(server)
  const next = { ...number, accessToken: 'EAAofTheOwner' }

  // While both tokens work, the first account keeps the number.
  server.simulator.addToken(next.accessToken, { appId: app.id, wabaIds: [number.wabaId] })
  const refused = await call('add', next, winnerOwner, winner.accountId)
  expect(refused).toMatchObject({
    statusCode: 400,
    error: { data: { fields: { phoneNumberId: expect.stringContaining('in use') } } },
  })
  expect(JSON.stringify(refused)).not.toMatch(new RegExp(`${account.accountId}|${first.whatsAppAccountId}`))

  server.simulator.addToken(number.accessToken, { appId: app.id, wabaIds: [], expiresAt: 1 })
  expect((await call('add', next, winnerOwner, winner.accountId)).statusCode).toBe(200)

  const list = await owner.query<{ items: { whatsAppAccountId: string }[] }>('whatsAppAccount.list', {
    accountId: account.accountId,
  })
  expect(list.data.items.map(({ whatsAppAccountId }) => whatsAppAccountId)).not.toContain(first.whatsAppAccountId)
  expect(await readAuditLog(owner, account.accountId)).toContain(
    `removed ${first.whatsAppAccountId}: WhatsApp rejected its token`,
  )
  expect(await readAuditLog(owner, account.accountId)).not.toContain(winner.accountId)
  expect(await readAuditLog(winnerOwner, winner.accountId)).toContain(`phone number ID ${number.phoneNumberId}`)
})

test('keeps the number of an account while WhatsApp cannot be reached', async () => {
  const number = newNumber()
  await add(number)
  const { owner: otherOwner, ...other } = await accountWithOwner(server)
  const next = { ...number, accessToken: 'EAAnext' }
  server.simulator.addToken(next.accessToken, { appId: app.id, wabaIds: [number.wabaId] })
  server.simulator.intercept(({ headers }) =>
    headers['authorization'] === `Bearer ${number.accessToken}` ? { kind: 'drop' } : undefined,
  )

  const refused = await call('add', next, otherOwner, other.accountId)
  server.simulator.intercept(undefined)

  expect(refused.statusCode).toBe(400)
})

test('lets one of two users succeed who connect a number concurrently', async () => {
  const number = newNumber()
  const { owner: otherOwner, ...other } = await accountWithOwner(server)

  const results = await Promise.all([call('add', number), call('add', number, otherOwner, other.accountId)])

  expect(results.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 400])
})

test('replaces the WABA of an account once WhatsApp confirms it, and keeps the other IDs', async () => {
  const number = newNumber()
  const { whatsAppAccountId } = await add(number)
  const wabaId = '599900001111'

  const refused = await call('replaceSecrets', { whatsAppAccountId, wabaId })
  server.simulator.addPhoneNumber({ ...number, wabaId })
  server.simulator.addToken(number.accessToken, { appId: app.id, wabaIds: [wabaId] })
  const replaced = await call<object>('replaceSecrets', { whatsAppAccountId, wabaId })

  expect(refused).toMatchObject({ statusCode: 400, error: { data: { fields: { wabaId: expect.any(String) } } } })
  expect(replaced.data).toMatchObject({ whatsAppAccountId, wabaId, phoneNumberId: number.phoneNumberId })
  expect(server.simulator.subscribedApps(wabaId)).toEqual([app.id])
})

test('logs no token, app secret or PIN', () => {
  expect(server.log.join('')).not.toMatch(/EAAconnect|EAAof|secret-of-|246810/)
})

const countInspections = (token: string) =>
  server.simulator.requests.filter(({ query }) => query.get('input_token') === token).length

test('limits how often an account can cause calls to WhatsApp', async () => {
  const number = newNumber()

  const responses = await Promise.all(
    Array.from({ length: 40 }, () => call('inspectToken', { accessToken: number.accessToken })),
  )

  const limited = responses.filter(({ statusCode }) => statusCode === 429)
  expect(limited).toHaveLength(10)
  // On a busy machine, a request can end before it reaches WhatsApp.
  expect(countInspections(number.accessToken)).toBeLessThanOrEqual(30)
  expect(countInspections(number.accessToken)).toBeGreaterThan(0)
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { signedInOwner, type TestOwner } from '../../support/owner.ts'
import { startTestServer, type TestAccount, type TestServer } from '../../support/server.ts'

let server: TestServer
let account: TestAccount
let owner: TestOwner

beforeAll(async () => {
  server = await startTestServer()
  account = await server.account()
  owner = await signedInOwner(server, account.accountId)
})

afterAll(async () => {
  await server?.close()
})

interface WhatsAppAccount {
  whatsAppAccountId: string
  phoneNumberId: string
  active: boolean
  isDefault: boolean
  reason?: string
}

const call = <T = { whatsAppAccountId: string }>(name: string, input: object = {}) =>
  owner.mutate<T>(`whatsAppAccount.${name}`, { accountId: account.accountId, ...input })

async function find(whatsAppAccountId: string): Promise<WhatsAppAccount | undefined> {
  const { data } = await owner.query<{ items: WhatsAppAccount[] }>('whatsAppAccount.list', {
    accountId: account.accountId,
  })
  return data.items.find((item) => item.whatsAppAccountId === whatsAppAccountId)
}

let numbers = 5_000
async function add(): Promise<string> {
  const phoneNumberId = String(++numbers)
  const accessToken = `EAAGoodToken${phoneNumberId}`
  server.simulator.addPhoneNumber({ phoneNumberId, wabaId: account.wabaId, accessToken })
  const added = await call('add', { phoneNumberId, wabaId: account.wabaId, accessToken, appSecret: 'app-secret' })
  return added.data.whatsAppAccountId
}

/** From now on WhatsApp takes another token for the number. */
async function expireToken(id: string): Promise<void> {
  const phoneNumberId = (await find(id))?.phoneNumberId ?? ''
  server.simulator.addPhoneNumber({ phoneNumberId, wabaId: account.wabaId, accessToken: 'EAARenewedToken' })
}

test('a WhatsApp account is added, and its secrets never come back', async () => {
  const id = await add()

  const { data } = await owner.query('whatsAppAccount.list', { accountId: account.accountId })

  expect(await find(id)).toMatchObject({ active: true, isDefault: false, hasAppSecret: true })
  expect(JSON.stringify(data)).not.toMatch(/EAAGoodToken|app-secret/)
})

test('a token that works shows what WhatsApp knows of the number, which is kept', async () => {
  const id = await add()

  const { data } = await call('test', { whatsAppAccountId: id })

  expect(data).toMatchObject({ ok: true, displayPhoneNumber: expect.any(String), qualityRating: expect.any(String) })
  expect(await find(id)).toMatchObject({
    displayPhoneNumber: expect.any(String),
    verifiedName: expect.any(String),
    qualityRating: expect.any(String),
    throughputLevel: expect.any(String),
  })
})

test('a token that WhatsApp refuses is not stored, and the number stays free for whoever has it', async () => {
  const phoneNumberId = String(++numbers)
  const { wabaId } = account
  server.simulator.addPhoneNumber({ phoneNumberId, wabaId, accessToken: 'EAAOwnersToken' })

  const refused = await call('add', { phoneNumberId, wabaId, accessToken: 'EAASquattersToken' })

  expect(refused).toMatchObject({
    statusCode: 400,
    error: { data: { fields: { accessToken: expect.stringMatching(/^WhatsApp rejects this access token .*190/) } } },
  })
  expect(JSON.stringify(refused)).not.toContain('EAASquatters')
  expect((await call('add', { phoneNumberId, wabaId, accessToken: 'EAAOwnersToken' })).statusCode).toBe(200)
})

test.each([
  { wrong: 'a number of somebody else', phoneNumberId: '8003', wabaId: '9001', field: 'phoneNumberId' },
  { wrong: 'a WABA of somebody else', phoneNumberId: '8001', wabaId: '9003', field: 'wabaId' },
  { wrong: 'another WABA of the same token', phoneNumberId: '8001', wabaId: '9002', field: 'wabaId' },
])('a token that works is not enough for $wrong', async ({ phoneNumberId, wabaId, field }) => {
  server.simulator.addPhoneNumber({ phoneNumberId: '8001', wabaId: '9001', accessToken: 'EAAMine' })
  server.simulator.addPhoneNumber({ phoneNumberId: '8002', wabaId: '9002', accessToken: 'EAAMine' })
  server.simulator.addPhoneNumber({ phoneNumberId: '8003', wabaId: '9003', accessToken: 'EAAForeign' })

  const refused = await call('add', { phoneNumberId, wabaId, accessToken: 'EAAMine' })

  expect(refused.statusCode).toBe(400)
  expect(Object.keys(refused.error.data.fields ?? {})).toEqual([field])
})

test.each([
  { says: 'does not answer', answer: { kind: 'drop' } as const },
  {
    says: 'throttles',
    answer: { kind: 'json', status: 400, body: { error: { code: 80007, message: 'Rate' } } } as const,
  },
])('while WhatsApp $says nothing is stored, and the token is not called wrong', async ({ answer }) => {
  const id = await add()
  const phoneNumberId = String(++numbers)
  const accessToken = 'EAAThatToken'
  server.simulator.addPhoneNumber({ phoneNumberId, wabaId: account.wabaId, accessToken })
  server.simulator.intercept(() => answer)

  const added = await call('add', { phoneNumberId, wabaId: account.wabaId, accessToken })
  const replaced = await call('replaceSecrets', { whatsAppAccountId: id, accessToken })
  server.simulator.intercept(undefined)

  for (const { statusCode, error } of [added, replaced]) {
    expect(statusCode).toBe(503)
    expect(error.data.code).toBe('WHATSAPP_UNAVAILABLE')
    expect(error.message).toMatch(/^The access token could not be verified .* Nothing was stored\./)
  }
  expect((await call('add', { phoneNumberId, wabaId: account.wabaId, accessToken })).statusCode).toBe(200)
})

test('a new number is shown with what WhatsApp says of it', async () => {
  expect(await find(await add())).toMatchObject({ displayPhoneNumber: '+1 555-010-0001', qualityRating: 'GREEN' })
})

test('a token that WhatsApp refuses does not replace one that works', async () => {
  const id = await add()

  const refused = await call('replaceSecrets', { whatsAppAccountId: id, accessToken: 'EAAWrongToken' })

  expect(refused).toMatchObject({ statusCode: 400, error: { data: { fields: { accessToken: expect.any(String) } } } })
  expect((await call('test', { whatsAppAccountId: id })).data).toMatchObject({ ok: true })
})

test('an app secret is replaced also while the token no longer works', async () => {
  const id = await add()
  await expireToken(id)

  expect((await call('replaceSecrets', { whatsAppAccountId: id, appSecret: 'new-secret' })).statusCode).toBe(200)
})

test('a token that WhatsApp refuses takes the account out of use with the reason, until it is replaced', async () => {
  const id = await add()
  await expireToken(id)

  const tested = await call<{ ok: boolean; reason: string }>('test', { whatsAppAccountId: id })
  expect(tested.data).toEqual({ ok: false, reason: expect.any(String) })
  expect(tested.data.reason).not.toContain('EAAGoodToken')
  expect(await find(id)).toMatchObject({ active: false, switchedOff: false, reason: tested.data.reason })

  await call('replaceSecrets', { whatsAppAccountId: id, accessToken: 'EAARenewedToken' })
  expect((await find(id))?.active).toBe(true)
  expect((await call('test', { whatsAppAccountId: id })).data).toMatchObject({ ok: true })
})

test('one that its owner switched off stays so when its token is replaced', async () => {
  const id = await add()
  await call('deactivate', { whatsAppAccountId: id })

  await expireToken(id)
  await call('replaceSecrets', { whatsAppAccountId: id, accessToken: 'EAARenewedToken' })

  expect(await find(id)).toMatchObject({ active: false, switchedOff: true })
})

test('what is inactive does not become the default, since nothing would be sent any more', async () => {
  const id = await add()
  await call('deactivate', { whatsAppAccountId: id })

  const refused = await call('setDefault', { whatsAppAccountId: id })

  expect(refused).toMatchObject({ statusCode: 409, error: { message: expect.stringContaining('Activate it first') } })
  expect(await find(account.whatsAppAccountId)).toMatchObject({ isDefault: true })
  await call('activate', { whatsAppAccountId: id })
  expect((await call('setDefault', { whatsAppAccountId: id })).data).toMatchObject({ isDefault: true })
  await call('setDefault', { whatsAppAccountId: account.whatsAppAccountId })
})

test('the default moves, and is not removed while there are others', async () => {
  const id = await add()

  await call('setDefault', { whatsAppAccountId: id })
  const refused = await call('remove', { whatsAppAccountId: id })
  await call('setDefault', { whatsAppAccountId: account.whatsAppAccountId })
  const removed = await call('remove', { whatsAppAccountId: id })

  expect(refused).toMatchObject({ statusCode: 409, error: { message: expect.stringContaining('default') } })
  expect(refused.error.message).not.toContain('waybill ')
  expect(removed.statusCode).toBe(200)
  expect(await find(id)).toBeUndefined()
})

test('nothing is sent from an account that its owner has switched off', async () => {
  const id = await add()
  const send = () =>
    account.post('/api/v1/message/send', {
      to: '34600111222',
      template: 'order_shipped',
      language: 'en',
      variables: { '1': 'Ada', '2': 'WB-1' },
      accountId: id,
    })

  await call('deactivate', { whatsAppAccountId: id })
  const whileOff = await send()
  await call('activate', { whatsAppAccountId: id })

  expect(whileOff.json().error.code).toBe('NO_ACTIVE_ACCOUNT')
  expect((await send()).statusCode).toBe(200)
})

test.each([
  { input: { phoneNumberId: '+34 600' }, field: 'phoneNumberId', says: 'must be digits only' },
  { input: { wabaId: '' }, field: 'wabaId', says: 'must be digits only' },
  { input: { accessToken: 'two words' }, field: 'accessToken', says: 'must not be empty or hold a space' },
])('wrong input is told beside its field: $field', async ({ input, field, says }) => {
  const { statusCode, error } = await call('add', {
    phoneNumberId: '4711',
    wabaId: '4712',
    accessToken: 'EAA',
    ...input,
  })

  expect(statusCode).toBe(400)
  expect(error.data.fields).toEqual({ [field]: expect.stringContaining(says) })
})

test('a number that another customer has is told to be in use, and not by whom', async () => {
  const other = await server.account()
  const number = { phoneNumberId: other.phoneNumberId, wabaId: other.wabaId, accessToken: 'EAASharedToken' }
  // Both tokens work, so the customer who has the number keeps it.
  server.simulator.addToken(number.accessToken, { wabaIds: [number.wabaId] })

  const { statusCode, error } = await call('add', number)

  expect(statusCode).toBe(400)
  expect(error.data.fields).toEqual({ phoneNumberId: expect.stringContaining('in use') })
  expect(JSON.stringify(error)).not.toContain(other.accountId)
  expect(JSON.stringify(error)).not.toContain(other.whatsAppAccountId)
})

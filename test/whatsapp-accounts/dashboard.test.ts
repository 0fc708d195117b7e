import { beforeEach, expect, test } from 'vitest'
import type { WhatsAppAccount } from '../../contracts/dashboard/whatsapp-account.ts'
import { exampleSend } from '../support/example-send.ts'
import { forFile } from '../support/lifetime.ts'
import { signedInOwner, type TestOwner } from '../support/user.ts'
import { startTestServer, type TestAccount } from '../support/server.ts'

const server = await forFile(startTestServer())
let account: TestAccount
let owner: TestOwner
// Procedures that call WhatsApp are limited per account and minute.
beforeEach(async () => {
  account = await server.account()
  owner = await signedInOwner(server, account.accountId)
})

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

/** Makes WhatsApp reject the current token of the number. */
async function expireToken(id: string): Promise<void> {
  const phoneNumberId = (await find(id))?.phoneNumberId ?? ''
  server.simulator.addPhoneNumber({ phoneNumberId, wabaId: account.wabaId, accessToken: 'EAARenewedToken' })
}

test('adds a WhatsApp account with the details from WhatsApp and never returns its secrets', async () => {
  const id = await add()

  const { data } = await owner.query('whatsAppAccount.list', { accountId: account.accountId })

  const details = { displayPhoneNumber: '+1 555-010-0001', qualityRating: 'GREEN' }
  expect(await find(id)).toMatchObject({ active: true, isDefault: false, hasAppSecret: true, ...details })
  expect(JSON.stringify(data)).not.toMatch(/EAAGoodToken|app-secret/)
})

test('tests a valid token and stores the phone number details from WhatsApp', async () => {
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

test('stores no rejected token and does not reserve its number', async () => {
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
  { wrong: "another customer's number", phoneNumberId: '8003', wabaId: '9001', field: 'phoneNumberId' },
  { wrong: "another customer's WABA", phoneNumberId: '8001', wabaId: '9003', field: 'wabaId' },
  { wrong: 'a different WABA of the same token', phoneNumberId: '8001', wabaId: '9002', field: 'wabaId' },
])('rejects a valid token with $wrong, and stores nothing', async ({ phoneNumberId, wabaId, field }) => {
  server.simulator.addPhoneNumber({ phoneNumberId: '8001', wabaId: '9001', accessToken: 'EAAMine' })
  server.simulator.addPhoneNumber({ phoneNumberId: '8002', wabaId: '9002', accessToken: 'EAAMine' })
  server.simulator.addPhoneNumber({ phoneNumberId: '8003', wabaId: '9003', accessToken: 'EAAForeign' })

  const refused = await call('add', { phoneNumberId, wabaId, accessToken: 'EAAMine' })

  expect(refused.statusCode).toBe(400)
  expect(refused.error.data.fields).toEqual({
    [field]: expect.stringMatching(/does not show this|does not belong to this/),
  })
  const stored = server.deps.db.selectFrom('whatsapp_accounts').select('id')
  expect(await stored.where('phone_number_id', 'in', ['8001', '8002', '8003']).execute()).toEqual([])
})

test.each([
  { says: 'does not answer', answer: { kind: 'drop' } as const },
  {
    says: 'throttles',
    answer: { kind: 'json', status: 400, body: { error: { code: 80007, message: 'Rate' } } } as const,
  },
])('neither stores nor rejects a token while WhatsApp $says', async ({ answer }) => {
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

test('keeps a valid token when its replacement is rejected', async () => {
  const id = await add()

  const refused = await call('replaceSecrets', { whatsAppAccountId: id, accessToken: 'EAAWrongToken' })

  expect(refused).toMatchObject({ statusCode: 400, error: { data: { fields: { accessToken: expect.any(String) } } } })
  expect((await call('test', { whatsAppAccountId: id })).data).toMatchObject({ ok: true })
})

test('replaces an app secret even if the token is no longer valid', async () => {
  const id = await add()
  await expireToken(id)

  expect((await call('replaceSecrets', { whatsAppAccountId: id, appSecret: 'new-secret' })).statusCode).toBe(200)
})

test('deactivates an account with a rejected token until the token is replaced', async () => {
  const id = await add()
  await expireToken(id)

  const tested = await call<{ ok: boolean; reason: string }>('test', { whatsAppAccountId: id })
  expect(tested.data).toEqual({ ok: false, reason: expect.any(String) })
  expect(tested.data.reason).not.toContain('EAAGoodToken')
  expect(await find(id)).toMatchObject({
    active: false,
    switchedOff: false,
    reason: expect.stringMatching(/^WhatsApp rejected it \(190\): /),
  })

  await call('replaceSecrets', { whatsAppAccountId: id, accessToken: 'EAARenewedToken' })
  expect((await find(id))?.active).toBe(true)
  expect((await call('test', { whatsAppAccountId: id })).data).toMatchObject({ ok: true })
})

test("keeps a user's deactivation when the token is rejected or replaced", async () => {
  const id = await add()
  await call('deactivate', { whatsAppAccountId: id })

  await expireToken(id)
  expect((await call('test', { whatsAppAccountId: id })).data).toMatchObject({ ok: false })
  await call('replaceSecrets', { whatsAppAccountId: id, accessToken: 'EAARenewedToken' })

  expect(await find(id)).toMatchObject({ active: false, switchedOff: true, reason: 'deactivated by a user' })
  expect((await call('activate', { whatsAppAccountId: id })).data).toMatchObject({ active: true })
})

test('does not make an inactive account the default', async () => {
  const id = await add()
  await call('deactivate', { whatsAppAccountId: id })

  const refused = await call('setDefault', { whatsAppAccountId: id })

  expect(refused).toMatchObject({ statusCode: 409, error: { message: expect.stringContaining('Activate it first') } })
  expect(await find(account.whatsAppAccountId)).toMatchObject({ isDefault: true })
  await call('activate', { whatsAppAccountId: id })
  expect((await call('setDefault', { whatsAppAccountId: id })).data).toMatchObject({ isDefault: true })
  await call('setDefault', { whatsAppAccountId: account.whatsAppAccountId })
})

test('does not send from an account that a user deactivated', async () => {
  const id = await add()
  const send = () => account.post('/api/v1/message/send', { ...exampleSend, accountId: id })

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
])('reports invalid input in the field $field', async ({ input, field, says }) => {
  const { statusCode, error } = await call('add', {
    phoneNumberId: '4711',
    wabaId: '4712',
    accessToken: 'EAA',
    ...input,
  })

  expect(statusCode).toBe(400)
  expect(error.data.fields).toEqual({ [field]: expect.stringContaining(says) })
})

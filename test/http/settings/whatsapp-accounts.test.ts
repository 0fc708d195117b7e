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
async function add(accessToken = 'EAAGoodToken'): Promise<string> {
  const phoneNumberId = String(++numbers)
  server.simulator.addPhoneNumber({ phoneNumberId, wabaId: account.wabaId, accessToken: 'EAAGoodToken' })
  const added = await call('add', { phoneNumberId, wabaId: account.wabaId, accessToken, appSecret: 'app-secret' })
  return added.data.whatsAppAccountId
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

test('a token that WhatsApp refuses takes the account out of use with the reason, until it is replaced', async () => {
  const id = await add('EAAWrongToken')

  const tested = await call<{ ok: boolean; reason: string }>('test', { whatsAppAccountId: id })
  expect(tested.data).toEqual({ ok: false, reason: expect.any(String) })
  expect(tested.data.reason).not.toContain('EAAWrongToken')
  expect(await find(id)).toMatchObject({ active: false, switchedOff: false, reason: tested.data.reason })

  await call('replaceSecrets', { whatsAppAccountId: id, accessToken: 'EAAGoodToken' })
  expect((await find(id))?.active).toBe(true)
  expect((await call('test', { whatsAppAccountId: id })).data).toMatchObject({ ok: true })
})

test('one that its owner switched off stays so when its token is replaced', async () => {
  const id = await add('EAAWrongToken')
  await call('deactivate', { whatsAppAccountId: id })

  await call('replaceSecrets', { whatsAppAccountId: id, accessToken: 'EAAGoodToken' })

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

  const { statusCode, error } = await call('add', {
    phoneNumberId: other.phoneNumberId,
    wabaId: '4712',
    accessToken: 'EAA',
  })

  expect(statusCode).toBe(400)
  expect(error.data.fields).toEqual({ phoneNumberId: expect.stringContaining('in use') })
  expect(JSON.stringify(error)).not.toContain(other.accountId)
  expect(JSON.stringify(error)).not.toContain(other.whatsAppAccountId)
})

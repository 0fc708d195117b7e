import { randomInt } from 'node:crypto'
import { Readable } from 'node:stream'
import { request } from 'undici'
import { describe, expect, test } from 'vitest'
import { addWhatsAppAccount } from '../../../src/whatsapp-accounts/add.ts'
import { signCallback } from '../../../src/whatsapp/callbacks/signature.ts'
import {
  appSecret,
  callbackPath,
  changeCallback,
  getMessage,
  messagesCallback,
  numberCallback,
  post,
  report,
  sendOne,
  status,
} from '../../support/callbacks.ts'
import { forFile } from '../../support/lifetime.ts'
import { nodeForTest, startTestServer, type TestAccount, type TestServer } from '../../support/server.ts'

const server = await forFile(startTestServer())
const account = await server.account()

async function counted(result: string): Promise<number> {
  const metrics = await server.request('GET', '/metrics')
  return Number(
    new RegExp(`waybill_whatsapp_statuses_total\\{result="${result}"\\} (\\d+)`).exec(metrics.text)?.[1] ?? 0,
  )
}

test('returns the handshake challenge for a valid verify token', async () => {
  const right = await server.request(
    'GET',
    `${callbackPath}?hub.mode=subscribe&hub.verify_token=test-verify-token&hub.challenge=1158201444`,
  )
  expect(right.statusCode).toBe(200)
  expect(right.text).toBe('1158201444')
  expect(right.headers['content-type']).toMatch(/^text\/plain/)
})

test.each([
  'hub.mode=subscribe&hub.verify_token=wrong&hub.challenge=1',
  'hub.mode=subscribe&hub.challenge=1',
  'hub.mode=other&hub.verify_token=test-verify-token&hub.challenge=1',
  'hub.mode=subscribe&hub.verify_token=test-verify-token&hub.verify_token=b&hub.challenge=1',
  'hub.mode=subscribe&hub.verify_token=test-verify-token&hub.challenge=1&hub.challenge=2',
  '',
])('rejects the handshake ?%s', async (query) => {
  expect(await server.request('GET', `${callbackPath}?${query}`)).toMatchObject({
    statusCode: 403,
    text: expect.stringContaining('does not match META_VERIFY_TOKEN, or that is not set'),
  })
})

test('accepts and counts unknown and unrelated statuses', async () => {
  const [unknown, ignored] = [await counted('unknown'), await counted('ignored')]
  await report(server, account, [
    status('delivered', 'wamid.of-somebody-else'),
    status('delivered', 'wamid.y', { callbackData: 'their own data' }),
  ])
  expect((await post(server, messagesCallback('999999', [status('delivered', 'wamid.z')]))).statusCode).toBe(200)
  expect(await counted('unknown')).toBe(unknown + 3)

  await report(server, account, [status('played', 'wamid.x'), status('warning', 'wamid.x'), { nonsense: true }])
  for (const callback of [
    {},
    [],
    null,
    'not json',
    { entry: [{ id: 1, changes: [{ field: 'flows', value: 1 }] }] },
    { entry: 'x' },
    changeCallback('1', 'messages', { messages: [{}] }),
  ])
    expect((await post(server, callback)).statusCode).toBe(200)
  expect(await counted('ignored')).toBeGreaterThanOrEqual(ignored + 4)
})

test('returns 404 for a path that cannot contain a WhatsApp account ID', async () => {
  const query = 'hub.mode=subscribe&hub.challenge=42&hub.verify_token=test-verify-token'
  expect((await server.request('GET', `${callbackPath}/%00?${query}`)).statusCode).toBe(404)
  expect((await post(server, {}, { to: '%00' })).statusCode).toBe(404)
  expect((await post(server, {}, { to: '%00', secret: 'guessed' })).statusCode).toBe(404)
  expect((await post(server, {}, { to: 'wa_0%2f' })).statusCode).toBe(404)
})

test.each([
  { what: 'no signature', signature: '' },
  { what: 'a different secret', signature: signCallback(Buffer.from('{}'), 'guessed') },
  { what: 'a malformed signature', signature: 'sha256=zz' },
  { what: 'a SHA-1 signature', signature: 'sha1=0000000000000000000000000000000000000000' },
])('rejects a callback with $what', async ({ signature }) => {
  const { messageId, waMessageId } = await sendOne(account)
  const response = await post(
    server,
    messagesCallback(account.phoneNumberId, [status('read', waMessageId, { callbackData: messageId })]),
    { signature },
  )
  expect(response.statusCode).toBe(401)
  expect(await getMessage(account, messageId)).toMatchObject({ status: 'sent' })
})

test("accepts an account's own app secret only for its own messages", async () => {
  const own = await server.account()
  const phoneNumberId = '700000000000001'
  server.simulator.addPhoneNumber({ phoneNumberId, wabaId: own.wabaId, accessToken: 'own-token' })
  const { whatsAppAccountId } = await addWhatsAppAccount(server.deps, own.accountId, {
    phoneNumberId,
    wabaId: own.wabaId,
    accessToken: 'own-token',
    appSecret: 'own-secret',
  })
  const { messageId, waMessageId } = await sendOne(own, { accountId: whatsAppAccountId })
  const victim = await sendOne(account)

  const forged = messagesCallback(phoneNumberId, [status('delivered', waMessageId, { callbackData: messageId })]) as {
    entry: object[]
  }
  const toVictim = messagesCallback(account.phoneNumberId, [
    status('read', victim.waMessageId, { callbackData: victim.messageId }),
  ]) as { entry: object[] }
  const both = { ...forged, entry: [...forged.entry, ...toVictim.entry] }

  expect((await post(server, both, { secret: 'own-secret' })).statusCode).toBe(200)
  expect(await getMessage(own, messageId)).toMatchObject({ status: 'delivered' })
  expect(await getMessage(account, victim.messageId)).toMatchObject({ status: 'sent' })

  expect(
    (await post(server, messagesCallback(phoneNumberId, [status('read', waMessageId, { callbackData: messageId })])))
      .statusCode,
  ).toBe(200)
  expect(await getMessage(own, messageId)).toMatchObject({ status: 'delivered' })
})

/** Adds a WhatsApp account with its own app secret and sends a message from it. */
async function addOwnApp(customer: TestAccount, secret: string) {
  const phoneNumberId = randomDigits()
  const whatsAppAccountId = await customer.addWhatsAppAccount({ phoneNumberId, appSecret: secret })
  const message = await sendOne(customer, { accountId: whatsAppAccountId })
  const read = status('read', message.waMessageId, { callbackData: message.messageId })
  return { phoneNumberId, whatsAppAccountId, ...message, callback: messagesCallback(phoneNumberId, [read]) }
}

function randomDigits(): string {
  return String(randomInt(100_000_000_000_000, 200_000_000_000_000))
}

describe('the callback address of a WhatsApp account', () => {
  test('accepts only the app secret of that account', async () => {
    const { whatsAppAccountId, messageId, callback } = await addOwnApp(account, 'address-secret')

    for (const secret of [appSecret, 'guessed'])
      expect((await post(server, callback, { to: whatsAppAccountId, secret })).statusCode).toBe(401)
    expect(await getMessage(account, messageId)).toMatchObject({ status: 'sent' })

    expect((await post(server, callback, { to: whatsAppAccountId, secret: 'address-secret' })).statusCode).toBe(200)
    expect(await getMessage(account, messageId)).toMatchObject({ status: 'read' })
  })

  test('accepts META_APP_SECRET for an account without an app secret', async () => {
    const { messageId, waMessageId } = await sendOne(account)
    const callback = messagesCallback(account.phoneNumberId, [status('read', waMessageId, { callbackData: messageId })])
    expect((await post(server, callback, { to: account.whatsAppAccountId })).statusCode).toBe(200)
    expect(await getMessage(account, messageId)).toMatchObject({ status: 'read' })
  })

  test('changes no message of a number that uses a different app secret', async () => {
    const attacker = await addOwnApp(await server.account(), 'attacker-secret')
    const victim = await addOwnApp(account, 'victim-secret')
    const unsecured = await sendOne(account)
    const read = status('read', unsecured.waMessageId, { callbackData: unsecured.messageId })

    for (const callback of [victim.callback, messagesCallback(account.phoneNumberId, [read])])
      for (const to of [attacker.whatsAppAccountId, undefined])
        await post(server, callback, { secret: 'attacker-secret', ...(to !== undefined && { to }) })
    const forged = { to: victim.whatsAppAccountId, secret: 'attacker-secret' }
    expect((await post(server, victim.callback, forged)).statusCode).toBe(401)

    expect(await getMessage(account, victim.messageId)).toMatchObject({ status: 'sent' })
    expect(await getMessage(account, unsecured.messageId)).toMatchObject({ status: 'sent' })
  })

  test('completes the handshake for existing accounts', async () => {
    const query = 'hub.mode=subscribe&hub.challenge=42&hub.verify_token='
    const handshake = (id: string, token: string) => server.request('GET', `${callbackPath}/${id}?${query}${token}`)

    expect(await handshake(account.whatsAppAccountId, 'test-verify-token')).toMatchObject({
      statusCode: 200,
      text: '42',
    })
    expect((await handshake(account.whatsAppAccountId, 'wrong')).statusCode).toBe(403)
    expect((await handshake('wa_00000000000000000000000000', 'wrong')).statusCode).toBe(403)
    expect((await handshake('wa_00000000000000000000000000', 'test-verify-token')).statusCode).toBe(404)
  })

  test('works like the shared address after its account is removed', async () => {
    const { callback, messageId } = await addOwnApp(account, 'removed-secret')
    const to = 'wa_00000000000000000000000000'
    expect((await post(server, callback, { to, secret: 'guessed' })).statusCode).toBe(401)
    expect((await post(server, callback, { to, secret: 'removed-secret' })).statusCode).toBe(200)
    expect(await getMessage(account, messageId)).toMatchObject({ status: 'read' })
  })
})

function combine(apps: { callback: object }[]): object {
  return { entry: apps.flatMap(({ callback }) => (callback as { entry: object[] }).entry) }
}

test('tries the app secrets of at most five accounts at the shared address', async () => {
  const customer = await server.account()
  const others = await Promise.all(['s1', 's2', 's3', 's4', 's5'].map((secret) => addOwnApp(customer, secret)))
  const own = await addOwnApp(customer, 's6')
  expect((await post(server, combine([...others, own]), { secret: 's6' })).statusCode).toBe(401)
  const unrelated = Array.from({ length: 50 }, () => ({ callback: messagesCallback(randomDigits(), []) }))
  expect((await post(server, combine([...unrelated, ...others.slice(1), own]), { secret: 's6' })).statusCode).toBe(200)

  expect(await getMessage(customer, own.messageId)).toMatchObject({ status: 'read' })
  for (const { messageId } of others) expect(await getMessage(customer, messageId)).toMatchObject({ status: 'sent' })
})

test('accepts any verified callback of up to 3 MiB', async () => {
  const { messageId, waMessageId } = await sendOne(account)
  const read = messagesCallback(account.phoneNumberId, [status('read', waMessageId, { callbackData: messageId })])
  const changes = Array.from({ length: 5_000 }, (_, index) => ({
    field: 'messages',
    value: { metadata: { phone_number_id: String(5_000_000_000_000 + index) }, statuses: [status('read', 'wamid.a')] },
  }))
  const entry = [{ id: '1', changes }, ...(read as { entry: object[] }).entry]
  expect((await post(server, { entry })).statusCode).toBe(200)
  expect(await getMessage(account, messageId)).toMatchObject({ status: 'read' })

  const text = JSON.stringify(messagesCallback(account.phoneNumberId, []))
  expect((await post(server, text.padEnd(3 * 1024 * 1024))).statusCode).toBe(200)
  expect((await post(server, `{"entry":[{"id":1,"changes":[${'{},'.repeat(100_000)}{}]}]}`)).statusCode).toBe(200)
})

test('applies the valid changes of an entry with invalid ones', async () => {
  const { messageId, waMessageId } = await sendOne(account)
  const callback = messagesCallback(account.phoneNumberId, [
    status('read', waMessageId, { callbackData: messageId }),
  ]) as { entry: { changes: unknown[] }[] }
  callback.entry[0]?.changes.unshift(null, {}, { field: 1 })
  expect((await post(server, callback)).statusCode).toBe(200)
  expect(await getMessage(account, messageId)).toMatchObject({ status: 'read' })
})

test('receives a chunked callback', async () => {
  const { messageId, waMessageId } = await sendOne(account)
  const callback = messagesCallback(account.phoneNumberId, [status('read', waMessageId, { callbackData: messageId })])
  const body = Buffer.from(JSON.stringify(callback))
  const { statusCode } = await request(server.url + callbackPath, {
    method: 'POST',
    headers: { 'x-hub-signature-256': signCallback(body, appSecret) },
    body: Readable.from([body.subarray(0, 50), body.subarray(50, 60), body.subarray(60)]),
  })
  expect(statusCode).toBe(200)
  expect(await getMessage(account, messageId)).toMatchObject({ status: 'read' })
})

test('rejects a callback larger than 3 MiB', async () => {
  const response = await post(server, 'x'.repeat(3 * 1024 * 1024 + 1))
  expect(response.statusCode).toBe(413)
})

const passOn = { code: 131000, title: 'Something went wrong', error_data: { details: 'Of +34 600 111 222' } }

async function countErrors(node: TestServer): Promise<string[]> {
  const { text } = await node.request('GET', '/metrics')
  return text.match(/^waybill_whatsapp_callback_errors_total.*$/gm)?.toSorted() ?? []
}

const logged = (node: TestServer) => node.log.filter((line) => line.includes('belongs to no message'))

test('counts and logs the errors of a callback that belong to no message, and applies the rest', async () => {
  const node = await nodeForTest(server)
  const account = await server.account()
  const { messageId, waMessageId } = await sendOne(account)
  const errors = [passOn, { code: 987654, title: 'New' }, { title: 'No code' }, 'no error', null]

  for (const value of [{ errors, statuses: [status('delivered', waMessageId)] }, { errors: [passOn] }, { errors: 7 }])
    expect((await post(node, numberCallback(account, 'messages', value))).statusCode).toBe(200)

  expect(await getMessage(account, messageId)).toMatchObject({ status: 'delivered' })
  expect(await countErrors(node)).toEqual([
    'waybill_whatsapp_callback_errors_total{code="131000"} 2',
    'waybill_whatsapp_callback_errors_total{code="other"} 1',
  ])
  const { whatsAppAccountId } = account
  expect(logged(node).map((line) => JSON.parse(line) as object)).toMatchObject([
    { whatsAppAccountId, code: 131000, title: 'Something went wrong' },
    { whatsAppAccountId, code: 987654, title: 'New' },
  ])
  expect(logged(node).join()).not.toMatch(/600|Of /)
})

test('logs no error about a number that the signing app does not have', async () => {
  const node = await nodeForTest(server)
  const unknown = { wabaId: '1', phoneNumberId: '999999999999999' }

  expect((await post(node, numberCallback(unknown, 'messages', { errors: [{ code: 131016 }] }))).statusCode).toBe(200)

  expect(await countErrors(node)).toEqual(['waybill_whatsapp_callback_errors_total{code="131016"} 1'])
  expect(logged(node)).toEqual([])
})

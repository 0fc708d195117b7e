import { randomInt } from 'node:crypto'
import { Readable } from 'node:stream'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { addWhatsAppAccount } from '../../src/accounts/whatsapp/add.ts'
import { deactivateWhatsAppAccount } from '../../src/accounts/whatsapp/change.ts'
import { syncDueTemplates } from '../../src/templates/periodic-sync.ts'
import { signCallback } from '../../src/whatsapp/callbacks/signature.ts'
import { startTestServer, type TestAccount, type TestResponse, type TestServer } from '../support/server.ts'

const path = '/webhooks/whatsapp'
const appSecret = 'test-app-secret'
const example = sendMessage.example.input

let server: TestServer
let account: TestAccount
beforeAll(async () => {
  server = await startTestServer()
  account = await server.account()
})
afterAll(() => server.close())

interface StatusOptions {
  id?: string
  at?: number
  callbackData?: string | undefined
  errors?: object[]
}

function status(
  name: string,
  waMessageId: string,
  { at = 1_800_000_000, callbackData, errors }: StatusOptions = {},
): object {
  return {
    id: waMessageId,
    status: name,
    timestamp: String(at),
    recipient_id: example.to,
    ...(callbackData !== undefined && { biz_opaque_callback_data: callbackData }),
    ...(errors && { errors }),
    pricing: { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' },
  }
}

function messagesCallback(phoneNumberId: string, statuses: object[]): object {
  return {
    object: 'whatsapp_business_account',
    entry: [
      {
        id: '1',
        changes: [
          {
            field: 'messages',
            value: {
              messaging_product: 'whatsapp',
              metadata: { display_phone_number: '15550783881', phone_number_id: phoneNumberId },
              statuses,
            },
          },
        ],
      },
    ],
  }
}

function changeCallback(wabaId: string, field: string, value: object): object {
  return {
    object: 'whatsapp_business_account',
    entry: [{ id: wabaId, time: 1_800_000_000, changes: [{ field, value }] }],
  }
}

/** Meta's template ids have more digits than a JavaScript number keeps: nothing hangs on them. */
function templateUpdate(event: string): object {
  return {
    event,
    message_template_id: 1_234_567_890_123_456,
    message_template_name: 'order_shipped',
    message_template_language: 'en',
    reason: null,
  }
}

function post(
  callback: unknown,
  { secret = appSecret, signature, to }: { secret?: string; signature?: string; to?: string } = {},
): Promise<TestResponse> {
  const body = Buffer.from(typeof callback === 'string' ? callback : JSON.stringify(callback))
  return server.request('POST', to === undefined ? path : `${path}/${to}`, {
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': signature ?? signCallback(body, secret) },
    body,
  })
}

async function report(customer: TestAccount, statuses: object[]): Promise<void> {
  expect((await post(messagesCallback(customer.phoneNumberId, statuses))).statusCode).toBe(200)
}

async function sendOne(
  customer: TestAccount,
  change: object = {},
): Promise<{ messageId: string; waMessageId: string }> {
  const response = await customer.post('/api/v1/message/send', { ...example, ...change })
  expect(response.statusCode).toBe(200)
  return response.json().data as { messageId: string; waMessageId: string }
}

async function get(customer: TestAccount, messageId: string): Promise<Record<string, unknown>> {
  return (await customer.get(`/api/v1/message/${messageId}`)).json().data
}

async function eventTypes(customer: TestAccount, messageId: string): Promise<string[]> {
  const rows = await server.deps.db
    .selectFrom('events')
    .select('type')
    .where('account_id', '=', customer.accountId)
    .where('message_id', '=', messageId)
    .orderBy('id')
    .execute()
  return rows.map((row) => row.type)
}

async function counted(result: string): Promise<number> {
  const metrics = await server.request('GET', '/metrics')
  return Number(
    new RegExp(`waybill_whatsapp_statuses_total\\{result="${result}"\\} (\\d+)`).exec(metrics.text)?.[1] ?? 0,
  )
}

test('the handshake answers the challenge to whoever shows the verify token', async () => {
  const right = await server.request(
    'GET',
    `${path}?hub.mode=subscribe&hub.verify_token=test-verify-token&hub.challenge=1158201444`,
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
])('the handshake refuses ?%s', async (query) => {
  expect((await server.request('GET', `${path}?${query}`)).statusCode).toBe(403)
})

test('a message moves from sent over delivered to read, with the time of each step and an event for each', async () => {
  const { messageId, waMessageId } = await sendOne(account)

  await report(account, [status('sent', waMessageId, { at: 1_800_000_001, callbackData: messageId })])
  await report(account, [status('delivered', waMessageId, { at: 1_800_000_002, callbackData: messageId })])
  await report(account, [status('read', waMessageId, { at: 1_800_000_003, callbackData: messageId })])

  expect(await get(account, messageId)).toMatchObject({
    status: 'read',
    deliveredAt: new Date(1_800_000_002_000).toISOString(),
    readAt: new Date(1_800_000_003_000).toISOString(),
  })
  expect(await eventTypes(account, messageId)).toEqual(['message.delivered', 'message.read'])
})

test('a status without our id is matched by its wamid', async () => {
  const { messageId, waMessageId } = await sendOne(account)
  await report(account, [status('delivered', waMessageId)])
  expect(await get(account, messageId)).toMatchObject({ status: 'delivered' })
})

test('repeated and late statuses change nothing and tell nothing', async () => {
  const { messageId, waMessageId } = await sendOne(account)
  const [sent, delivered, read] = ['sent', 'delivered', 'read'].map((name) =>
    status(name, waMessageId, { callbackData: messageId }),
  )

  await report(account, [read ?? {}, delivered ?? {}, read ?? {}])
  await report(account, [sent ?? {}, delivered ?? {}, read ?? {}])

  expect(await get(account, messageId)).toMatchObject({ status: 'read' })
  expect(await eventTypes(account, messageId)).toEqual(['message.read'])
})

test('a failed message gives the reason and the advice, in the event too', async () => {
  const { messageId, waMessageId } = await sendOne(account, { externalId: 'order-9' })
  await report(account, [
    status('failed', waMessageId, {
      callbackData: messageId,
      errors: [
        {
          code: 131026,
          title: 'Message undeliverable',
          message: 'Message undeliverable',
          error_data: { details: 'The recipient is not on WhatsApp.' },
          href: 'https://example.com',
        },
      ],
    }),
  ])

  const error = {
    code: '131026',
    message: expect.stringMatching(
      /^The recipient is not on WhatsApp\. .*Check the number, or contact them another way\.$/,
    ),
  }
  expect(await get(account, messageId)).toMatchObject({ status: 'failed', error, failedAt: expect.any(String) })
  const { payload } = await server.deps.db
    .selectFrom('events')
    .select('payload')
    .where('message_id', '=', messageId)
    .where('account_id', '=', account.accountId)
    .executeTakeFirstOrThrow()
  expect(JSON.parse(payload)).toEqual({
    type: 'message.failed',
    timestamp: new Date(1_800_000_000_000).toISOString(),
    data: {
      messageId,
      waMessageId,
      status: 'failed',
      to: example.to,
      template: example.template,
      language: example.language,
      accountId: account.whatsAppAccountId,
      externalId: 'order-9',
      error,
    },
  })
})

test('a time that is no time of this age is passed over, and keeps nothing beside it out', async () => {
  const [late, good] = [await sendOne(account), await sendOne(account)]
  await report(account, [
    // Milliseconds, where Meta writes seconds.
    status('delivered', late.waMessageId, { callbackData: late.messageId, at: 1_800_000_000_000 }),
    status('delivered', good.waMessageId, { callbackData: good.messageId }),
  ])

  expect(await get(account, late.messageId)).toMatchObject({ status: 'sent' })
  expect(await get(account, good.messageId)).toMatchObject({ status: 'delivered' })
})

test('what the recipient has after all is not failed', async () => {
  const { messageId, waMessageId } = await sendOne(account)
  await report(account, [status('failed', waMessageId, { callbackData: messageId, errors: [{ code: 131026 }] })])
  await report(account, [status('delivered', waMessageId, { callbackData: messageId })])

  const message = await get(account, messageId)
  expect(message).toMatchObject({ status: 'delivered' })
  expect(message).not.toHaveProperty('error')
  expect(message).not.toHaveProperty('failedAt')
  expect(await eventTypes(account, messageId)).toEqual(['message.failed', 'message.delivered'])
})

test('a message left pending is settled by its first status, which completes it', async () => {
  const customer = await server.account()
  const unknown = await customer.post('/api/v1/message/send', { ...example, to: '15559000004', externalId: 'lost' })
  expect(unknown.json().error.code).toBe('SEND_OUTCOME_UNKNOWN')
  const [pending] = (await customer.get('/api/v1/message?externalId=lost')).json().data['items'] as [
    { messageId: string; status: string },
  ]
  expect(pending.status).toBe('pending')

  await report(customer, [status('sent', 'wamid.found-later', { callbackData: pending.messageId, at: 1_800_000_005 })])

  expect(await get(customer, pending.messageId)).toMatchObject({
    status: 'sent',
    waMessageId: 'wamid.found-later',
    sentAt: new Date(1_800_000_005_000).toISOString(),
  })
})

test('a status that overtakes the answer of WhatsApp counts, and the answer completes the message', async () => {
  const customer = await server.account()
  const slow = await startTestServer({ beside: server, sendDeadlineMilliseconds: 10_000 })
  const answer = slow.request('POST', '/api/v1/message/send', {
    headers: { 'x-api-key': customer.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ ...example, to: '15559000001' }),
  })
  const find = async () =>
    ((await customer.get('/api/v1/message')).json().data['items'] as { messageId: string }[])[0]?.messageId
  await expect.poll(find).toBeDefined()
  const messageId = (await find()) ?? ''

  await report(customer, [status('delivered', 'wamid.overtaking', { callbackData: messageId })])
  expect((await answer).statusCode).toBe(200)

  expect(await get(customer, messageId)).toMatchObject({
    status: 'delivered',
    waMessageId: 'wamid.overtaking',
    sentAt: expect.any(String),
  })
  await slow.close()
})

test('message.sent is told once, and only to an account with an endpoint that asked for it', async () => {
  const customer = await server.account()
  await server.deps.db
    .insertInto('webhook_endpoints')
    .values({
      id: server.deps.newId('ep'),
      account_id: customer.accountId,
      url: 'https://example.com/',
      events: ['message.sent'],
      secret_encrypted: 'x',
    })
    .execute()
  const { messageId, waMessageId } = await sendOne(customer)
  await report(customer, [status('sent', waMessageId, { callbackData: messageId })])

  expect(await eventTypes(customer, messageId)).toEqual(['message.sent'])
  const deliveries = await server.deps.db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('account_id', '=', customer.accountId)
    .execute()
  expect(deliveries).toHaveLength(1)
})

test('a thousand statuses in one callback are taken together', async () => {
  const customer = await server.account()
  const sent = await Promise.all(Array.from({ length: 25 }, () => sendOne(customer)))
  const statuses = Array.from({ length: 1000 }, (_, index) => {
    const { messageId, waMessageId } = sent[index % sent.length] ?? { messageId: '', waMessageId: '' }
    return status(['sent', 'delivered', 'read'][index % 3] ?? 'sent', waMessageId, { callbackData: messageId })
  })

  await report(customer, statuses)

  for (const { messageId } of sent) expect(await get(customer, messageId)).toMatchObject({ status: 'read' })
})

test('what is not ours, and what we do not know, is taken with 200 and counted', async () => {
  const [unknown, ignored] = [await counted('unknown'), await counted('ignored')]
  await report(account, [
    status('delivered', 'wamid.of-somebody-else'),
    status('delivered', 'wamid.y', { callbackData: 'their own data' }),
  ])
  expect((await post(messagesCallback('999999', [status('delivered', 'wamid.z')]))).statusCode).toBe(200)
  expect(await counted('unknown')).toBe(unknown + 3)

  await report(account, [status('played', 'wamid.x'), status('warning', 'wamid.x'), { nonsense: true }])
  for (const callback of [
    {},
    [],
    null,
    'not json',
    { entry: [{ id: 1, changes: [{ field: 'flows', value: 1 }] }] },
    { entry: 'x' },
    changeCallback('1', 'messages', { messages: [{}] }),
  ])
    expect((await post(callback)).statusCode).toBe(200)
  expect(await counted('ignored')).toBeGreaterThanOrEqual(ignored + 4)
})

test('a callback with bytes that no database takes is taken', async () => {
  const { messageId, waMessageId } = await sendOne(account)
  await report(account, [
    status('failed', `${waMessageId}\0`, { callbackData: messageId, errors: [{ code: 1, title: 'a\0b\ud800' }] }),
  ])
  expect(await get(account, messageId)).toMatchObject({ status: 'failed', error: { code: '1' } })

  expect((await post(messagesCallback('1\0', [status('read', waMessageId)]))).statusCode).toBe(200)
  const update = changeCallback('1\0', 'message_template_status_update', templateUpdate('PAUSED'))
  expect((await post(update)).statusCode).toBe(200)
})

test('a path that can name no WhatsApp account is no path, whoever asks', async () => {
  const query = 'hub.mode=subscribe&hub.challenge=42&hub.verify_token=test-verify-token'
  expect((await server.request('GET', `${path}/%00?${query}`)).statusCode).toBe(404)
  expect((await post({}, { to: '%00' })).statusCode).toBe(404)
  expect((await post({}, { to: '%00', secret: 'guessed' })).statusCode).toBe(404)
  expect((await post({}, { to: 'wa_0%2f' })).statusCode).toBe(404)
})

test.each([
  { what: 'no signature', signature: '' },
  { what: 'another secret', signature: signCallback(Buffer.from('{}'), 'guessed') },
  { what: 'nonsense', signature: 'sha256=zz' },
  { what: 'SHA-1', signature: 'sha1=0000000000000000000000000000000000000000' },
])('a callback with $what is refused', async ({ signature }) => {
  const { messageId, waMessageId } = await sendOne(account)
  const response = await post(
    messagesCallback(account.phoneNumberId, [status('read', waMessageId, { callbackData: messageId })]),
    { signature },
  )
  expect(response.statusCode).toBe(401)
  expect(await get(account, messageId)).toMatchObject({ status: 'sent' })
})

test("a WhatsApp account's own app secret speaks for it, and for nobody else's messages", async () => {
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

  expect((await post(both, { secret: 'own-secret' })).statusCode).toBe(200)
  expect(await get(own, messageId)).toMatchObject({ status: 'delivered' })
  expect(await get(account, victim.messageId)).toMatchObject({ status: 'sent' })

  expect(
    (await post(messagesCallback(phoneNumberId, [status('read', waMessageId, { callbackData: messageId })])))
      .statusCode,
  ).toBe(200)
  expect(await get(own, messageId)).toMatchObject({ status: 'delivered' })
})

/** A WhatsApp account of a Meta app with a secret of its own, and a message sent from it. */
async function ownApp(customer: TestAccount, secret: string) {
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
  test('takes what the app secret of that account signed, and nothing else', async () => {
    const { whatsAppAccountId, messageId, callback } = await ownApp(account, 'address-secret')

    for (const secret of [appSecret, 'guessed'])
      expect((await post(callback, { to: whatsAppAccountId, secret })).statusCode).toBe(401)
    expect(await get(account, messageId)).toMatchObject({ status: 'sent' })

    expect((await post(callback, { to: whatsAppAccountId, secret: 'address-secret' })).statusCode).toBe(200)
    expect(await get(account, messageId)).toMatchObject({ status: 'read' })
  })

  test('takes what META_APP_SECRET signed for an account without a secret of its own', async () => {
    const { messageId, waMessageId } = await sendOne(account)
    const callback = messagesCallback(account.phoneNumberId, [status('read', waMessageId, { callbackData: messageId })])
    expect((await post(callback, { to: account.whatsAppAccountId })).statusCode).toBe(200)
    expect(await get(account, messageId)).toMatchObject({ status: 'read' })
  })

  test("changes no message of a number that is set up with another app's secret", async () => {
    const attacker = await ownApp(await server.account(), 'attacker-secret')
    const victim = await ownApp(account, 'victim-secret')
    const unsecured = await sendOne(account)
    const read = status('read', unsecured.waMessageId, { callbackData: unsecured.messageId })

    for (const callback of [victim.callback, messagesCallback(account.phoneNumberId, [read])])
      for (const to of [attacker.whatsAppAccountId, undefined])
        await post(callback, { secret: 'attacker-secret', ...(to !== undefined && { to }) })
    const forged = { to: victim.whatsAppAccountId, secret: 'attacker-secret' }
    expect((await post(victim.callback, forged)).statusCode).toBe(401)

    expect(await get(account, victim.messageId)).toMatchObject({ status: 'sent' })
    expect(await get(account, unsecured.messageId)).toMatchObject({ status: 'sent' })
  })

  test('answers the handshake for accounts that exist', async () => {
    const query = 'hub.mode=subscribe&hub.challenge=42&hub.verify_token='
    const shake = (id: string, token: string) => server.request('GET', `${path}/${id}?${query}${token}`)

    expect(await shake(account.whatsAppAccountId, 'test-verify-token')).toMatchObject({ statusCode: 200, text: '42' })
    expect((await shake(account.whatsAppAccountId, 'wrong')).statusCode).toBe(403)
    expect((await shake('wa_00000000000000000000000000', 'wrong')).statusCode).toBe(403)
    expect((await shake('wa_00000000000000000000000000', 'test-verify-token')).statusCode).toBe(404)
  })

  test('works like the shared address once its account is removed', async () => {
    const { callback, messageId } = await ownApp(account, 'removed-secret')
    const to = 'wa_00000000000000000000000000'
    expect((await post(callback, { to, secret: 'guessed' })).statusCode).toBe(401)
    expect((await post(callback, { to, secret: 'removed-secret' })).statusCode).toBe(200)
    expect(await get(account, messageId)).toMatchObject({ status: 'read' })
  })
})

function together(apps: { callback: object }[]): object {
  return { entry: apps.flatMap(({ callback }) => (callback as { entry: object[] }).entry) }
}

test('the shared address finds the app secret behind other ids, of which it tries five secrets', async () => {
  const customer = await server.account()
  const others = await Promise.all(['s1', 's2', 's3', 's4', 's5'].map((secret) => ownApp(customer, secret)))
  const own = await ownApp(customer, 's6')
  expect((await post(together([...others, own]), { secret: 's6' })).statusCode).toBe(401)
  const strangers = Array.from({ length: 50 }, () => ({ callback: messagesCallback(randomDigits(), []) }))
  expect((await post(together([...strangers, ...others.slice(1), own]), { secret: 's6' })).statusCode).toBe(200)

  expect(await get(customer, own.messageId)).toMatchObject({ status: 'read' })
  for (const { messageId } of others) expect(await get(customer, messageId)).toMatchObject({ status: 'sent' })
})

test('a verified callback is taken whatever it holds, up to 3 MiB', async () => {
  const { messageId, waMessageId } = await sendOne(account)
  const read = messagesCallback(account.phoneNumberId, [status('read', waMessageId, { callbackData: messageId })])
  const changes = Array.from({ length: 5_000 }, (_, index) => ({
    field: 'messages',
    value: { metadata: { phone_number_id: String(5_000_000_000_000 + index) }, statuses: [status('read', 'wamid.a')] },
  }))
  const entry = [{ id: '1', changes }, ...(read as { entry: object[] }).entry]
  expect((await post({ entry })).statusCode).toBe(200)
  expect(await get(account, messageId)).toMatchObject({ status: 'read' })

  const text = JSON.stringify(messagesCallback(account.phoneNumberId, []))
  expect((await post(text.padEnd(3 * 1024 * 1024))).statusCode).toBe(200)
  expect((await post(`{"entry":[{"id":1,"changes":[${'{},'.repeat(100_000)}{}]}]}`)).statusCode).toBe(200)
})

test('a change that cannot be read does not hide the others of its entry', async () => {
  const { messageId, waMessageId } = await sendOne(account)
  const callback = messagesCallback(account.phoneNumberId, [
    status('read', waMessageId, { callbackData: messageId }),
  ]) as { entry: { changes: unknown[] }[] }
  callback.entry[0]?.changes.unshift(null, {}, { field: 1 })
  expect((await post(callback)).statusCode).toBe(200)
  expect(await get(account, messageId)).toMatchObject({ status: 'read' })
})

test('a callback is received in chunks too', async () => {
  const { messageId, waMessageId } = await sendOne(account)
  const callback = messagesCallback(account.phoneNumberId, [status('read', waMessageId, { callbackData: messageId })])
  const body = Buffer.from(JSON.stringify(callback))
  const { statusCode } = await request(server.url + path, {
    method: 'POST',
    headers: { 'x-hub-signature-256': signCallback(body, appSecret) },
    body: Readable.from([body.subarray(0, 50), body.subarray(50, 60), body.subarray(60)]),
  })
  expect(statusCode).toBe(200)
  expect(await get(account, messageId)).toMatchObject({ status: 'read' })
})

test('a paused template is refused at once, and an approved one is sent again', async () => {
  const customer = await server.account()

  expect(
    (await post(changeCallback(customer.wabaId, 'message_template_status_update', templateUpdate('PAUSED'))))
      .statusCode,
  ).toBe(200)
  expect((await customer.post('/api/v1/message/send', example)).json().error).toMatchObject({
    code: 'TEMPLATE_NOT_FOUND',
    message: expect.stringContaining('PAUSED'),
  })

  await post(changeCallback(customer.wabaId, 'message_template_status_update', templateUpdate('APPROVED')))
  expect((await customer.post('/api/v1/message/send', example)).statusCode).toBe(200)
})

test('a callback writes en-US where the API writes en_US', async () => {
  const customer = await server.account()
  await post(
    changeCallback(customer.wabaId, 'message_template_status_update', {
      event: 'DISABLED',
      message_template_name: 'hello_world',
      message_template_language: 'en-US',
    }),
  )
  expect((await customer.get('/api/v1/template/hello_world/en_US')).json().data).toMatchObject({ status: 'DISABLED' })
})

test('a template event that is no status, and a lost one, are made good by the next sync', async () => {
  const customer = await server.account()
  server.simulator.templatesOf(customer.wabaId).set('order_shipped', 'en', { status: 'PAUSED' })
  await server.deps.db
    .updateTable('whatsapp_accounts')
    .set({ next_sync_at: new Date('2100-01-01') })
    .execute()
  expect(await syncDueTemplates(server.deps)).toBe(0)

  await post(
    changeCallback(customer.wabaId, 'message_template_status_update', {
      event: 'FLAGGED',
      message_template_name: 'order_shipped',
      message_template_language: 'en',
    }),
  )
  expect((await customer.get('/api/v1/template/order_shipped/en')).json().data).toMatchObject({ status: 'APPROVED' })

  expect(await syncDueTemplates(server.deps)).toBe(1)
  expect((await customer.get('/api/v1/template/order_shipped/en')).json().data).toMatchObject({ status: 'PAUSED' })
  const row = await server.deps.db
    .selectFrom('whatsapp_accounts')
    .selectAll()
    .where('account_id', '=', customer.accountId)
    .executeTakeFirstOrThrow()
  expect(row).toMatchObject({ quality_rating: 'GREEN', active: true })
})

test('a business account that WhatsApp disables cannot send until WhatsApp reinstates it', async () => {
  const customer = await server.account()
  await post(disabled(customer))
  expect((await customer.post('/api/v1/message/send', example)).json().error).toMatchObject({
    code: 'NO_ACTIVE_ACCOUNT',
    message: expect.stringContaining('WhatsApp disabled the business account'),
  })

  await post(reinstated(customer))
  expect((await customer.post('/api/v1/message/send', example)).statusCode).toBe(200)
})

test('what a person switched off, WhatsApp does not switch on', async () => {
  const customer = await server.account()
  await deactivateWhatsAppAccount(server.deps, customer.accountId, customer.whatsAppAccountId)

  await post(disabled(customer))
  await post(reinstated(customer))

  expect((await customer.post('/api/v1/message/send', example)).json().error).toMatchObject({
    code: 'NO_ACTIVE_ACCOUNT',
    message: expect.stringContaining('deactivated by a user'),
  })
})

function disabled({ wabaId }: TestAccount): object {
  return changeCallback(wabaId, 'account_update', {
    event: 'DISABLED_UPDATE',
    ban_info: { waba_ban_state: 'DISABLE', waba_ban_date: 'today' },
  })
}

function reinstated({ wabaId }: TestAccount): object {
  return changeCallback(wabaId, 'account_update', {
    event: 'DISABLED_UPDATE',
    ban_info: { waba_ban_state: 'REINSTATE' },
  })
}

test('a callback larger than 3 MB is too large', async () => {
  const response = await post('x'.repeat(3 * 1024 * 1024 + 1))
  expect(response.statusCode).toBe(413)
})

test('the events of an account are listed by cursor once they have settled', async () => {
  const customer = await server.account()
  const sent = [await sendOne(customer), await sendOne(customer), await sendOne(customer)]
  for (const { messageId, waMessageId } of sent)
    await report(customer, [status('delivered', waMessageId, { callbackData: messageId })])

  interface Page {
    items: { eventId: string; event: { type: string; data: { messageId: string } } }[]
    nextCursor?: string
  }
  const list = async (query: string) => (await customer.get(`/api/v1/event${query}`)).json().data as unknown as Page
  await expect.poll(async () => (await list('')).items.length, { timeout: 10_000 }).toBe(3)

  const first = await list('?limit=2')
  const second = await list(`?limit=2&cursor=${first.nextCursor}`)
  expect([...first.items, ...second.items].map(({ event }) => event.data.messageId)).toEqual(
    sent.map(({ messageId }) => messageId),
  )
  expect(second.nextCursor).toBeUndefined()
  expect((await list('?type=message.failed')).items).toEqual([])
  expect((await list(`?messageId=${sent[1]?.messageId}`)).items).toHaveLength(1)
})

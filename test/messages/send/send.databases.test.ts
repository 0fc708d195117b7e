import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { sendMessage, type SendMessageRequest } from '../../../contracts/api/message.ts'
import { type ErrorCode, errors } from '../../../contracts/errors.ts'
import { createCloudApi } from '../../../src/whatsapp/client/cloud-api.ts'
import { unknownObject } from '../../../src/whatsapp/simulator/errors.ts'
import { forFile } from '../../support/lifetime.ts'
import { nodeForTest, startTestServer, through } from '../../support/server.ts'
import { clockEstimateOf, readDatabaseClock } from '../../../src/platform/db/clock.ts'

const path = '/api/v1/message/send'
const example = sendMessage.example.input

const server = await forFile(startTestServer())
/** Waits for WhatsApp only briefly. */
const impatient = await forFile(startTestServer({ beside: server, sendDeadlineMilliseconds: 300 }))
const account = await server.account()

test('returns the message and sends it to WhatsApp', async () => {
  const response = await account.post(path, example)

  expect(response.statusCode).toBe(200)
  expect(response.json()).toEqual({
    success: true,
    data: {
      messageId: expect.stringMatching(/^msg_/),
      waMessageId: expect.stringMatching(/^wamid\./),
      status: 'sent',
      to: example.to,
      template: example.template,
      externalId: example.externalId,
    },
  })
  const upstream = server.simulator.requests.at(-1)
  expect(upstream).toMatchObject({
    method: 'POST',
    path: `/${account.phoneNumberId}/messages`,
    body: {
      to: `+${example.to}`,
      biz_opaque_callback_data: response.json().data['messageId'],
      template: {
        name: example.template,
        language: { code: example.language },
        components: [
          {
            type: 'body',
            parameters: [
              { type: 'text', text: 'Ada' },
              { type: 'text', text: 'WB-1042' },
            ],
          },
        ],
      },
    },
  })
})

test('keeps the recipient and reference of each of many concurrent sends', async () => {
  const customer = await server.account()
  const written = ['null', 'NULL', '{}', 'a,b', '"', '\\', "'", ' x ', 'Größe', '😀', '{"a":"\\""}']
  const sent = await Promise.all(written.map((externalId) => customer.post(path, { ...example, externalId })))

  expect(sent.map((response) => response.json().data['externalId'])).toEqual(written)
  const { items } = await customer.trpc.message.list.query({})
  expect(items.map(({ externalId }) => externalId).toSorted()).toEqual(written.toSorted())
  for (const externalId of written)
    expect((await customer.trpc.message.list.query({ externalId })).items).toMatchObject([{ externalId }])
})

test('omits externalId from the response if the request has none', async () => {
  const { externalId: _, ...withoutExternalId } = example
  const response = await account.post(path, withoutExternalId)

  expect(response.statusCode).toBe(200)
  expect(response.json().data).not.toHaveProperty('externalId')
})

test('accepts the names of named placeholders as keys', async () => {
  await account.template({
    name: 'named_greeting',
    parameter_format: 'NAMED',
    components: [{ type: 'BODY', text: 'Hi {{first_name}}, see {{order_id}}.' }],
  })

  const response = await account.post(path, {
    ...example,
    template: 'named_greeting',
    variables: { order_id: '7', first_name: 'Ada' },
  })

  expect(response.statusCode).toBe(200)
  expect(server.simulator.requests.at(-1)?.body).toMatchObject({
    template: {
      components: [
        {
          parameters: [
            { parameter_name: 'first_name', text: 'Ada' },
            { parameter_name: 'order_id', text: '7' },
          ],
        },
      ],
    },
  })
})

test('sends from the WhatsApp account in accountId', async () => {
  const other = await account.addWhatsAppAccount({ phoneNumberId: '190000000000077' })

  const response = await account.post(path, { ...example, accountId: other })

  expect(response.statusCode).toBe(200)
  expect(server.simulator.requests.at(-1)?.path).toBe('/190000000000077/messages')
})

/** Rules of the specification; `change` makes a valid request invalid. Those of one field have unit tests. */
const refusals: {
  because: string
  change: Partial<Record<keyof SendMessageRequest, unknown>>
  code: ErrorCode
  says: RegExp
}[] = [
  { because: 'to is missing', change: { to: undefined }, code: 'VALIDATION_ERROR', says: /^to: is required/ },
  {
    because: 'the template is unknown',
    change: { template: 'no_such_template' },
    code: 'TEMPLATE_NOT_FOUND',
    says: /There is no template "no_such_template" in language en/,
  },
  {
    because: 'the template does not exist in the language',
    change: { language: 'fr' },
    code: 'TEMPLATE_NOT_FOUND',
    says: /language fr/,
  },
  {
    because: 'accountId is unknown',
    change: { accountId: 'wa_unknown' },
    code: 'NO_ACTIVE_ACCOUNT',
    says: /^accountId: no WhatsApp account of yours/,
  },
]

test.each(refusals)('rejects a send if $because: $code', async ({ change, code, says }) => {
  const before = server.simulator.requests.length

  const response = await account.post(path, { ...example, ...change })

  expect(response.json()).toMatchObject({ success: false, error: { code, message: expect.stringMatching(says) } })
  expect(response.statusCode).toBe(errors[code].status)
  expect(server.simulator.requests).toHaveLength(before)
})

test('rejects a template that was deleted at WhatsApp', async () => {
  const vanishing = await server.account()
  await vanishing.template({ name: 'vanishing', body: 'Hello.' })
  expect((await vanishing.post(path, { to: example.to, template: 'vanishing', language: 'en' })).statusCode).toBe(200)

  server.simulator.templatesOf(vanishing.wabaId).remove('vanishing', 'en')
  await vanishing.template({ name: 'another', body: 'Hello.' })

  const response = await vanishing.post(path, { to: example.to, template: 'vanishing', language: 'en' })
  expect(response.json().error).toMatchObject({ code: 'TEMPLATE_NOT_FOUND' })
})

const unknownOutcome = {
  status: 504,
  code: 'SEND_OUTCOME_UNKNOWN',
  row: { status: 'pending', error_code: null },
} as const

/**
 * The simulator's documented recipients, with the behaviour of WhatsApp, the response to the caller and the stored row.
 */
const upstream: {
  to: string
  what: string
  status: number
  code: ErrorCode
  row: { status: string; error_code: string | null }
  retryAfter?: boolean
}[] = [
  {
    to: '15550131026',
    what: 'reports the message as undeliverable',
    status: 422,
    code: 'MESSAGE_REJECTED',
    row: { status: 'failed', error_code: '131026' },
  },
  {
    to: '15550131056',
    what: 'throttles the recipient',
    status: 429,
    code: 'WHATSAPP_THROTTLED',
    row: { status: 'failed', error_code: '131056' },
    retryAfter: true,
  },
  {
    to: '15550130429',
    what: 'throttles the sender',
    status: 429,
    code: 'WHATSAPP_THROTTLED',
    row: { status: 'failed', error_code: '130429' },
    retryAfter: true,
  },
  {
    to: '15550131042',
    what: 'reports a payment problem',
    status: 400,
    code: 'NO_ACTIVE_ACCOUNT',
    row: { status: 'failed', error_code: '131042' },
  },
  {
    to: '15550131016',
    what: 'is down',
    status: 503,
    code: 'WHATSAPP_UNAVAILABLE',
    row: { status: 'failed', error_code: '131016' },
    retryAfter: true,
  },
  {
    to: '15559000008',
    what: 'answers 404 with HTML',
    status: 503,
    code: 'WHATSAPP_UNAVAILABLE',
    row: { status: 'failed', error_code: 'WHATSAPP_UNAVAILABLE' },
    retryAfter: true,
  },
  { to: '15559000003', what: 'does not respond in time', ...unknownOutcome },
  { to: '15559000004', what: 'closes the connection', ...unknownOutcome },
  { to: '15559000005', what: 'truncates its response', ...unknownOutcome },
  { to: '15559000006', what: 'answers 502 with HTML', ...unknownOutcome },
  { to: '15559000007', what: 'answers 200 without JSON', ...unknownOutcome },
]

test.each(upstream)(
  'returns $code and leaves the message $row.status when WhatsApp $what',
  async ({ to, status, code, row, retryAfter }) => {
    const externalId = `upstream-${to}`
    const caller = code === 'SEND_OUTCOME_UNKNOWN' ? through(impatient, account) : account

    const response = await caller.post(path, { ...example, to, externalId })

    expect(response.statusCode).toBe(status)
    expect(Number(response.headers['retry-after']) > 0).toBe(retryAfter === true)
    const stored = await server.deps.db
      .selectFrom('messages')
      .selectAll()
      .where('account_id', '=', account.accountId)
      .where('external_id', '=', externalId)
      .execute()
    expect(stored).toEqual([expect.objectContaining(row)])
    expect(response.json()).toEqual({
      success: false,
      error: {
        code,
        message: expect.any(String),
        messageId: stored[0]?.id,
        ...(row.error_code !== null && { failureCode: row.error_code }),
      },
    })
  },
)

test('reports that nothing was sent if WhatsApp refuses the connection', async () => {
  const cutOff = await nodeForTest(server, {
    deps: { whatsapp: createCloudApi({ url: 'http://127.0.0.1:1', version: 'v25.0' }) },
  })
  const customer = await server.account()

  const response = await through(cutOff, customer).post(path, example)

  expect(response.statusCode).toBe(503)
  expect(response.json().error.code).toBe('WHATSAPP_UNAVAILABLE')
  expect(response.headers['retry-after']).toBeDefined()
  const list = await customer.get('/api/v1/message')
  expect(list.json().data['items']).toMatchObject([{ status: 'failed', error: { code: 'WHATSAPP_UNAVAILABLE' } }])
})

test('deactivates a WhatsApp account with a rejected token and stores the reason', async () => {
  const refused = await server.account()

  const first = await refused.post(path, { ...example, to: '15550000190' })
  expect(first.json().error).toMatchObject({ code: 'NO_ACTIVE_ACCOUNT', message: expect.stringContaining('190') })

  const before = server.simulator.requests.length
  const second = await refused.post(path, example)
  expect(second.json().error).toMatchObject({
    code: 'NO_ACTIVE_ACCOUNT',
    message: expect.stringMatching(/is inactive: .*190.*\. Create a new token in Meta Business Suite/),
    failureCode: '190',
  })
  expect(server.simulator.requests).toHaveLength(before)
})

test('says that WhatsApp does not know the phone number ID of the account', async () => {
  const moved = await server.account()
  server.simulator.intercept(({ method, path }) =>
    path === `/${moved.phoneNumberId}/messages` ? unknownObject(method, moved.phoneNumberId) : undefined,
  )

  const response = await moved.post(path, example)
  server.simulator.intercept(undefined)

  expect(response.json().error).toMatchObject({
    code: 'NO_ACTIVE_ACCOUNT',
    failureCode: '100',
    message: expect.stringContaining('Compare the phone number ID with the one in the Meta app dashboard.'),
  })
})

test('reports a template that WhatsApp no longer knows as not found and syncs templates', async () => {
  const stale = await server.account()
  server.simulator.templatesOf(stale.wabaId).remove('order_shipped', 'en')

  const first = await stale.post(path, example)
  expect(first.statusCode).toBe(404)
  expect(first.json().error).toMatchObject({ code: 'TEMPLATE_NOT_FOUND', message: expect.stringContaining('132001') })

  await expect.poll(async () => (await stale.post(path, example)).json().error.message).toMatch(/its status is DELETED/)
})

test('rejects a template after WhatsApp reports it as paused', async () => {
  const paused = await server.account()

  expect((await paused.post(path, { ...example, to: '15550132015' })).json().error.code).toBe('TEMPLATE_NOT_FOUND')

  const next = await paused.post(path, example)
  expect(next.json().error).toMatchObject({ code: 'TEMPLATE_NOT_FOUND', message: expect.stringContaining('PAUSED') })
})

const base64Of = (text: string) =>
  ['', 'x', 'xx'].map((before) => {
    // The first and the last characters depend on what is beside the text.
    const encoded = Buffer.from(before + text)
      .toString('base64url')
      .replaceAll('=', '')
    return encoded.slice(before === '' ? 0 : before.length + 1, -2)
  })

/** Whether a text has a number: with or without its country code, with separators, in hexadecimal digits or in base64. */
function hasNumber(text: string, number: string): boolean {
  const local = number.slice(1)
  const spelled = new RegExp([...local].join(String.raw`(?:[\s().\-\u2011]|%\d\w|\\u00\w\w)*`))
  const encoded = [Buffer.from(local).toString('hex'), ...base64Of(local)]
  const anyCase = text.replaceAll('+', '-').replaceAll('/', '_')
  return spelled.test(text) || encoded.some((form) => anyCase.includes(form))
}

test.each([
  '15559000004',
  '+1 (555) 900-0004',
  '555.900.0004',
  '%2B1%20555%20900%200004',
  Buffer.from('to=15559000004;').toString('base64'),
  Buffer.from('5559000004').toString('base64'),
  Buffer.from('15559000004').toString('hex'),
])('recognizes a phone number in %s', (text) => {
  expect(hasNumber(`{"to":"${text}"}`, '15559000004')).toBe(true)
  expect(hasNumber(`{"to":"${text}"}`, '15550131026')).toBe(false)
})

test('logs neither phone numbers nor wamids in any form, even if the database names the row that it rejects', async () => {
  const numbers = ['15559000004', '15550131026', '34600111222']
  for (const to of numbers) await account.post(path, { ...example, to })
  await sql`alter table messages add constraint rejects check (to_number <> '15559000004') not valid`.execute(
    server.deps.db,
  )
  const failed = await account.post(path, { ...example, to: '15559000004' })
  await sql`alter table messages drop constraint rejects`.execute(server.deps.db)

  expect(failed.statusCode).toBe(500)
  const log = server.log.join('')
  // The log has the error, whose text has the number.
  expect(log).toContain('"code":"23514"')
  expect(numbers.filter((number) => hasNumber(log, number))).toEqual([])
  expect(log).not.toMatch(/wamid\.(?!\*)/)
})

const hour = 3_600_000

test.each([
  { jump: 'forward by an hour', milliseconds: hour },
  { jump: 'back by an hour', milliseconds: -hour },
])('keeps sending when the database clock is set $jump', async ({ jump, milliseconds }) => {
  const estimate = clockEstimateOf(server.deps.db)
  const send = (n: number) =>
    account.post('/api/v1/message/send', sendMessage.example.input, {
      ...(n % 2 === 0 && { 'idempotency-key': `${jump} ${n}` }),
    })
  for (const sends of [1, 2, 20]) {
    estimate.addSample(Date.now() - milliseconds, performance.now())
    const responses = await Promise.all(Array.from({ length: sends }, (_, n) => send(n)))
    expect(responses.map(({ statusCode }) => statusCode)).toEqual(responses.map(() => 200))
    const off = (await estimate.read(server.deps.db)) - (await readDatabaseClock(server.deps.db)).getTime()
    expect(Math.abs(off)).toBeLessThan(60_000)
  }
})

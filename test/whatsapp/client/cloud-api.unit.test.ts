import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { createCloudApi } from '../../../src/whatsapp/client/cloud-api.ts'
import { fail, failWith } from '../../../src/whatsapp/simulator/errors.ts'
import { sandboxRecipients } from '../../../src/whatsapp/simulator/messages/recipients.ts'
import { startSimulator } from '../../../src/whatsapp/simulator/simulator.ts'
import type { OutgoingTemplate } from '../../../src/whatsapp/whatsapp.ts'
import { ok, type SimulatedResponse } from '../../../src/whatsapp/simulator/exchange.ts'
import { forFile, forTest } from '../../support/lifetime.ts'
import { freePort } from '../../support/postgres.ts'

const orderShipped: OutgoingTemplate = {
  to: '34600111222',
  name: 'order_shipped',
  language: 'en',
  parameters: [{ text: 'Ada' }, { text: 'A-1024' }],
  callbackData: 'msg_1',
}

const simulator = await forFile(startSimulator())
const whatsapp = await forFile(createCloudApi({ url: simulator.url, version: 'v25.0' }))
/** A client with a short timeout for tests without a response. */
const impatient = await forFile(
  createCloudApi({ url: simulator.url, version: 'v25.0', timeouts: { sendMs: 300, readMs: 300 } }),
)
afterEach(() => simulator.intercept(undefined))

function answerOnce(...answers: SimulatedResponse[]): void {
  simulator.intercept(() => answers.shift())
}

function acceptedSend(): string {
  const body = JSON.stringify({ messages: [{ id: 'wamid.1' }] })
  return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

function lastRequest() {
  const request = simulator.requests.at(-1)
  if (!request) throw new Error('The simulator got no request')
  return request
}

test('sends a template as documented in the reference', async () => {
  const outcome = await whatsapp.sendTemplate(simulator, orderShipped)

  expect(outcome).toMatchObject({ kind: 'accepted', waMessageId: expect.stringMatching(/^wamid\.HBgL/) })
  expect(lastRequest()).toMatchObject({
    method: 'POST',
    version: 'v25.0',
    path: `/${simulator.phoneNumberId}/messages`,
    headers: { authorization: `Bearer ${simulator.accessToken}`, 'content-type': 'application/json' },
  })
  expect(lastRequest().body).toEqual({
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: '+34600111222',
    type: 'template',
    biz_opaque_callback_data: 'msg_1',
    template: {
      name: 'order_shipped',
      language: { code: 'en' },
      components: [
        {
          type: 'body',
          parameters: [
            { type: 'text', text: 'Ada' },
            { type: 'text', text: 'A-1024' },
          ],
        },
      ],
    },
  })
})

test('sends a template without variables and without components', async () => {
  const message = { ...orderShipped, name: 'hello_world', language: 'en_US', parameters: [] }

  expect(await whatsapp.sendTemplate(simulator, message)).toMatchObject({ kind: 'accepted' })
  expect(lastRequest().body).toMatchObject({ template: { name: 'hello_world', language: { code: 'en_US' } } })
  expect(JSON.stringify(lastRequest().body)).not.toContain('components')
})

test('sends named placeholders by name, in any order', async () => {
  const parameters = [
    { name: 'time', text: '10:30' },
    { name: 'first_name', text: 'Ada' },
    { name: 'date', text: '12 May' },
  ]
  const outcome = await whatsapp.sendTemplate(simulator, { ...orderShipped, name: 'appointment_reminder', parameters })

  expect(outcome).toMatchObject({ kind: 'accepted' })
  expect(JSON.stringify(lastRequest().body)).toContain('{"type":"text","parameter_name":"time","text":"10:30"}')
})

test('keeps the path of the base URL', async () => {
  const proxied = createCloudApi({ url: `${simulator.url}/meta/whatsapp/`, version: 'v25.0' })
  await proxied.sendTemplate(simulator, orderShipped)
  expect(lastRequest().path).toBe(`/meta/whatsapp/v25.0/${simulator.phoneNumberId}/messages`)
  await proxied.close()
})

test("returns Waybill's error code, WhatsApp's message and the retry delay of a rejection", async () => {
  expect(await whatsapp.sendTemplate(simulator, { ...orderShipped, to: '15550131056' })).toEqual({
    kind: 'refused',
    errorCode: 'WHATSAPP_THROTTLED',
    accountUnusable: false,
    retryAfterSeconds: 6,
    error: {
      code: 131056,
      title: '(Business Account, Consumer Account) pair rate limit hit',
      details: 'too many messages to the same number in a short time',
    },
  })
})

test('marks an account with an invalid token as unusable', async () => {
  const outcome = await whatsapp.sendTemplate({ ...simulator, accessToken: 'stale' }, orderShipped)
  expect(outcome).toMatchObject({ kind: 'refused', errorCode: 'NO_ACTIVE_ACCOUNT', accountUnusable: true })
})

test('keeps an account with an unknown phone number ID usable', async () => {
  const outcome = await whatsapp.sendTemplate({ ...simulator, phoneNumberId: '404' }, orderShipped)
  expect(outcome).toMatchObject({ kind: 'refused', errorCode: 'NO_ACTIVE_ACCOUNT', accountUnusable: false })
})

/** The expected outcome for recipients that make WhatsApp misbehave; all others are accepted. */
const misbehaving = new Map(
  Object.entries({
    15559000003: 'unknown',
    15559000004: 'unknown',
    15559000005: 'unknown',
    15559000006: 'unknown',
    15559000007: 'unknown',
    15559000008: 'unavailable',
    15559000009: 'unavailable',
    15559000010: 'unknown',
    // Without a second endpoint to change to.
    15550131061: 'refused',
    15550131063: 'refused',
    15559000011: 'unknown',
    15559000012: 'refused',
  }),
)

test.each(sandboxRecipients)('$to: $does', async ({ to, behaviour }) => {
  const client = to === '15559000003' ? impatient : whatsapp
  const kind = behaviour.kind === 'fail' ? 'refused' : (misbehaving.get(to) ?? 'accepted')
  expect(await client.sendTemplate(simulator, { ...orderShipped, to })).toMatchObject({ kind })
})

test('retries a send that WhatsApp rejected temporarily', async () => {
  answerOnce(failWith(131016))
  expect(await whatsapp.sendTemplate(simulator, orderShipped)).toMatchObject({ kind: 'accepted' })
})

test('sends at most twice', async () => {
  const before = simulator.requests.length
  const outcome = await whatsapp.sendTemplate(simulator, { ...orderShipped, to: '15550131016' })
  expect(outcome).toMatchObject({ kind: 'refused', errorCode: 'WHATSAPP_UNAVAILABLE', retryAfterSeconds: 10 })
  expect(simulator.requests.length - before).toBe(2)
})

test.each(['15550131000', '15559000004', '15559000005', '15559000006'])(
  'does not retry a send to %s that may have been accepted',
  async (to) => {
    const before = simulator.requests.length
    await whatsapp.sendTemplate(simulator, { ...orderShipped, to })
    expect(simulator.requests.length - before).toBe(1)
  },
)

const answered = (status: number, text: string) =>
  ({ kind: 'text', status, contentType: 'application/json', text }) as const

test.each<{ says: string; answer: SimulatedResponse; kind: string }>([
  {
    says: 'a 200 response without a message id',
    answer: { kind: 'json', status: 200, body: { messaging_product: 'whatsapp', messages: [] } },
    kind: 'unknown',
  },
  { says: 'an empty 200 response', answer: answered(200, ''), kind: 'unknown' },
  { says: 'an empty 500 response', answer: answered(500, ''), kind: 'unknown' },
  {
    says: 'a truncated 500 response',
    answer: { kind: 'cut-off', status: 500, body: { error: { message: '(#2) Service', code: 2 } } },
    kind: 'unknown',
  },
  {
    says: 'a truncated 400 response',
    answer: { kind: 'cut-off', status: 400, body: { error: { message: '(#100) Invalid parameter', code: 100 } } },
    kind: 'unavailable',
  },
  {
    says: "a 403 response with a proxy's JSON",
    answer: { kind: 'json', status: 403, body: { message: 'blocked' } },
    kind: 'unavailable',
  },
  { says: 'a response that is too large', answer: answered(200, ' '.repeat(2 * 1024 * 1024)), kind: 'unknown' },
])('treats $says as $kind', async ({ answer, kind }) => {
  answerOnce(answer)
  expect(await whatsapp.sendTemplate(simulator, orderShipped)).toMatchObject({ kind, reason: expect.any(String) })
})

const gatewayMessage = 'temporary problem of the gateway'

test.each([
  { status: 400, code: null, kind: 'unavailable', says: gatewayMessage },
  { status: 400, code: '', kind: 'unavailable', says: gatewayMessage },
  { status: 400, code: false, kind: 'unavailable', says: gatewayMessage },
  { status: 401, code: [], kind: 'unavailable', says: gatewayMessage },
  { status: 400, code: undefined, kind: 'unavailable', says: gatewayMessage },
  { status: 500, code: null, kind: 'unknown', says: 'HTTP 500' },
  { status: 503, code: 'n/a', kind: 'unknown', says: 'HTTP 503' },
])('treats HTTP $status with the error code $code as $kind, without blaming the token', async (error) => {
  const { status, code, kind, says } = error
  answerOnce({ kind: 'json', status, body: { error: { message: gatewayMessage, type: 'GatewayError', code } } })

  const outcome = await whatsapp.sendTemplate(simulator, orderShipped)
  expect(outcome).toMatchObject({ kind, reason: expect.stringContaining(says) })
})

test.each([
  { says: 'a list of errors', body: { errors: [{ code: 131026, message: 'Undeliverable' }] }, code: 131026 },
  { says: 'an error', body: { error: { code: 131026, message: 'Undeliverable' } }, code: 131026 },
])('reads the code of a rejection from $says', async ({ body, code }) => {
  answerOnce({ kind: 'json', status: 400, body })

  const outcome = await whatsapp.sendTemplate(simulator, orderShipped)
  expect(outcome).toMatchObject({ kind: 'refused', error: { code, title: 'Undeliverable' } })
})

test.each([
  { code: '131026', kind: 'refused', more: { errorCode: 'MESSAGE_REJECTED', error: { code: 131026, title: 'No' } } },
  { code: 190, kind: 'refused', more: { accountUnusable: true, error: { code: 190 } } },
  { code: 987654, kind: 'unknown', more: {} },
  { code: 0, kind: 'unknown', more: {} },
  { code: null, kind: 'unknown', more: {} },
])('treats the error code $code of a gateway that answers HTTP 200 as $kind', async ({ code, kind, more }) => {
  answerOnce({ kind: 'json', status: 200, body: { error: { code, message: 'No' } } })

  expect(await whatsapp.sendTemplate(simulator, orderShipped)).toMatchObject({ kind, ...more })
})

test('takes a response with a message ID for an acceptance, whatever else it has', async () => {
  const body = { messages: [{ id: 'wamid.1' }], errors: [{ code: 131026, message: 'No' }] }
  answerOnce({ kind: 'json', status: 200, body })

  expect(await whatsapp.sendTemplate(simulator, orderShipped)).toMatchObject({
    kind: 'accepted',
    waMessageId: 'wamid.1',
  })
})

test('reports the error of a read that a gateway answers with HTTP 200', async () => {
  simulator.intercept(() => ({ kind: 'json', status: 200, body: { error: { code: 190, message: 'Expired' } } }))
  const refused = { ok: false, refused: true, accountUnusable: true, error: { code: 190 } }

  expect(await whatsapp.listTemplates(simulator)).toMatchObject(refused)
  expect(await whatsapp.getPhoneNumber(simulator)).toMatchObject(refused)
  expect(await whatsapp.deleteTemplate({ ...simulator, name: 'order_shipped' })).toMatchObject(refused)
  simulator.intercept(undefined)
})

test.each([
  { is_transient: true, errorCode: 'WHATSAPP_UNAVAILABLE' },
  { is_transient: 'true', errorCode: 'WHATSAPP_UNAVAILABLE' },
  { is_transient: 'false', errorCode: 'MESSAGE_REJECTED' },
  { is_transient: 'unsure', errorCode: 'MESSAGE_REJECTED' },
])('treats an unknown code with is_transient $is_transient as $errorCode', async ({ is_transient, errorCode }) => {
  answerOnce({ kind: 'json', status: 400, body: { error: { code: 987654, message: 'Hm', is_transient } } })

  expect(await whatsapp.sendTemplate(simulator, orderShipped)).toMatchObject({ kind: 'refused', errorCode })
})

test.each([{ error: gatewayMessage }, { message: gatewayMessage }])('quotes a gateway that says %j', async (body) => {
  answerOnce({ kind: 'json', status: 403, body })

  const outcome = await whatsapp.sendTemplate(simulator, orderShipped)
  expect(outcome).toMatchObject({ kind: 'unavailable', reason: `HTTP 403 without an error code: ${gatewayMessage}` })
})

test.each([
  { says: 'an error without a code', text: '{"error":{"message":"Too many requests"}}', title: 'Too many requests' },
  { says: 'a page', text: '<html>slow down</html>', title: 'Too Many Requests' },
  { says: 'nothing', text: '', title: 'Too Many Requests' },
  { says: 'another JSON', text: '{"detail":"rate"}', title: 'Too Many Requests' },
  { says: 'a text as its error', text: '{"error":"slow down"}', title: 'slow down' },
  { says: 'a message', text: '{"message":"slow down"}', title: 'slow down' },
  { says: 'the code of a token', text: '{"error":{"code":190,"message":"slow down"}}', title: 'slow down' },
  { says: 'an unknown code', text: '{"error":{"code":999111,"message":"slow down"}}', title: 'slow down' },
])('treats HTTP 429 with $says as throttling, and follows its Retry-After', async ({ text, title }) => {
  const answer = answered(429, text)
  answerOnce({ ...answer, headers: { 'retry-after': '90' } }, answer, { ...answer, headers: { 'retry-after': 'soon' } })
  const throttled = {
    kind: 'refused',
    errorCode: 'WHATSAPP_THROTTLED',
    accountUnusable: false,
    error: { code: 429, title },
  }

  expect(await whatsapp.sendTemplate(simulator, orderShipped)).toEqual({ ...throttled, retryAfterSeconds: 90 })
  expect(await whatsapp.sendTemplate(simulator, orderShipped)).toEqual({ ...throttled, retryAfterSeconds: 60 })
  expect(await whatsapp.sendTemplate(simulator, orderShipped)).toEqual({ ...throttled, retryAfterSeconds: 60 })
})

test.each([
  { header: '900', seconds: 900 },
  { header: ['400', '900', 'soon'], seconds: 900 },
  { header: '10', seconds: 300 },
  { header: '99999999', seconds: 86_400 },
])('waits $seconds seconds after a throttling code with Retry-After $header', async ({ header, seconds }) => {
  const text = JSON.stringify({ error: { message: '(#80008) Too many calls', code: '80008' } })
  answerOnce({ ...answered(400, text), headers: { 'retry-after': header } })

  expect(await whatsapp.sendTemplate(simulator, orderShipped)).toMatchObject({
    errorCode: 'WHATSAPP_THROTTLED',
    retryAfterSeconds: seconds,
    error: { code: 80_008 },
  })
})

test.each([
  { says: 'a string', error_data: 'Too long', details: 'Too long' },
  { says: 'text of JSON', error_data: '{"messaging_product":"whatsapp","details":"Too long"}', details: 'Too long' },
  { says: 'text of JSON without details', error_data: '{"blame_field_specs":[["name"]]}', details: undefined },
  { says: 'text in braces', error_data: '{name} is too long', details: '{name} is too long' },
  { says: 'a number', error_data: 7, details: undefined },
  { says: 'absent', error_data: undefined, details: undefined },
])('reads an error whose error_data is $says', async ({ error_data, details }) => {
  const error = { message: '(#100) Invalid parameter', type: 'OAuthException', code: 100, error_data, extra: {} }
  answerOnce({ kind: 'json', status: 400, body: { error } })
  expect(await whatsapp.sendTemplate(simulator, orderShipped)).toMatchObject({
    kind: 'refused',
    error: details === undefined ? { code: 100, title: 'Invalid parameter' } : { code: 100, details },
  })
})

test.each([
  { says: 'skips 1xx responses before the final one', rest: acceptedSend(), outcome: { kind: 'accepted' } },
  {
    says: 'does not take a 1xx response for the final one if the connection is lost',
    rest: '',
    outcome: { kind: 'unknown', reason: 'the connection was lost' },
  },
])('$says', async ({ rest, outcome }) => {
  const graph = createTcpServer((socket) =>
    socket
      .on('error', () => {})
      .once('data', () => {
        socket.end(`${[100, 100, 102, 103].map((status) => `HTTP/1.1 ${status} X\r\n\r\n`).join('')}${rest}`)
      }),
  ).listen(0, '127.0.0.1')
  await once(graph, 'listening')
  const url = `http://127.0.0.1:${(graph.address() as AddressInfo).port}`
  const client = createCloudApi({ url, version: 'v25.0' })

  expect(await client.sendTemplate(simulator, orderShipped)).toMatchObject(outcome)
  await client.close()
  graph.close()
})

test.each([
  {
    what: 'a refused connection',
    url: async () => `http://127.0.0.1:${await freePort()}`,
    reason: 'connection refused',
  },
  { what: 'an unknown host name', url: () => 'http://graph.invalid', reason: expect.any(String) },
  {
    what: 'a failed TLS handshake',
    url: () => simulator.url.replace('http:', 'https:'),
    reason: 'no trusted TLS connection',
  },
])('treats $what as not sent', async ({ url, reason }) => {
  const unreachable = await forTest(createCloudApi({ url: await url(), version: 'v25.0' }))

  expect(await unreachable.sendTemplate(simulator, orderShipped)).toEqual({
    kind: 'unavailable',
    reason,
    retryAfterSeconds: 5,
  })
})

test('sends when the second connection attempt succeeds', async () => {
  const port = await freePort()
  const client = createCloudApi({ url: `http://127.0.0.1:${port}`, version: 'v25.0' })
  const sending = client.sendTemplate(simulator, orderShipped)
  await forTest(startSimulator({ port }))
  expect(await sending).toMatchObject({ kind: 'accepted' })
  await client.close()
})

test('treats a timeout before the connection as not sent', async () => {
  const received: string[] = []
  const sockets: Socket[] = []
  const silent = createTcpServer((socket) => {
    sockets.push(socket.on('data', (bytes) => received.push(bytes.toString('latin1'))))
  })
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo // A TCP server always has an address of this type.
  const client = createCloudApi({ url: `https://127.0.0.1:${port}`, version: 'v25.0', timeouts: { queueMs: 150 } })

  expect(await client.sendTemplate(simulator, orderShipped)).toEqual({
    kind: 'unavailable',
    reason: 'no connection in time',
    retryAfterSeconds: 5,
  })
  expect(received.join('')).not.toContain('order_shipped')
  silent.close()
  for (const socket of sockets) socket.destroy()
  await client.close()
})

/** Responds to no send before `release`. */
async function startHoldingUpstream() {
  const received: string[] = []
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const holding = createHttpServer((request, response) => {
    void text(request).then(async (body) => {
      const id: string = JSON.parse(body).biz_opaque_callback_data
      received.push(id)
      await released
      response.end(JSON.stringify({ messages: [{ id: `wamid.${id}` }] }))
    })
  })
  holding.listen(0, '127.0.0.1')
  await once(holding, 'listening')
  const { port } = holding.address() as AddressInfo // A TCP server always has an address of this type.
  const stop = () => (holding.closeAllConnections(), void holding.close())
  return { url: `http://127.0.0.1:${port}`, received, release, stop }
}

test('limits the time of a response that is longer than that of a connection', async () => {
  const holding = await forTest(startHoldingUpstream())
  const timeouts = { queueMs: 100, sendMs: 300 }
  const client = createCloudApi({ url: holding.url, version: 'v25.0', timeouts })

  expect(await client.sendTemplate(simulator, { ...orderShipped, callbackData: 'msg_1' })).toMatchObject({
    kind: 'unknown',
    reason: 'no response in time',
  })
  expect(holding.received).toEqual(['msg_1'])
  await client.close()
})

test('never writes a send that waits too long for a connection', async () => {
  const holding = await forTest(startHoldingUpstream())
  const client = createCloudApi({
    url: holding.url,
    version: 'v25.0',
    timeouts: { queueMs: 1_000, sendMs: 60_000 },
    maxConnections: 2,
  })
  const unavailable: unknown[] = []
  const sends = Array.from({ length: 10 }, async (_, n) => {
    const outcome = await client.sendTemplate(simulator, { ...orderShipped, callbackData: `msg_${n}` })
    if (outcome.kind === 'unavailable') unavailable.push(outcome)
    return outcome
  })

  await expect.poll(() => unavailable.length).toBe(8)
  holding.release()

  expect(unavailable).toContainEqual({ kind: 'unavailable', reason: 'no connection in time', retryAfterSeconds: 5 })
  const accepted = (await Promise.all(sends)).flatMap((outcome) =>
    outcome.kind === 'accepted' ? [outcome.waMessageId] : [],
  )
  expect(accepted).toHaveLength(2)
  expect(holding.received.map((id) => `wamid.${id}`).toSorted()).toEqual(accepted.toSorted())
  await client.close()
})

test('limits sends in progress and immediately fails those beyond the limit', async () => {
  const holding = await forTest(startHoldingUpstream())
  const client = createCloudApi({
    url: holding.url,
    version: 'v25.0',
    timeouts: { queueMs: 60_000 },
    maxConnections: 1,
    maxSends: 2,
  })
  const sends = ['msg_1', 'msg_2', 'msg_3'].map((callbackData) =>
    client.sendTemplate(simulator, { ...orderShipped, callbackData }),
  )

  expect(await sends[2]).toEqual({
    kind: 'unavailable',
    reason: 'too many sends of this server are already waiting',
    retryAfterSeconds: 5,
  })
  holding.release()
  expect(await Promise.all(sends.slice(0, 2))).toMatchObject([{ kind: 'accepted' }, { kind: 'accepted' }])
  expect(await client.sendTemplate(simulator, orderShipped)).toMatchObject({ kind: 'accepted' })
  expect(holding.received).toEqual(['msg_1', 'msg_2', 'msg_1'])
  await client.close()
})

test.each(['throws', 'returns'])('writes the request unless beforeWrite throws: it %s', async (ends) => {
  const before = simulator.requests.length
  const outcome = await whatsapp.sendTemplate(simulator, {
    ...orderShipped,
    beforeWrite: () => {
      expect(simulator.requests).toHaveLength(before)
      if (ends === 'throws') throw new Error('not now')
    },
  })

  expect(outcome.kind).toBe(ends === 'throws' ? 'unavailable' : 'accepted')
  expect(simulator.requests).toHaveLength(before + (ends === 'throws' ? 0 : 1))
})

test('never includes the token in an error or reason', async () => {
  const accessToken = 'EAAGm0PX4ZCpsBAKZCtoken'
  const sender = { ...simulator, accessToken }
  const quoting = fail({ status: 401, code: 190, title: `Malformed access token ${accessToken}`, details: accessToken })
  const outcomes = []
  for (const answer of [quoting, { kind: 'drop' }, { kind: 'text', status: 502, contentType: '', text: accessToken }]) {
    answerOnce(answer as SimulatedResponse)
    outcomes.push(await whatsapp.sendTemplate(sender, orderShipped))
    answerOnce(answer as SimulatedResponse)
    outcomes.push(await whatsapp.listTemplates(sender))
  }
  expect(outcomes).toHaveLength(6)
  expect(JSON.stringify(outcomes)).not.toContain(accessToken)
})

test('treats an invalid token as not sent and does not quote it', async () => {
  const outcome = await whatsapp.sendTemplate({ ...simulator, accessToken: 'secret\nline' }, orderShipped)
  expect(outcome).toMatchObject({ kind: 'unavailable', reason: expect.stringContaining('access token is intact') })
  expect(JSON.stringify(outcome)).not.toContain('secret')
})

test('returns the details of a phone number', async () => {
  expect(await whatsapp.getPhoneNumber(simulator)).toEqual({
    ok: true,
    value: {
      displayPhoneNumber: '+1 555-010-0000',
      verifiedName: 'Waybill Demo Shop',
      status: 'CONNECTED',
      qualityRating: 'GREEN',
      throughput: 'STANDARD',
    },
  })
})

test('finds a phone number on any page of an account', async () => {
  const { wabaId, accessToken } = simulator
  const ids = Array.from({ length: 250 }, (_, index) => ({ id: String(5_000_000_000_000_000 + index) }))
  simulator.intercept(({ path, query }) => {
    if (path !== `/${wabaId}/phone_numbers`) return undefined
    const from = Number(query.get('after') ?? 0)
    const to = from + Number(query.get('limit'))
    const next = to < ids.length && { next: 'https://graph.example/' }
    return ok({ data: ids.slice(from, to), paging: { cursors: { after: String(to) }, ...next } })
  })

  for (const [phoneNumberId, value] of [
    ['5000000000000000', true],
    ['5000000000000249', true],
    ['5000000000000250', false],
  ] as const)
    expect(await whatsapp.hasPhoneNumber({ wabaId, accessToken, phoneNumberId })).toEqual({ ok: true, value })
  simulator.intercept(undefined)
})

test('reports a rejected read and whether the account is still usable', async () => {
  expect(await whatsapp.getPhoneNumber({ ...simulator, accessToken: 'stale' })).toMatchObject({
    ok: false,
    refused: true,
    accountUnusable: true,
    reason: 'WhatsApp returned error code 190',
    error: { code: 190 },
  })
})

test('does not report an unreachable server as a rejection', async () => {
  const unreachable = createCloudApi({ url: `http://127.0.0.1:${await freePort()}`, version: 'v25.0' })
  expect(await unreachable.getPhoneNumber(simulator)).toEqual({
    ok: false,
    refused: false,
    accountUnusable: false,
    reason: 'connection refused',
  })
  await unreachable.close()
})

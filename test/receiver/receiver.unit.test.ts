import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { build } from 'rolldown'
import { Webhook } from 'standardwebhooks'
import { beforeEach, expect, expectTypeOf, test } from 'vitest'
import type { z } from 'zod'
import { type MessageFailedEvent, webhooks } from '../../contracts/events.ts'
import {
  createFetchWebhookHandler,
  createWebhookHandler,
  type EventOf,
  type ReceivedEvent,
  verifyWebhook,
  WebhookVerificationError,
} from '../../src/receiver/webhook.ts'
import { forFile } from '../support/lifetime.ts'

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const otherSecret = `whsec_${Buffer.alloc(24, 8).toString('base64')}`
const eventId = 'evt_01kah3bc4pj1m6x8z0v2t5r7qd'

interface Signed {
  body: string
  headers: Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>
}

/** Signs with the reference library of the specification. */
function sign(event: object | string, { secrets = [secret], at = new Date() } = {}): Signed {
  const body = typeof event === 'string' ? event : JSON.stringify(event)
  return {
    body,
    headers: {
      'webhook-id': eventId,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': secrets.map((key) => new Webhook(key).sign(eventId, at, body)).join(' '),
    },
  }
}

const delivered = webhooks['message.delivered'].example
const minute = 60_000

test('verifies the example of the specification', () => {
  // From standard-webhooks.md, "Signature scheme", and the tests of its libraries.
  const signature = new Webhook('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw').sign(
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    new Date(1_614_265_330_000),
    '{"test": 2432232314}',
  )
  expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

test.each(Object.entries(webhooks))('verifies and types %s', (_type, { example }) => {
  const { body, headers } = sign(example)

  const event = verifyWebhook(body, headers, secret)

  expect(event).toEqual({ eventId, ...example })
})

test('accepts bytes, Headers, text and records with header names in any case', () => {
  const { body, headers } = sign(delivered)
  const shouted = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]))

  for (const given of [headers, new Headers(headers), shouted])
    for (const raw of [body, Buffer.from(body), new TextEncoder().encode(body)])
      expect(verifyWebhook(raw, given, secret).type).toBe('message.delivered')
})

test('verifies non-ASCII text by its bytes', () => {
  const event = { ...delivered, data: { ...delivered.data, externalId: 'Añil \u{1F98A} \uFEFF' } }
  const { body, headers } = sign(event)

  expect(verifyWebhook(Buffer.from(body), headers, secret)).toMatchObject(event)
})

test.each([
  {
    what: 'a changed body',
    change: (signed: Signed) => ({ ...signed, body: `${signed.body} ` }),
    message: 'No matching signature found',
  },
  {
    what: 'a changed id',
    change: ({ body, headers }: Signed) => ({ body, headers: { ...headers, 'webhook-id': 'evt_2' } }),
    message: 'No matching signature found',
  },
  {
    what: 'a changed timestamp',
    change: ({ body, headers }: Signed) => ({
      body,
      headers: { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) },
    }),
    message: 'No matching signature found',
  },
  {
    what: 'another secret',
    change: () => sign(delivered, { secrets: [otherSecret] }),
    message: 'No matching signature found',
  },
  {
    what: 'a signature of another version',
    change: ({ body, headers }: Signed) => ({
      body,
      headers: { ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1,', 'v1a,') },
    }),
    message: 'No matching signature found',
  },
  {
    what: 'an old timestamp',
    change: () => sign(delivered, { at: new Date(Date.now() - 6 * minute) }),
    message: 'Message timestamp too old',
  },
  {
    what: 'a future timestamp',
    change: () => sign(delivered, { at: new Date(Date.now() + 6 * minute) }),
    message: 'Message timestamp too new',
  },
  ...(['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const).flatMap((name) =>
    [undefined, ''].map((value) => ({
      what: `the header ${name} with the value ${JSON.stringify(value)}`,
      change: ({ body, headers }: Signed) => ({ body, headers: { ...headers, [name]: value } }),
      message: `The header ${name} is missing`,
    })),
  ),
  {
    what: 'a signed body that is not JSON',
    change: () => sign('{"type":'),
    message: 'The body is correctly signed, but is not JSON',
  },
  {
    what: 'a signed body that is not an event',
    change: () => sign({ hello: 'world' }),
    message: 'The body is correctly signed, but is not a valid event: type ',
  },
  { what: 'an empty body', change: () => sign(''), message: 'The body is correctly signed, but is not JSON' },
  {
    what: 'a known type without its data',
    change: () => sign({ ...delivered, data: null }),
    message: 'The body is correctly signed, but is not a valid event: data must be an object',
  },
])('rejects $what', ({ change, message }) => {
  const { body, headers } = change(sign(delivered))
  const verify = () => verifyWebhook(body, headers, secret)

  expect(verify).toThrow(WebhookVerificationError)
  expect(verify).toThrow(message)
})

test('loads neither zod nor more than 12 kB, minified and compressed', async () => {
  const input = new URL('../../src/receiver/webhook.ts', import.meta.url).pathname
  const { output } = await build({ input, platform: 'node', output: { minify: true }, write: false })
  const [{ code, moduleIds }] = output

  expect(moduleIds.some((id) => id.includes('standardwebhooks'))).toBe(true)
  expect(moduleIds.filter((id) => id.includes('/zod/'))).toEqual([])
  expect(gzipSync(code).length).toBeLessThanOrEqual(12_000)
})

test('reads a repeated header once', () => {
  const { body, headers } = sign(delivered)
  const repeated = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value, 'another']]))

  expect(verifyWebhook(body, repeated, secret).eventId).toBe(eventId)
})

test.each([{}, new Headers(), { 'content-type': 'application/json' }])(
  'rejects a request without its headers',
  (headers) => {
    expect(() => verifyWebhook('{}', headers, secret)).toThrow('The header webhook-id is missing')
  },
)

test('names the error of the library as the cause', () => {
  const { body, headers } = sign(delivered, { secrets: [otherSecret] })

  expect(() => verifyWebhook(body, headers, secret)).toThrow(
    expect.objectContaining({ cause: expect.objectContaining({ message: 'No matching signature found' }) }),
  )
  expect(() => verifyWebhook(body, headers, 'whsec_***')).toThrow(
    expect.objectContaining({ message: expect.stringContaining('starts with whsec_'), cause: expect.any(Error) }),
  )
})

test('keeps a byte order mark, which the signature covers', () => {
  const { headers } = sign(delivered)
  const body = Buffer.from(`\uFEFF${JSON.stringify(delivered)}`)

  expect(() => verifyWebhook(body, headers, secret)).toThrow('No matching signature found')
})

test('rejects invalid UTF-8, even if the signature matches the decoded text', () => {
  const { body, headers } = sign({ ...delivered, timestamp: '\uFFFD' })
  const bytes = Buffer.from(Buffer.from(body).toString('latin1').replace('\u00EF\u00BF\u00BD', '\u00FF'), 'latin1')

  expect(() => verifyWebhook(bytes, headers, secret)).toThrow('not UTF-8')
})

test('reports a parsed body as a programming error', () => {
  const { headers } = sign(delivered)

  // @ts-expect-error The body must be raw.
  const verify = () => verifyWebhook(delivered, headers, secret)

  expect(verify).toThrow(TypeError)
  expect(verify).toThrow('pass the text or the bytes, not a parsed value')
})

test('rejects an invalid secret when the handler is created', () => {
  expect(() => createWebhookHandler({ secret: '', on: {} })).toThrow('starts with whsec_')
  expect(() => createWebhookHandler({ secret: 'whsec_***', on: {} })).toThrow('starts with whsec_')
  expect(() => createWebhookHandler({ secret: [], on: {} })).toThrow('At least one secret')
})

test('verifies with the old secret, the new one or both during a rotation', () => {
  const { body, headers } = sign(delivered, { secrets: [otherSecret, secret] })

  expect(verifyWebhook(body, headers, secret)).toMatchObject(delivered)
  expect(verifyWebhook(body, headers, otherSecret)).toMatchObject(delivered)
  expect(verifyWebhook(body, headers, [secret, otherSecret])).toMatchObject(delivered)
  const last = sign(delivered, { secrets: [otherSecret] })
  expect(verifyWebhook(last.body, last.headers, [secret, otherSecret])).toMatchObject(delivered)
})

test('returns an unknown event type with all its fields', () => {
  const { body, headers } = sign({ type: 'message.pinned', timestamp: '2027-01-01T00:00:00Z', data: { by: 'Ada' } })

  expect(verifyWebhook(body, headers, secret)).toEqual({
    eventId,
    type: 'unknown',
    sentType: 'message.pinned',
    timestamp: '2027-01-01T00:00:00Z',
    data: { by: 'Ada' },
  })
})

/** Compiles only if its type includes every event with its fields. */
function describeEvent(event: ReceivedEvent): string {
  switch (event.type) {
    case 'message.sent':
    case 'message.delivered':
    case 'message.read':
    case 'message.outcome_unknown':
      return event.data.externalId ?? event.data.messageId
    case 'message.failed':
      return event.data.error.message
    case 'message.replied':
      return event.data.reply.payload ?? event.data.reply.text ?? event.data.reply.kind
    case 'recipient.opted_out':
    case 'recipient.opted_in':
      return event.data.to
    case 'whatsapp_account.inactive':
      return event.data.reason
    case 'whatsapp_account.active':
      return event.data.phoneNumberId
    case 'whatsapp_account.token_expiring':
      return event.data.expiresAt
    case 'number.quality_changed':
      return event.data.qualityRating
    case 'endpoint.failing':
      return event.data.host
    case 'template.approved':
    case 'template.paused':
      return event.data.status
    case 'template.rejected':
      return event.data.reason
    case 'template.category_changed':
      return event.data.previousCategory
    case 'template.category_changing':
      return event.data.newCategory
    case 'webhook.test':
      return event.data.endpointId
    case 'unknown':
      return event.sentType
  }
}

test('types every event with its fields', () => {
  expectTypeOf<EventOf<'message.failed'>>().toExtend<z.infer<typeof MessageFailedEvent>>()
  expectTypeOf<EventOf<'unknown'>['data']>().toBeUnknown()
  createWebhookHandler({
    secret,
    on: {
      'message.read': (event) => expectTypeOf(event.data.status).toEqualTypeOf<'read'>(),
      // @ts-expect-error There is no such event.
      'message.red': () => undefined,
    },
  })
  expect(describeEvent({ eventId, ...webhooks['webhook.test'].example })).toMatch(/^ep_/)
})

const seen: ReceivedEvent[] = []
const handleWebhook = createWebhookHandler({
  secret: [secret, otherSecret],
  on: {
    'message.delivered': (event) => void seen.push(event),
    'message.failed': async () => Promise.reject(new Error('the order database is away')),
    unknown: (event) => void seen.push(event),
  },
})

/** The node:http receiver of the README. */
const server = await forFile(
  createServer(async (request, response) => {
    try {
      const { status, body } = await handleWebhook(await buffer(request), request.headers)
      response.writeHead(status).end(body)
    } catch {
      response.writeHead(500).end()
    }
  }).listen(0, '127.0.0.1'),
)
await once(server, 'listening')
// The address of a server that listens on a port has this type.
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
beforeEach(() => void seen.splice(0))

async function post({ body, headers }: Signed): Promise<{ status: number; text: string }> {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { ...headers, 'content-type': 'application/json' },
  })
  return { status: response.status, text: await response.text() }
}

test('acknowledges handled, unknown and ignored events on node:http', async () => {
  const future = { type: 'message.pinned', timestamp: '2027-01-01T00:00:00Z', data: {} }

  expect(await post(sign(delivered))).toEqual({ status: 204, text: '' })
  expect(await post(sign(future))).toEqual({ status: 204, text: '' })
  expect(await post(sign(webhooks['message.read'].example))).toEqual({ status: 204, text: '' })

  expect(seen).toMatchObject([{ eventId, type: 'message.delivered' }, { sentType: 'message.pinned' }])
})

test('rejects an unsigned request on node:http with a reason', async () => {
  const { body, headers } = sign(delivered)

  expect(await post({ body: body.replace('delivered', 'read'), headers })).toEqual({
    status: 400,
    text: 'No matching signature found',
  })
  expect(seen).toEqual([])
})

test('does not acknowledge an event whose handler failed', async () => {
  expect((await post(sign(webhooks['message.failed'].example))).status).toBe(500)
})

function toRequest({ body, headers }: Signed): Request {
  return new Request(url, { method: 'POST', body, headers })
}

test('returns a Response for each Request', async () => {
  const handle = createFetchWebhookHandler({ secret, on: { 'message.delivered': (event) => void seen.push(event) } })

  const taken = await handle(toRequest(sign(delivered)))
  const refused = await handle(toRequest(sign(delivered, { secrets: [otherSecret] })))

  expect([taken.status, taken.body]).toEqual([204, null])
  expect([refused.status, await refused.text()]).toEqual([400, 'No matching signature found'])
  expect(seen).toMatchObject([delivered])
})

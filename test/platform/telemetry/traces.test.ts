import { afterAll, expect, test } from 'vitest'
import { request } from 'undici'
import { sendMessage } from '../../../contracts/api/message.ts'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { signCallback } from '../../../src/whatsapp/callbacks/signature.ts'
import { startSimulator } from '../../../src/whatsapp/simulator/simulator.ts'
import { createCustomer, environmentOf, openApp } from '../../faults/customer.ts'
import { messagesCallback, status } from '../../support/callbacks.ts'
import { openTestDatabase } from '../../support/database.ts'
import { forFile } from '../../support/lifetime.ts'
import { type ReceivedSpan, startOtlpReceiver, untilReceived } from '../../support/otlp-receiver.ts'
import { type ServeProcess, startServe } from '../../support/process.ts'
import { accept, respond, startWebhookReceiver } from '../../support/webhook-receiver.ts'

const example = sendMessage.example.input
const appSecret = 'telemetry-app-secret'
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const callersSpan = '00f067aa0ba902b7'
const traceparent = `00-${traceId}-${callersSpan}-01`

const database = await forFile(openTestDatabase())
const simulator = await forFile(startSimulator())
const collector = await forFile(startOtlpReceiver())
const endpoint = await forFile(startWebhookReceiver())
const environment: Record<string, string> = {
  ...environmentOf(database.url ?? '', simulator),
  META_APP_SECRET: appSecret,
  WEBHOOK_ALLOW_PRIVATE: 'true',
  WEBHOOK_RETRY_SCHEDULE: Array.from({ length: 10 }, () => '1s').join(),
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_BSP_SCHEDULE_DELAY: '50',
}
const app = await forFile(openApp(environment))
const { apiKey, accountId } = await createCustomer(app, simulator)
await addEndpoint(app.deps, accountId, { url: `${endpoint.url}/hook?token=marked-secret-in-url` })
let node = await startServe(environment)
afterAll(async () => {
  node.kill('SIGTERM')
  await node.exited
})

function spansOf(trace: string): ReceivedSpan[] {
  return collector.spans.filter((span) => span.traceId === trace)
}

function untilSpan(find: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> {
  return untilReceived(collector, () => collector.spans.find(find))
}

async function report(to: ServeProcess, messageId: string, waMessageId: string, headers = {}): Promise<void> {
  const callback = messagesCallback(simulator.phoneNumberId, [
    status('delivered', waMessageId, { callbackData: messageId }),
  ])
  const body = Buffer.from(JSON.stringify(callback))
  const response = await request(`${to.url}/webhooks/whatsapp`, {
    method: 'POST',
    headers: { 'x-hub-signature-256': signCallback(body, appSecret), ...headers },
    body,
  })
  expect([response.statusCode, await response.body.text()]).toEqual([200, 'ok\n'])
}

async function countAttempts(): Promise<number> {
  const rows = await app.deps.db.selectFrom('webhook_deliveries').select('attempts').execute()
  return Math.min(...rows.map(({ attempts }) => attempts))
}

function webhookOf(messageId: string, type = 'message.delivered') {
  return endpoint.received.find(({ body }) => body.includes(messageId) && body.includes(`"${type}"`))
}

test("continues the caller's trace from the request to the database and WhatsApp", async () => {
  const { statusCode, body } = await node.send(apiKey, example, { traceparent, tracestate: 'vendor=value' })
  expect(statusCode).toBe(200)

  const server = await untilSpan((span) => span.traceId === traceId && span.kind === 2)
  expect(server).toMatchObject({
    name: 'POST /api/v1/message/send',
    parentSpanId: callersSpan,
    traceState: 'vendor=value',
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/api/v1/message/send',
      'http.response.status_code': 200,
      'waybill.account.id': accountId,
      'waybill.message.ids': [body.data?.messageId],
    },
    resource: { 'service.name': 'waybill' },
  })
  const children = spansOf(traceId).filter((span) => span.parentSpanId === server.spanId)
  expect(children.map(({ name }) => name)).toEqual([
    'find_caller',
    'find_send_facts',
    'record_pending',
    'POST /v26.0/{id}/messages',
    'settle_accepted',
  ])
  const [caller, , , whatsapp] = children
  expect(spansOf(traceId).find((span) => span.parentSpanId === caller?.spanId)).toMatchObject({
    kind: 3,
    attributes: { 'db.system.name': 'postgresql' },
  })
  expect(whatsapp).toMatchObject({ kind: 3, attributes: { 'http.response.status_code': 200 } })
  expect(simulator.requests.at(-1)?.headers).not.toHaveProperty('traceparent')
})

test('delivers the event of a callback in the trace of the callback', async () => {
  const { messageId = '', waMessageId = '' } = (await node.send(apiKey, example)).body.data ?? {}
  const other = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'

  await report(node, messageId, waMessageId, { traceparent: `00-${other}-${callersSpan}-01` })

  const delivery = await untilSpan((span) => span.traceId === other && span.name === 'POST webhook')
  const server = await untilSpan((span) => span.spanId === delivery.parentSpanId)
  expect(server).toMatchObject({ name: 'POST /webhooks/whatsapp', traceId: other, parentSpanId: callersSpan, kind: 2 })
  expect(delivery).toMatchObject({
    kind: 3,
    attributes: {
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'http.request.resend_count': 0,
      'server.address': '127.0.0.1',
      'waybill.account.id': accountId,
    },
  })
  expect(webhookOf(messageId)?.headers['traceparent']).toBe(`00-${other}-${delivery.spanId}-01`)
})

test('links a batch with the sends that share it', async () => {
  const sends = await Promise.all(Array.from({ length: 60 }, () => node.send(apiKey, example)))
  expect(new Set(sends.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))

  const batch = await untilSpan((span) => span.name === 'record_pending batch')
  expect(batch.parentSpanId).toBe('')
  expect(batch.links.length).toBeGreaterThan(1)
  expect(batch.attributes).toMatchObject({ 'db.operation.batch.size': batch.links.length })
  for (const link of batch.links) {
    const call = await untilSpan((span) => span.spanId === link.spanId)
    expect(call).toMatchObject({ name: 'record_pending', traceId: link.traceId })
    expect(call.traceId).not.toBe(batch.traceId)
    expect(call.links).toEqual([{ traceId: batch.traceId, spanId: batch.spanId }])
  }
  const statement = await untilSpan((span) => span.parentSpanId === batch.spanId)
  expect(statement.name).toBe('record_many_unclaimed')
})

test('does not sample a trace that the caller does not sample, and propagates that decision', async () => {
  const unsampled = 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'
  const { messageId = '', waMessageId = '' } = (await node.send(apiKey, example)).body.data ?? {}

  await report(node, messageId, waMessageId, { traceparent: `00-${unsampled}-${callersSpan}-00` })

  const webhook = await untilReceived(collector, () => webhookOf(messageId))
  expect(webhook.headers['traceparent']).toMatch(new RegExp(`^00-${unsampled}-[0-9a-f]{16}-00$`))
  expect(webhook.headers['traceparent']).not.toContain(callersSpan)
  expect(spansOf(unsampled)).toEqual([])
})

test.each(['00-00000000000000000000000000000000-00f067aa0ba902b7-01', 'ff-x', '00-', `${traceparent}-extra`, ''])(
  'starts a trace of its own for the invalid traceparent "%s"',
  async (invalid) => {
    const externalId = `invalid-${invalid.length}`
    const { body } = await node.send(apiKey, { ...example, externalId }, { traceparent: invalid })
    const server = await untilSpan(({ kind, attributes }) => {
      const ids = attributes['waybill.message.ids']
      return kind === 2 && Array.isArray(ids) && ids.includes(body.data?.messageId)
    })
    expect(server.parentSpanId).toBe('')
    expect(server.traceId).not.toBe(traceId)
  },
)

test('writes the trace into log lines', async () => {
  const logged = 'cccccccccccccccccccccccccccccccc'
  const response = await request(`${node.url}/webhooks/whatsapp`, {
    method: 'POST',
    headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}`, traceparent: `00-${logged}-${callersSpan}-01` },
    body: '{}',
  })
  expect(response.statusCode).toBe(401)
  await response.body.dump()

  const line = await untilReceived(collector, () => node.output.find((text) => text.includes(logged)))
  const server = await untilSpan((span) => span.traceId === logged && span.kind === 2)
  expect(JSON.parse(line)).toMatchObject({ trace_id: logged, span_id: server.spanId, trace_flags: '01' })
})

test('exports no secret, number or variable', async () => {
  const secrets = {
    header: 'marked-secret-header',
    path: 'marked-secret-path',
    variable: 'marked-secret-variable',
    query: 'marked-secret-query',
  }
  const { endpointId } = await addEndpoint(app.deps, accountId, {
    url: `${endpoint.url}/${secrets.path}`,
    headers: [['x-secret', secrets.header]],
  })
  const sent = await node.send(apiKey, {
    ...example,
    to: '34699887766',
    variables: { ...example.variables, 1: secrets.variable },
  })
  expect(sent.statusCode).toBe(200)
  const { messageId = '', waMessageId = '' } = sent.body.data ?? {}
  await report(node, messageId, waMessageId)
  await node.send(apiKey, { ...example, to: '+34 699887766', variables: { 1: secrets.variable } })
  await node.send(`${apiKey.slice(0, -1)}x`, example)
  await node.get(`/api/v1/message/marked?externalId=${secrets.query}`, apiKey)
  await node.get(`/api/v1/suppression?to=34699887766&token=${secrets.query}`, apiKey)
  await node.get(`/api/v1/${secrets.path}`, apiKey)
  await untilSpan(({ attributes }) => attributes['waybill.endpoint.id'] === endpointId)
  expect(endpoint.at(`/${secrets.path}`)).toHaveLength(1)
  await untilSpan(({ name }) => name === 'GET /api/v1/message/:messageId')

  const exported = Buffer.concat(collector.requests.map(({ body }) => body)).toString('latin1')
  expect(exported).toContain(accountId)
  const hidden = [
    ...Object.values(secrets),
    'marked-secret-in-url',
    '699887766',
    waMessageId,
    apiKey,
    apiKey.slice(-20),
  ]
  const more = [
    simulator.accessToken,
    simulator.phoneNumberId,
    appSecret,
    example.to,
    String(environment['WAYBILL_SECRET_KEY']),
  ]
  for (const secret of [...hidden, ...more]) expect(exported).not.toContain(secret)
  for (const header of collector.requests) expect(JSON.stringify(header.headers)).not.toContain('marked-secret')
})

test('keeps the trace when another process repeats the delivery', async () => {
  const kept = 'dddddddddddddddddddddddddddddddd'
  const { messageId = '', waMessageId = '' } = (await node.send(apiKey, example)).body.data ?? {}
  endpoint.behave(respond(500))
  await report(node, messageId, waMessageId, { traceparent: `00-${kept}-${callersSpan}-01` })
  const failed = await untilSpan((span) => span.traceId === kept && span.attributes['error.type'] === '500')
  await expect.poll(countAttempts).toBeGreaterThan(0)
  node.kill('SIGKILL')
  await node.exited
  endpoint.behave(accept)

  node = await startServe(environment)
  const repeated = await untilSpan(
    (span) => span.traceId === kept && span.attributes['http.response.status_code'] === 200 && span.kind === 3,
  )

  expect(repeated).toMatchObject({ name: 'POST webhook', parentSpanId: failed.parentSpanId })
  expect(repeated.attributes['http.request.resend_count']).toBeGreaterThan(0)
  expect(repeated.attributes['waybill.delivery.id']).toMatch(/^dlv_/)
  expect(repeated.resource['service.instance.id']).not.toBe(failed.resource['service.instance.id'])
  const headers = endpoint.received.filter(({ body }) => body.includes(messageId)).map((webhook) => webhook.headers)
  expect(headers.map((header) => header['traceparent'])).toContain(`00-${kept}-${repeated.spanId}-01`)
})

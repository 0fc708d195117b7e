import { expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { addEndpoint } from '../../src/webhooks/endpoints/change.ts'
import { startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import { createCustomer, environmentOf, openApp } from '../faults/customer.ts'
import { openTestDatabase } from '../support/database.ts'
import { startOtlpReceiver, untilReceived } from '../support/otlp-receiver.ts'
import { freePort } from '../support/postgres.ts'
import { type ServeProcess, startServe } from '../support/process.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'
import { forFile } from '../support/lifetime.ts'

const example = sendMessage.example.input

const database = await forFile(openTestDatabase())
const simulator = await forFile(startSimulator())
const endpoint = await forFile(startWebhookReceiver())
const environment = {
  ...environmentOf(database.url ?? '', simulator),
  WEBHOOK_ALLOW_PRIVATE: 'true',
  METRICS_TOKEN: 'metrics',
  DATABASE_LOCK_TIMEOUT: '10s',
  DATABASE_STATEMENT_TIMEOUT: '15s',
  OTEL_BSP_SCHEDULE_DELAY: '20',
  OTEL_METRIC_EXPORT_INTERVAL: '100',
}
const app = await forFile(openApp(environment))
const { accountId, apiKey } = await createCustomer(app, simulator)
await addEndpoint(app.deps, accountId, { url: endpoint.url, events: ['message.sent'] })

async function stop(node: ServeProcess): Promise<void> {
  node.kill('SIGTERM')
  expect(await node.exited).toEqual({ code: 0, signal: null })
}

function linesWith(node: ServeProcess, text: string): string[] {
  return node.output.filter((line) => line.includes(text))
}

async function send(node: ServeProcess, count: number): Promise<void> {
  const responses = await Promise.all(Array.from({ length: count }, () => node.send(apiKey, example)))
  expect(new Set(responses.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
}

/** Prints each module of OpenTelemetry that a process loads. */
const printLoaded = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  registerHooks({
    resolve: (specifier, context, next) => {
      const resolved = next(specifier, context)
      const [name] = /@opentelemetry.[^/]+/.exec(resolved.url) ?? []
      if (name) console.error('loaded ' + name)
      return resolved
    },
  })
`)}`

// test/platform/telemetry/settings.unit.test.ts covers the variables that turn it on.
test.each([
  { title: 'no package of OpenTelemetry with exporters that are none', isOn: false },
  { title: 'the packages of OpenTelemetry with an endpoint', isOn: true },
])('loads $title', async ({ isOn }) => {
  const collector = await startOtlpReceiver()
  const node = await startServe({
    ...environment,
    NODE_OPTIONS: `--import=${printLoaded}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    ...(!isOn && { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }),
  })
  const before = endpoint.received.length
  await send(node, 1)
  await expect.poll(() => endpoint.received.length).toBe(before + 1)
  await stop(node)

  const loaded = new Set(linesWith(node, 'loaded @opentelemetry').map((line) => line.split('/')[1]))
  // prom-client loads the API package, which does nothing by itself.
  expect(isOn ? loaded.has('sdk-trace') : [...loaded]).toEqual(isOn ? true : ['api'])
  expect(endpoint.received.at(-1)?.headers['traceparent'] !== undefined).toBe(isOn)
  expect(collector.requests.length > 0).toBe(isOn)
  await collector.close()
})

test('sends the configured headers, and flushes collected data at shutdown', async () => {
  const collector = await startOtlpReceiver()
  const node = await startServe({
    ...environment,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/custom/traces`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector-token',
    OTEL_SERVICE_NAME: 'messages',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.instance.id=one',
    OTEL_BSP_SCHEDULE_DELAY: '600000',
  })
  await send(node, 1)
  expect(collector.requests).toEqual([])
  await stop(node)

  expect(collector.requests.map(({ path }) => path)).toEqual(['/custom/traces'])
  expect(collector.requests[0]?.headers).toMatchObject({
    authorization: 'Bearer collector-token',
    'content-type': 'application/x-protobuf',
  })
  expect(collector.spans.find(({ kind }) => kind === 2)?.resource).toMatchObject({
    'service.name': 'messages',
    'service.instance.id': 'one',
    'deployment.environment.name': 'test',
  })
  expect(node.output.join('\n')).not.toContain('collector-token')
  await collector.close()
})

test('samples by the configured ratio', async () => {
  const collector = await startOtlpReceiver()
  const sampled = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_METRICS_EXPORTER: 'none' }
  const node = await startServe({
    ...environment,
    ...sampled,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0',
  })
  await send(node, 20)
  const traceparent = `00-${'e'.repeat(32)}-${'1'.repeat(16)}-01`
  await node.send(apiKey, example, { traceparent })
  await stop(node)

  // An event of the previous test may arrive now too, and belongs to a trace of that test.
  const roots = collector.spans.filter(({ kind }) => kind === 2)
  expect(new Set(roots.map(({ traceId }) => traceId))).toEqual(new Set(['e'.repeat(32)]))
  await collector.close()
})

test('ignores trace context without a propagator', async () => {
  const collector = await startOtlpReceiver()
  const node = await startServe({
    ...environment,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_PROPAGATORS: 'none',
  })
  const { body } = await node.send(apiKey, example, { traceparent: `00-${'e'.repeat(32)}-${'1'.repeat(16)}-01` })
  // Events of the previous test may arrive now too.
  const delivered = () => endpoint.received.find((webhook) => webhook.body.includes(body.data?.messageId ?? 'none'))
  await expect.poll(delivered).toBeDefined()
  await stop(node)

  expect(delivered()?.headers).not.toHaveProperty('traceparent')
  const deliveries = collector.spans.filter(({ name }) => name === 'POST webhook').map(({ traceId }) => traceId)
  const server = collector.spans.find(({ kind }) => kind === 2)
  expect(server?.traceId).not.toBe('e'.repeat(32))
  expect(deliveries).toContain(server?.traceId)
  await collector.close()
})

test('reports a failing collector once, and its recovery', async () => {
  const collector = await startOtlpReceiver()
  const quote = 'what the collector answers'
  collector.behave((response) => void response.writeHead(400).end(quote))
  const node = await startServe({
    ...environment,
    LOG_LEVEL: 'info',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_METRICS_EXPORTER: 'none',
  })
  for (let exports = 1; exports <= 4; exports++) {
    await send(node, 1)
    await untilReceived(collector, () => (collector.requests.length >= exports ? true : undefined))
  }
  await untilReceived(collector, () => linesWith(node, 'could not export')[0])
  collector.behave((response) => void response.end())
  await send(node, 1)
  await untilReceived(collector, () => linesWith(node, 'telemetry is exported again')[0])
  await stop(node)

  expect(linesWith(node, 'could not export').map((line): unknown => JSON.parse(line))).toEqual([
    expect.objectContaining({ level: 'warn', signal: 'traces', reason: 'HTTP 400' }),
  ])
  expect(node.output.join('\n')).not.toContain(quote)
  await collector.close()
})

test.each([
  { title: 'is down', isDown: true },
  { title: 'never answers', isDown: false },
])('sends and stops while the collector $title', async ({ isDown }) => {
  const collector = await startOtlpReceiver()
  collector.behave(() => {})
  const url = isDown ? `http://127.0.0.1:${await freePort()}` : collector.url
  const node = await startServe({ ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: url })
  for (let round = 0; round < 3; round++) await send(node, 5)
  await expect.poll(() => collector.requests.length > 0).toBe(!isDown)
  await stop(node)
  expect(linesWith(node, 'could not export').length).toBeLessThanOrEqual(2)
  await collector.close()
})

test('exports the metrics of each process', async () => {
  const collector = await startOtlpReceiver()
  const node = await startServe(
    { ...environment, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.url}/v1/metrics` },
    ['--processes', '2'],
  )
  await send(node, 10)
  const instances = () => Map.groupBy(collector.metrics, ({ resource }) => resource['service.instance.id'])
  const countSends = () =>
    [...instances().values()].reduce((sum, metrics) => {
      const sends = metrics.findLast(({ name }) => name === 'waybill_whatsapp_sends_total')
      return sum + (sends?.points.find(({ attributes }) => attributes['outcome'] === 'accepted')?.value ?? 0)
    }, 0)
  await expect.poll(countSends).toBe(10)
  await stop(node)

  expect(instances().size).toBe(2)
  expect(collector.spans).toEqual([])
  const duration = collector.metrics.findLast(
    ({ name, points }) => name === 'waybill_http_request_duration_seconds' && points.length > 0,
  )
  expect(duration).toMatchObject({ kind: 'histogram', unit: 's' })
  const point = duration?.points.find(({ attributes }) => attributes['route'] === '/api/v1/message/send')
  expect(point?.counts).toHaveLength((point?.bounds?.length ?? 0) + 1)
  expect(point?.counts?.reduce((sum, count) => sum + count, 0)).toBe(point?.count)
  await collector.close()
})

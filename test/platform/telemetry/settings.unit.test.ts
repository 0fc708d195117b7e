import { expect, test } from 'vitest'
import { readTelemetrySettings } from '../../../src/platform/telemetry/settings.ts'

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' }

test.each([
  {},
  { OTEL_SERVICE_NAME: 'messages' },
  { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
  { ...endpoint, OTEL_SDK_DISABLED: 'TRUE' },
  { ...endpoint, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' },
])('exports nothing with %j', (environment) => {
  expect(readTelemetrySettings(environment)).toBeUndefined()
})

test.each([
  { environment: endpoint, traces: true, metrics: true },
  { environment: { OTEL_TRACES_EXPORTER: 'otlp' }, traces: true, metrics: false },
  { environment: { ...endpoint, OTEL_TRACES_EXPORTER: 'none' }, traces: false, metrics: true },
  { environment: { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://otel' }, traces: false, metrics: true },
  { environment: { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }, traces: true, metrics: true },
])('exports traces: $traces and metrics: $metrics with $environment', ({ environment, traces, metrics }) => {
  expect(readTelemetrySettings(environment)).toMatchObject({ traces, metrics, warnings: [] })
})

test.each([
  {
    variables: { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    warning: /^OTEL_EXPORTER_OTLP_PROTOCOL is "grpc", so no traces/,
  },
  { variables: { OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/json' }, warning: /METRICS_PROTOCOL is "http.json"/ },
  { variables: { OTEL_TRACES_EXPORTER: 'jaeger' }, warning: /^OTEL_TRACES_EXPORTER names "jaeger"/ },
  { variables: { OTEL_TRACES_SAMPLER: 'xray' }, warning: /parentbased_always_on is used$/ },
  {
    variables: { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' },
    warning: /^OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1/,
  },
  { variables: { OTEL_PROPAGATORS: 'tracecontext,b3' }, warning: /^OTEL_PROPAGATORS names "b3"/ },
  { variables: { OTEL_METRIC_EXPORT_INTERVAL: '0' }, warning: /^OTEL_METRIC_EXPORT_INTERVAL is not/ },
  { variables: { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }, warning: /^the OTLP endpoint of traces is not/ },
])('warns of $variables', ({ variables, warning }) => {
  const settings = readTelemetrySettings({ ...endpoint, ...variables })
  expect(settings?.warnings[0]).toMatch(warning)
})

test('does not repeat an endpoint, which can contain a password', () => {
  const settings = readTelemetrySettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://user:marked-secret@host' })
  expect(settings?.warnings).toHaveLength(2)
  expect(JSON.stringify(settings)).not.toContain('marked-secret')
})

test.each([
  { name: 'always_off', sampler: { kind: 'always_off', isParentBased: false } },
  { name: 'parentbased_always_off', sampler: { kind: 'always_off', isParentBased: true } },
  { name: 'traceidratio', sampler: { kind: 'traceidratio', ratio: 0.25, isParentBased: false } },
])('reads the sampler $name', ({ name, sampler }) => {
  const variables = { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: '0.25' }
  expect(readTelemetrySettings({ ...endpoint, ...variables })).toMatchObject({ sampler, warnings: [] })
})

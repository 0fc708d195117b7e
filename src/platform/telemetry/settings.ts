/** Which signals are exported by OTLP. The packages of OpenTelemetry read the endpoints, headers and timeouts themselves. */
export interface TelemetrySettings {
  traces: boolean
  metrics: boolean
  sampler: SamplerSettings
  /** Whether incoming trace context is continued and passed on (`traceparent`, `tracestate`). */
  propagates: boolean
  /** How long spans and metrics are collected before they are sent; undefined: the default of OpenTelemetry. */
  spanDelayMilliseconds: number | undefined
  metricIntervalMilliseconds: number | undefined
  /** Variables that are ignored, as OpenTelemetry prescribes for unknown values. */
  warnings: string[]
}

export interface SamplerSettings {
  kind: 'always_on' | 'always_off' | 'traceidratio'
  /** Only for `traceidratio`. */
  ratio: number
  isParentBased: boolean
}

type Environment = Readonly<Record<string, string | undefined>>
type Signal = 'traces' | 'metrics'

/**
 * Reads the standard environment variables of OpenTelemetry. Undefined if nothing is exported: unlike in the
 * specification, a signal is off until an endpoint or its exporter is named.
 */
export function readTelemetrySettings(given: Environment): TelemetrySettings | undefined {
  // The specification requires that an empty variable counts as absent.
  const environment = Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value?.trim() ? [[name, value.trim()]] : [])),
  )
  if (environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return undefined
  const warnings: string[] = []
  const warn = (problem: string) => warnings.push(problem)
  const traces = isExported('traces', environment, warn)
  const metrics = isExported('metrics', environment, warn)
  if (!traces && !metrics && warnings.length === 0) return undefined
  return {
    traces,
    metrics,
    sampler: readSampler(environment, warn),
    propagates: readPropagators(environment, warn),
    spanDelayMilliseconds: readMilliseconds(environment, 'OTEL_BSP_SCHEDULE_DELAY', warn),
    metricIntervalMilliseconds: readMilliseconds(environment, 'OTEL_METRIC_EXPORT_INTERVAL', warn),
    warnings,
  }
}

type Warn = (problem: string) => void

function isExported(signal: Signal, environment: Environment, warn: Warn): boolean {
  const upper = signal.toUpperCase()
  const name = `OTEL_${upper}_EXPORTER`
  const exporters = environment[name]?.split(',').map((exporter) => exporter.trim())
  for (const exporter of exporters ?? [])
    if (exporter !== 'otlp' && exporter !== 'none')
      warn(`${name} names ${quote(exporter)}, which is not supported: use otlp or none`)
  if (exporters && !exporters.includes('otlp')) return false
  const endpoint = environment[`OTEL_EXPORTER_OTLP_${upper}_ENDPOINT`] ?? environment['OTEL_EXPORTER_OTLP_ENDPOINT']
  if (!exporters && endpoint === undefined) return false
  // The packages would fall back to localhost.
  if (endpoint !== undefined && !(URL.canParse(endpoint) && /^https?:\/\/./.test(endpoint))) {
    warn(`the OTLP endpoint of ${signal} is not an http:// or https:// URL, so no ${signal} are exported`)
    return false
  }
  return usesProtobuf(signal, environment, warn)
}

function usesProtobuf(signal: Signal, environment: Environment, warn: Warn): boolean {
  const specific = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_PROTOCOL`
  const name = environment[specific] === undefined ? 'OTEL_EXPORTER_OTLP_PROTOCOL' : specific
  const protocol = environment[name] ?? 'http/protobuf'
  if (protocol === 'http/protobuf') return true
  warn(
    `${name} is ${quote(protocol)}, so no ${signal} are exported: only http/protobuf is supported, for which collectors commonly listen on port 4318`,
  )
  return false
}

const samplerKinds = ['always_on', 'always_off', 'traceidratio'] as const

function readSampler(environment: Environment, warn: Warn): SamplerSettings {
  const standard: SamplerSettings = { kind: 'always_on', ratio: 1, isParentBased: true }
  const name = environment['OTEL_TRACES_SAMPLER']
  if (name === undefined) return standard
  const kind = samplerKinds.find((known) => known === name.replace(/^parentbased_/, ''))
  if (!kind) {
    warn(`OTEL_TRACES_SAMPLER names ${quote(name)}, which is not supported: parentbased_always_on is used`)
    return standard
  }
  const argument = environment['OTEL_TRACES_SAMPLER_ARG']
  const ratio = Number(argument ?? 1)
  const isRatio = ratio >= 0 && ratio <= 1
  if (kind === 'traceidratio' && !isRatio) warn('OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1: 1 is used')
  return { kind, ratio: isRatio ? ratio : 1, isParentBased: name.startsWith('parentbased_') }
}

function readPropagators(environment: Environment, warn: Warn): boolean {
  const names = environment['OTEL_PROPAGATORS']?.split(',').map((name) => name.trim()) ?? ['tracecontext']
  for (const name of names)
    if (!['tracecontext', 'baggage', 'none'].includes(name))
      warn(`OTEL_PROPAGATORS names ${quote(name)}, which is not supported: use tracecontext or none`)
  return names.includes('tracecontext')
}

function readMilliseconds(environment: Environment, name: string, warn: Warn): number | undefined {
  const text = environment[name]
  if (text === undefined) return undefined
  const milliseconds = Number(text)
  if (Number.isInteger(milliseconds) && milliseconds > 0) return milliseconds
  warn(`${name} is not a whole number of milliseconds above 0: the default is used`)
  return undefined
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 40))
}

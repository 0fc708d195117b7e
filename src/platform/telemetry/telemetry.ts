import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Context, trace, TraceFlags } from '@opentelemetry/api'
import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource,
  detectResources,
  type Resource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Registry } from 'prom-client'
import type { Logger } from '../log.ts'
import { readRegistry } from './registry-metrics.ts'
import type { SamplerSettings, TelemetrySettings } from './settings.ts'
import { createTracing } from './spans.ts'
import type { Tracing } from './tracing.ts'

/** Exports spans and metrics by OTLP. */
export interface Telemetry {
  /** Undefined if only metrics are exported. */
  tracing: Tracing | undefined
  /** Starts to export metrics. Problems with any export are logged to `log`. */
  start(log: Logger): void
  /** Sends what has been collected, within a time limit. */
  stop(): Promise<'flushed' | 'timed out'>
}

export interface TelemetryOptions {
  registry: Registry
  version: string
}

/** Collectors respond within milliseconds; a slow one must not delay a shutdown. */
const flushMilliseconds = 3_000
/** A flush sends the whole queue of 2048 spans in four concurrent requests, while one may already be in progress. */
const concurrencyLimit = 6

/** This module loads the OpenTelemetry packages: import it only if something is exported. */
export function createTelemetry(settings: TelemetrySettings, { registry, version }: TelemetryOptions): Telemetry {
  const startedAt = Date.now() - process.uptime() * 1000
  const resource = describeProcess(version)
  let log: Logger | undefined
  const readLog = () => log
  const tracer = settings.traces ? createTracerProvider(settings, resource, readLog) : undefined
  let meter: MeterProvider | undefined
  return {
    tracing: tracer && createTracing(tracer.getTracer('waybill', version), settings),
    start: (to) => {
      log = to
      for (const warning of settings.warnings) log.warn(warning)
      if (settings.metrics) meter = createMeterProvider(settings, { registry, startedAt, resource, readLog })
    },
    stop: async () => {
      const flushed = Promise.allSettled([tracer?.shutdown(), meter?.shutdown()]).then(() => 'flushed' as const)
      const timeout = new AbortController()
      const result = await Promise.race([
        flushed,
        delay(flushMilliseconds, 'timed out' as const, { signal: timeout.signal }),
      ])
      timeout.abort()
      return result
    },
  }
}

/** Attributes set by the operator take precedence. */
function describeProcess(version: string): Resource {
  const own = resourceFromAttributes({
    'service.name': 'waybill',
    'service.version': version,
    // Each process has metrics of its own.
    'service.instance.id': randomUUID(),
    'process.pid': process.pid,
  })
  const detectors = [resourceAttributesEnvDetector, serviceNameEnvDetector]
  return defaultResource().merge(own).merge(detectResources({ detectors }))
}

function createTracerProvider(
  { sampler, spanDelayMilliseconds }: TelemetrySettings,
  resource: Resource,
  readLog: () => Logger | undefined,
): TracerProvider {
  const exporter = new OTLPTraceExporter({ concurrencyLimit })
  reportFailures(exporter, 'traces', readLog)
  const processor = new BatchSpanProcessor({
    exporter,
    ...(spanDelayMilliseconds !== undefined && { scheduledDelayMillis: spanDelayMilliseconds }),
  })
  return new TracerProvider({ resource, sampler: sampleWithLinks(createSampler(sampler)), spanProcessors: [processor] })
}

function createMeterProvider(
  { metricIntervalMilliseconds }: TelemetrySettings,
  {
    registry,
    startedAt,
    resource,
    readLog,
  }: {
    registry: Registry
    startedAt: number
    resource: Resource
    readLog: () => Logger | undefined
  },
): MeterProvider {
  const exporter = new OTLPMetricExporter({ concurrencyLimit })
  reportFailures(exporter, 'metrics', readLog)
  const reader = new PeriodicExportingMetricReader({
    exporter,
    metricProducers: [readRegistry(registry, startedAt)],
    ...(metricIntervalMilliseconds !== undefined && { exportIntervalMillis: metricIntervalMilliseconds }),
  })
  return new MeterProvider({ resource, readers: [reader] })
}

function createSampler({ kind, ratio, isParentBased }: SamplerSettings): Sampler {
  const root = createRootSampler(kind, ratio)
  return isParentBased ? new ParentBasedSampler({ root }) : root
}

function createRootSampler(kind: SamplerSettings['kind'], ratio: number): Sampler {
  switch (kind) {
    case 'always_on':
      return new AlwaysOnSampler()
    case 'always_off':
      return new AlwaysOffSampler()
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio)
  }
}

/** Samples a span that several traces share if one of them is sampled, because their links point to it. */
function sampleWithLinks(sampler: Sampler): Sampler {
  return {
    shouldSample: (context: Context, traceId, name, kind, attributes, links) =>
      links.some((link) => (link.context.traceFlags & TraceFlags.SAMPLED) !== 0) && !trace.getSpan(context)
        ? { decision: SamplingDecision.RECORD_AND_SAMPLED }
        : sampler.shouldSample(context, traceId, name, kind, attributes, links),
    toString: () => sampler.toString(),
  }
}

interface Exporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void
}

/**
 * Logs when exports start to fail and when they succeed again, and nothing in between. Every export is reported to the
 * SDK as successful, so that it neither logs nor retries a failure. `log` is called each time, because it is set later.
 */
function reportFailures<Items>(exporter: Exporter<Items>, signal: string, log: () => Logger | undefined): void {
  let isFailing = false
  const send = exporter.export.bind(exporter)
  exporter.export = (items, done) =>
    send(items, ({ code, error }) => {
      const hasFailed = code !== ExportResultCode.SUCCESS
      if (hasFailed && !isFailing)
        log()?.warn(
          { signal, reason: describe(error) },
          'could not export telemetry; it is dropped until the collector accepts it. Further failures are not logged',
        )
      if (!hasFailed && isFailing) log()?.info({ signal }, 'telemetry is exported again')
      isFailing = hasFailed
      done({ code: ExportResultCode.SUCCESS })
    })
}

/** Returns the status or the code of the network error, never the response of the collector. */
function describe(error: Error | undefined): string {
  const code = error && 'code' in error ? error.code : undefined
  if (typeof code === 'number') return `HTTP ${code}`
  if (typeof code === 'string') return code
  return error?.message === 'Request timed out' ? 'timed out' : 'no usable response'
}

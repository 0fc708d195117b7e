import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { parse } from 'protobufjs'
import { eventually } from './eventually.ts'
import { listen } from './listen.ts'

/** The messages of opentelemetry-proto 1.9 that an exporter of spans and metrics sends, with their field numbers. */
const { root } = parse(`
  syntax = "proto3";
  message AnyValue {
    oneof value {
      string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; ArrayValue array_value = 5;
    }
  }
  message ArrayValue { repeated AnyValue values = 1; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message Traces { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
    fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9;
    repeated Event events = 11; repeated Link links = 13; Status status = 15;
  }
  message Event { string name = 2; repeated KeyValue attributes = 3; }
  message Link { bytes trace_id = 1; bytes span_id = 2; }
  message Status { string message = 2; int32 code = 3; }
  message Metrics { repeated ResourceMetrics resource_metrics = 1; }
  message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
  message ScopeMetrics { repeated Metric metrics = 2; }
  message Metric { string name = 1; string unit = 3; Gauge gauge = 5; Sum sum = 7; Histogram histogram = 9; }
  message Gauge { repeated NumberDataPoint data_points = 1; }
  message Sum { repeated NumberDataPoint data_points = 1; int32 aggregation_temporality = 2; bool is_monotonic = 3; }
  message Histogram { repeated HistogramDataPoint data_points = 1; int32 aggregation_temporality = 2; }
  message NumberDataPoint { repeated KeyValue attributes = 7; double as_double = 4; sfixed64 as_int = 6; }
  message HistogramDataPoint {
    repeated KeyValue attributes = 9; fixed64 count = 4; double sum = 5; repeated fixed64 bucket_counts = 6;
    repeated double explicit_bounds = 7;
  }
`)

export interface ReceivedSpan {
  traceId: string
  spanId: string
  /** Empty for the first span of a trace. */
  parentSpanId: string
  traceState: string
  name: string
  /** 1 internal, 2 server, 3 client. */
  kind: number
  attributes: Record<string, unknown>
  links: { traceId: string; spanId: string }[]
  resource: Record<string, unknown>
}

interface ReceivedMetric {
  name: string
  unit: string
  kind: 'gauge' | 'sum' | 'histogram'
  points: {
    attributes: Record<string, unknown>
    value?: number
    count?: number
    counts?: number[]
    bounds?: number[]
  }[]
  resource: Record<string, unknown>
}

interface ReceivedExport {
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
}

/** An OTLP collector. */
export interface OtlpReceiver {
  url: string
  requests: ReceivedExport[]
  spans: ReceivedSpan[]
  metrics: ReceivedMetric[]
  /** Sets how it responds to later requests; a request without a response stays open. */
  behave(respond: (response: ServerResponse) => void): void
  close(): Promise<void>
}

function accept(response: ServerResponse): void {
  response.end()
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const [requests, spans, metrics]: [ReceivedExport[], ReceivedSpan[], ReceivedMetric[]] = [[], [], []]
  let respond = accept
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      requests.push({ path: request.url ?? '', headers: request.headers, body })
      if (request.url?.endsWith('/traces') === true) spans.push(...readSpans(body))
      if (request.url?.endsWith('/metrics') === true) metrics.push(...readMetrics(body))
      respond(response)
    })
    response.on('error', () => {})
  })
  const { url, close } = await listen(server)
  return {
    url,
    requests,
    spans,
    metrics,
    behave: (next) => {
      respond = next
    },
    close,
  }
}

/** Waits until the received data meets a condition. The error shows the received spans. */
export function untilReceived<Found>(
  { spans }: Pick<OtlpReceiver, 'spans'>,
  find: () => Found | undefined,
): Promise<Found> {
  return eventually(() => {
    const found = find()
    if (found !== undefined) return found
    throw new Error(`not received; the spans are:\n${spans.map((span) => `${span.traceId} ${span.name}`).join('\n')}`)
  })
}

interface RawValue {
  stringValue?: string
  intValue?: string
  doubleValue?: number
  boolValue?: boolean
  arrayValue?: { values: RawValue[] }
}
type RawAttributes = { key: string; value?: RawValue }[]
interface RawResource {
  resource?: { attributes: RawAttributes }
}

interface RawSpan {
  traceId: Buffer
  spanId: Buffer
  parentSpanId?: Buffer
  traceState?: string
  name: string
  kind: number
  attributes: RawAttributes
  links: { traceId: Buffer; spanId: Buffer }[]
}
interface RawTraces {
  resourceSpans: (RawResource & { scopeSpans: { spans: RawSpan[] }[] })[]
}

interface RawPoint {
  attributes: RawAttributes
  asDouble?: number
  asInt?: string
  count?: string
  bucketCounts?: string[]
  explicitBounds?: number[]
}
interface RawPoints {
  dataPoints: RawPoint[]
}
interface RawMetric {
  name: string
  unit: string
  gauge?: RawPoints
  sum?: RawPoints
  histogram?: RawPoints
}
interface RawMetrics {
  resourceMetrics: (RawResource & { scopeMetrics: { metrics: RawMetric[] }[] })[]
}

function decode(name: string, body: Buffer): unknown {
  const type = root.lookupType(name)
  return type.toObject(type.decode(body), { bytes: Buffer, longs: String, arrays: true })
}

function toAttributes(list: RawAttributes = []): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value }) => [key, toValue(value)]))
}

function toValue(value: RawValue | undefined): unknown {
  if (value?.intValue !== undefined) return Number(value.intValue)
  if (value?.arrayValue) return value.arrayValue.values.map(toValue)
  return value?.stringValue ?? value?.doubleValue ?? value?.boolValue
}

function hex(bytes: Buffer | undefined): string {
  return bytes ? Buffer.from(bytes).toString('hex') : ''
}

function readSpans(body: Buffer): ReceivedSpan[] {
  const { resourceSpans } = decode('Traces', body) as RawTraces
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentSpanId: hex(span.parentSpanId),
        traceState: span.traceState ?? '',
        name: span.name,
        kind: span.kind,
        attributes: toAttributes(span.attributes),
        links: span.links.map((link) => ({ traceId: hex(link.traceId), spanId: hex(link.spanId) })),
        resource: toAttributes(resource?.attributes),
      })),
    ),
  )
}

function readMetrics(body: Buffer): ReceivedMetric[] {
  const { resourceMetrics } = decode('Metrics', body) as RawMetrics
  return resourceMetrics.flatMap(({ resource, scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) =>
      metrics.map(({ name, unit, gauge, sum, histogram }) => ({
        name,
        unit,
        kind: histogram ? 'histogram' : sum ? 'sum' : 'gauge',
        points: (histogram ?? sum ?? gauge)?.dataPoints.map(readPoint) ?? [],
        resource: toAttributes(resource?.attributes),
      })),
    ),
  )
}

function readPoint({ attributes, asDouble, asInt, count, bucketCounts, explicitBounds }: RawPoint) {
  return {
    attributes: toAttributes(attributes),
    ...(count === undefined
      ? { value: asDouble ?? Number(asInt ?? 0) }
      : { count: Number(count), counts: bucketCounts?.map(Number) ?? [], bounds: explicitBounds ?? [] }),
  }
}

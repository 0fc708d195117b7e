import { type HrTime, ValueType } from '@opentelemetry/api'
import { millisToHrTime } from '@opentelemetry/core'
import {
  AggregationTemporality,
  type CollectionResult,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics'
import { emptyResource } from '@opentelemetry/resources'
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client'

type RegistryMetric = MetricObjectWithValues<MetricValue<string> & { metricName?: string }>
type Times = { startTime: HrTime; endTime: HrTime }

/** Exports the metrics of `/metrics` to OpenTelemetry under the same names, so that nothing is measured twice. */
export function readRegistry(registry: Registry, startedAt: number): MetricProducer {
  return {
    collect: async (): Promise<CollectionResult> => {
      const metrics = (await registry.getMetricsAsJSON()) as RegistryMetric[]
      const times = { startTime: millisToHrTime(startedAt), endTime: millisToHrTime(Date.now()) }
      return {
        resourceMetrics: {
          resource: emptyResource(),
          scopeMetrics: [{ scope: { name: 'waybill' }, metrics: metrics.flatMap((metric) => toMetric(metric, times)) }],
        },
        errors: [],
      }
    },
  }
}

function toMetric(metric: RegistryMetric, times: Times): MetricData[] {
  const descriptor = {
    name: metric.name,
    description: metric.help,
    unit: unitOf(metric.name),
    valueType: ValueType.DOUBLE,
  }
  const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE }
  const points = () => metric.values.map(({ labels, value }) => ({ ...times, attributes: toAttributes(labels), value }))
  // It is a string, although the types of prom-client declare an enum.
  switch (String(metric.type)) {
    case 'counter':
      return [{ ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() }]
    case 'gauge':
      return [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints: points() }]
    case 'histogram':
      return [{ ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: toHistograms(metric, times) }]
    default:
      // The registry has no summaries.
      return []
  }
}

function unitOf(name: string): string {
  const base = name.replace(/_total$/, '')
  if (base.endsWith('_seconds')) return 's'
  return base.endsWith('_bytes') ? 'By' : '1'
}

function toAttributes(labels: Partial<Record<string, string | number>>): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(labels).filter((entry): entry is [string, string | number] => entry[1] !== undefined),
  )
}

/** Prometheus buckets are cumulative; those of OpenTelemetry are not. */
function toHistograms({ name, values }: RegistryMetric, times: Times) {
  const bySeries = Map.groupBy(values, ({ labels }) => JSON.stringify({ ...labels, le: undefined }))
  return Array.from(bySeries.values(), (series) => {
    const ofKind = (suffix: string) => series.filter(({ metricName }) => metricName === `${name}_${suffix}`)
    const buckets = ofKind('bucket').toSorted((a, b) => boundOf(a) - boundOf(b))
    return {
      ...times,
      attributes: toAttributes({ ...series[0]?.labels, le: undefined }),
      value: {
        buckets: {
          boundaries: buckets.map(boundOf).filter((bound) => bound < Infinity),
          counts: buckets.map(({ value }, index) => value - (buckets[index - 1]?.value ?? 0)),
        },
        sum: ofKind('sum')[0]?.value ?? 0,
        count: ofKind('count')[0]?.value ?? 0,
      },
    }
  })
}

function boundOf({ labels }: MetricValue<string>): number {
  return labels['le'] === '+Inf' ? Infinity : Number(labels['le'])
}

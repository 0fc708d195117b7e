import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Deps } from '../../deps.ts'
import { registerSharedGauges } from '../../platform/shared-gauges.ts'
import { failingReason, goneReason, readQueueState } from './store.ts'
import type { WorkerObserver } from './attempts.ts'

const reasonLabels: Record<string, string> = { [goneReason]: 'gone', [failingReason]: 'failing' }

/** Registers the metrics of the attempts of this process. */
export function registerWorkerMetrics(registry: Registry, countHeld: () => number): WorkerObserver {
  const inFlight = new Gauge({
    name: 'waybill_webhook_deliveries_in_flight',
    help: 'Deliveries that this process has claimed and not finished.',
    collect() {
      this.set(countHeld())
    },
    registers: [],
  })
  registry.registerMetric(inFlight)
  const attempts = new Counter({
    name: 'waybill_webhook_attempts_total',
    help: 'Delivery attempts, by outcome.',
    labelNames: ['outcome'] as const,
    registers: [registry],
  })
  const duration = new Histogram({
    name: 'waybill_webhook_attempt_duration_seconds',
    help: 'Time from the start of an attempt to the end of its response, in seconds.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  })
  const lost = new Counter({
    name: 'waybill_webhook_claims_lost_total',
    help: 'Attempts whose lease expired before they were recorded; they are repeated.',
    registers: [registry],
  })
  const disabled = new Counter({
    name: 'waybill_webhook_endpoints_disabled_total',
    help: 'Endpoints that Waybill disabled, by reason.',
    labelNames: ['reason'] as const,
    registers: [registry],
  })
  return {
    attempted: ({ outcome, durationMilliseconds }) => {
      attempts.inc({ outcome })
      duration.observe(durationMilliseconds / 1000)
    },
    lost: () => lost.inc(),
    disabled: ({ reason }) => disabled.inc({ reason: reasonLabels[reason] ?? 'other' }),
  }
}

/**
 * Registers the state of the queue, which is read at each scrape. Processes without a worker report it too: if no worker
 * runs, nothing else shows that deliveries are late.
 */
export function registerQueueGauges({ db, log }: Pick<Deps, 'db' | 'log'>, registry: Registry): void {
  registerSharedGauges(registry, log, {
    subject: 'the delivery queue',
    read: () => readQueueState(db),
    gauges: {
      waybill_webhook_oldest_due_seconds: {
        help: 'Time since the oldest unclaimed delivery became due, in seconds. For endpoints that fail or have limits, it counts from their last attempt.',
        value: (state) => state.oldestDueSeconds,
      },
      waybill_webhook_deliveries_waiting: {
        help: 'Waiting and running deliveries, including those of disabled endpoints.',
        value: (state) => state.waiting,
      },
      waybill_webhook_endpoints_failing: {
        help: 'Enabled endpoints whose last attempt failed.',
        value: (state) => state.failingEndpoints,
      },
      waybill_webhook_deliveries_dead_tuples: {
        help: 'Dead rows in the queue table. A growing number means that vacuum cannot keep up, which slows down the queue.',
        value: (state) => state.deadTuples,
      },
    },
  })
}

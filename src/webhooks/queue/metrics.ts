import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Deps } from '../../deps.ts'
import { failingReason, goneReason, type QueueState, readQueueState } from './store.ts'
import type { WorkerObserver } from './worker.ts'

const reasonLabels: Record<string, string> = { [goneReason]: 'gone', [failingReason]: 'failing' }

/** What an operator sees of the deliveries. The state of the queue is read when it is asked for. */
export function registerWorkerMetrics(
  deps: Pick<Deps, 'db' | 'log'>,
  registry: Registry,
  countHeld: () => number,
): WorkerObserver {
  registerQueueGauges(deps, registry)
  const inFlight = new Gauge({
    name: 'waybill_webhook_deliveries_in_flight',
    help: 'Deliveries that this process has claimed and not yet finished.',
    collect() {
      this.set(countHeld())
    },
    registers: [],
  })
  registry.registerMetric(inFlight)
  const attempts = new Counter({
    name: 'waybill_webhook_attempts_total',
    help: 'Attempts at deliveries, by outcome.',
    labelNames: ['outcome'] as const,
    registers: [registry],
  })
  const duration = new Histogram({
    name: 'waybill_webhook_attempt_duration_seconds',
    help: 'Time of an attempt, from its start to the end of its answer, in seconds.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  })
  const lost = new Counter({
    name: 'waybill_webhook_claims_lost_total',
    help: 'Attempts whose lease had run out before they were recorded: they are made again.',
    registers: [registry],
  })
  const disabled = new Counter({
    name: 'waybill_webhook_endpoints_disabled_total',
    help: 'Endpoints that were switched off, by reason.',
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

function registerQueueGauges({ db, log }: Pick<Deps, 'db' | 'log'>, registry: Registry): void {
  // All gauges of one scrape show one state.
  let reading: Promise<QueueState | undefined> | undefined
  const read = () =>
    (reading ??= readQueueState(db)
      .catch((error: unknown) => {
        // Metrics are asked for when the database is away above all: the others must still come.
        log.debug({ err: error }, 'the queue of deliveries could not be read')
        return undefined
      })
      .finally(() => (reading = undefined)))
  const register = (name: string, help: string, pick: (state: QueueState) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const state = await read()
        if (state) this.set(pick(state))
      },
    })
  register(
    'waybill_webhook_oldest_due_seconds',
    'How long the oldest delivery has been due that no process has taken, in seconds.',
    (state) => state.oldestDueSeconds,
  )
  register(
    'waybill_webhook_deliveries_waiting',
    'Deliveries that wait or are under way, those of disabled endpoints too.',
    (state) => state.waiting,
  )
  register(
    'waybill_webhook_deliveries_dead_tuples',
    "Dead rows in the queue's table: many of them slow it down, and a vacuum that cannot keep up is why.",
    (state) => state.deadTuples,
  )
}

import { Counter, type Registry } from 'prom-client'
import { type DropReason, dropReasons } from '../../accounts/requests/request-log.ts'

/** Registers a counter of requests that were not recorded; returns the function that counts. */
export function registerRequestLogMetric(registry: Registry): (reason: DropReason, requests: number) => void {
  const dropped = new Counter({
    name: 'waybill_request_log_dropped_total',
    help: 'API requests that were not logged, by reason: limit (of an account), full (the queue was full) or database (it did not respond).',
    labelNames: ['reason'],
    registers: [registry],
  })
  for (const reason of dropReasons) dropped.inc({ reason }, 0)
  return (reason, requests) => dropped.inc({ reason }, requests)
}

import { Counter, Gauge, type Registry } from 'prom-client'
import type { Deps } from '../deps.ts'
import { countPendingMessages } from '../message/overdue-store.ts'

/**
 * Messages whose outcome is unknown for longer than any send takes: their process died or WhatsApp's
 * answer was lost, and no status has settled them. Read when the metrics are asked for.
 */
export function registerPendingMetric({ db, log }: Pick<Deps, 'db' | 'log'>, registry: Registry): void {
  const register = (name: string, help: string, pick: (pending: { count: number; oldestSeconds: number }) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        try {
          this.set(pick(await countPendingMessages(db)))
        } catch (error) {
          // Metrics are asked for when the database is away above all: the others must still come.
          log.debug({ err: error }, 'pending messages could not be counted')
        }
      },
    })
  register(
    'waybill_messages_pending',
    'Messages whose outcome is unknown for more than a minute.',
    (pending) => pending.count,
  )
  register(
    'waybill_messages_pending_oldest_seconds',
    'Age of the oldest message whose outcome is unknown for more than a minute, in seconds.',
    (pending) => pending.oldestSeconds,
  )
}

/** Messages that this process has reported as of unknown outcome: each counts on one node, once. */
export function registerOutcomesUnknownMetric(registry: Registry): (messages: number) => void {
  const counter = new Counter({
    name: 'waybill_messages_outcome_unknown_total',
    help: 'Messages reported because their outcome stayed unknown for WAYBILL_OUTCOME_UNKNOWN_AFTER.',
    registers: [registry],
  })
  return (messages) => counter.inc(messages)
}

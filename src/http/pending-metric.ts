import { Gauge, type Registry } from 'prom-client'
import type { Deps } from '../deps.ts'
import { countPendingMessages } from '../message/store.ts'

/**
 * Messages whose outcome is unknown for longer than any send takes: their process died or WhatsApp's
 * answer was lost, and no status has settled them. Read when the metrics are asked for.
 */
export function registerPendingMetric({ db, log }: Pick<Deps, 'db' | 'log'>, registry: Registry): void {
  const oldest = new Gauge({
    name: 'waybill_messages_pending_oldest_seconds',
    help: 'Age of the oldest message whose outcome is unknown for more than a minute, in seconds.',
    registers: [registry],
  })
  const count = new Gauge({
    name: 'waybill_messages_pending',
    help: 'Messages whose outcome is unknown for more than a minute.',
    registers: [registry],
    collect: async () => {
      try {
        const pending = await countPendingMessages(db)
        count.set(pending.count)
        oldest.set(pending.oldestSeconds)
      } catch (error) {
        // Metrics are asked for when the database is away above all: the others must still come.
        log.debug({ err: error }, 'pending messages could not be counted')
      }
    },
  })
}

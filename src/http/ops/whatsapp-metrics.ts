import { Counter, Gauge, type Registry } from 'prom-client'
import type { Deps } from '../../deps.ts'
import { countTemplates } from '../../templates/store.ts'
import { rules } from '../../whatsapp/error-codes.ts'
import type { SendOutcome, WhatsApp } from '../../whatsapp/whatsapp.ts'

/** Wraps the client so that its sends are counted. */
export function countSends(whatsapp: WhatsApp, registry: Registry): WhatsApp {
  const counter = new Counter({
    name: 'waybill_whatsapp_sends_total',
    help: "Sends to WhatsApp by outcome (accepted, refused, unavailable, unknown) and, if refused, WhatsApp's error code.",
    labelNames: ['outcome', 'code'] as const,
    registers: [registry],
  })
  // Start at zero: otherwise, the rate of a counter misses its first increment.
  for (const outcome of ['accepted', 'unavailable', 'unknown'] satisfies SendOutcome['kind'][])
    counter.inc({ outcome, code: '' }, 0)
  const count = (outcome: SendOutcome) => {
    counter.inc({ outcome: outcome.kind, code: outcome.kind === 'refused' ? toCodeLabel(outcome.error.code) : '' })
    return outcome
  }
  return { ...whatsapp, sendTemplate: (sender, message) => whatsapp.sendTemplate(sender, message).then(count) }
}

/** Only known codes become labels, so that their number is bounded. */
export function toCodeLabel(code: number): string {
  return Object.hasOwn(rules, code) ? String(code) : 'other'
}

/** Registers a gauge of templates by approval status, counted at each scrape. */
export function registerTemplatesMetric({ db, log }: Pick<Deps, 'db' | 'log'>, registry: Registry): void {
  registry.registerMetric(
    new Gauge({
      name: 'waybill_templates',
      help: 'Templates by approval status, such as APPROVED, PENDING, REJECTED, PAUSED or DISABLED.',
      labelNames: ['status'] as const,
      aggregator: 'max',
      registers: [],
      async collect() {
        try {
          const counts = await countTemplates(db)
          this.reset()
          for (const { status, count } of counts) this.set({ status }, count)
        } catch (error) {
          // As above.
          log.debug({ err: error }, 'could not count templates')
        }
      },
    }),
  )
}

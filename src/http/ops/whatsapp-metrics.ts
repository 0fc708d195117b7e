import { Counter, Gauge, type Registry } from 'prom-client'
import { readAllHealth, type ViewDeps } from '../../whatsapp-accounts/health/view.ts'
import type { Deps } from '../../deps.ts'
import { countTemplates } from '../../templates/count-store.ts'
import { rules } from '../../whatsapp/error-codes.ts'
import type { SendOutcome, WhatsApp } from '../../whatsapp/whatsapp.ts'

/** Wraps the client so that its sends are counted. Only known codes become labels, so that their number is bounded. */
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
    counter.inc({ outcome: outcome.kind, code: outcome.kind === 'refused' ? labelOf(outcome.error.code) : '' })
    return outcome
  }
  return { ...whatsapp, sendTemplate: (sender, message) => whatsapp.sendTemplate(sender, message).then(count) }
}

function labelOf(code: number): string {
  return Object.hasOwn(rules, code) ? String(code) : 'other'
}

/** Registers gauges of WhatsApp accounts. Each scrape reads stored data, without calling WhatsApp. */
export function registerHealthMetrics(deps: ViewDeps & Pick<Deps, 'log'>, registry: Registry): void {
  const owner = ['account', 'whatsapp_account'] as const
  let reading: Promise<void> | undefined
  /** All gauges are collected at once and share one read. */
  const collect = () => (reading ??= read().finally(() => (reading = undefined)))
  const healthy = new Gauge({
    name: 'waybill_whatsapp_account_healthy',
    help: 'Whether a WhatsApp account works: 1, or 0 if it has a finding of severity error. See account.health for the finding.',
    labelNames: owner,
    aggregator: 'min',
    registers: [],
    collect,
  })
  const findings = new Gauge({
    name: 'waybill_whatsapp_account_finding',
    help: 'Findings about a WhatsApp account, as in account.health: 1 for each.',
    labelNames: [...owner, 'finding', 'severity'] as const,
    aggregator: 'max',
    registers: [],
    collect,
  })
  const expiry = new Gauge({
    name: 'waybill_whatsapp_account_token_expiry_timestamp_seconds',
    help: 'When the access token of a WhatsApp account expires, in seconds since 1970; absent if it does not.',
    labelNames: owner,
    aggregator: 'max',
    registers: [],
    collect,
  })
  for (const gauge of [healthy, findings, expiry]) registry.registerMetric(gauge)

  async function read() {
    try {
      const states = await readAllHealth(deps)
      for (const gauge of [healthy, findings, expiry]) gauge.reset()
      for (const state of states) {
        const labels = { account: state.accountId, whatsapp_account: state.whatsAppAccountId }
        healthy.set(labels, state.healthy ? 1 : 0)
        if (state.tokenExpiresAt) expiry.set(labels, state.tokenExpiresAt.getTime() / 1000)
        for (const { code, severity } of state.findings) findings.set({ ...labels, finding: code, severity }, 1)
      }
    } catch (error) {
      // The other metrics must still be served, above all when the database is unavailable.
      deps.log.debug({ err: error }, 'could not read the health of WhatsApp accounts')
    }
  }
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

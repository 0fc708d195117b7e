import { Gauge, type Registry } from 'prom-client'
import type { Logger } from './log.ts'

interface SharedGauges<State> {
  /** What is read, for the log: `could not read <subject>`. */
  subject: string
  read: () => Promise<State>
  gauges: Readonly<Record<string, { help: string; value: (state: State) => number }>>
}

/**
 * Registers gauges, by name, of something that all processes read from the shared database. The gauges of one scrape
 * share one read. If it fails, the other metrics must still be served, above all when the database is unavailable.
 */
export function registerSharedGauges<State>(
  registry: Registry,
  log: Logger,
  { subject, read, gauges }: SharedGauges<State>,
): void {
  let reading: Promise<State | undefined> | undefined
  const readOnce = () =>
    (reading ??= read()
      .catch((error: unknown) => {
        log.debug({ err: error }, `could not read ${subject}`)
        return undefined
      })
      .finally(() => (reading = undefined)))
  for (const [name, { help, value }] of Object.entries(gauges))
    registry.registerMetric(
      new Gauge({
        name,
        help,
        // All processes report the same number, so their values must not be added up.
        aggregator: 'max',
        registers: [],
        async collect() {
          const state = await readOnce()
          if (state !== undefined) this.set(value(state))
        },
      }),
    )
}

import { setTimeout as delay } from 'node:timers/promises'
import { Gauge, Registry } from 'prom-client'
import { dayMilliseconds } from '../../../contracts/time.ts'
import { type HealthDeps, type HealthState, readHealthPages } from '../../whatsapp-accounts/health/read.ts'
import { countWhatsAppAccounts } from '../../whatsapp-accounts/store.ts'
import type { Deps } from '../../deps.ts'

const owner = ['account', 'whatsapp_account'] as const

/** Only WhatsApp accounts with findings have series of their own, and at most so many. */
const maxAccountsWithSeries = 500
const announcedExpiryMilliseconds = 30 * dayMilliseconds

/**
 * With more accounts, a scrape does not wait for its read: it shows the values of the scrape before, and the first one
 * may show none.
 */
const manyAccounts = 500
const maxWaitMilliseconds = 25

/** Registers gauges of WhatsApp accounts. Each scrape reads stored data, without calling WhatsApp. */
export function registerHealthMetrics(deps: HealthDeps & Pick<Deps, 'log'>, registry: Registry): void {
  let reading: Promise<void> | undefined
  let collecting: Promise<void> | undefined
  let accounts: number | undefined
  /** All gauges are collected at once: they share one read and one wait, so that a scrape has the values of all or none. */
  const collect = () => (collecting ??= collectAll().finally(() => (collecting = undefined)))
  const collectAll = async () => {
    reading ??= read().finally(() => (reading = undefined))
    await ((await areMany()) ? Promise.race([reading, delay(maxWaitMilliseconds)]) : reading)
  }
  const areMany = async () => {
    try {
      accounts ??= await countWhatsAppAccounts(deps.db, manyAccounts + 1)
    } catch {
      // The read fails, too, and soon.
      return false
    }
    return accounts > manyAccounts
  }
  const counts = new Gauge({
    name: 'waybill_whatsapp_accounts',
    help: 'WhatsApp accounts that are not deactivated: healthy is false for those with a finding of severity error.',
    labelNames: ['healthy'] as const,
    aggregator: 'max',
    registers: [],
    collect,
  })
  registry.registerMetric(counts)
  const gauges = createAccountGauges(collect)
  for (const gauge of Object.values(gauges)) registry.registerMetric(gauge)

  async function read(): Promise<void> {
    try {
      const shown: HealthState[] = []
      let [healthy, unhealthy] = [0, 0]
      for await (const page of readHealthPages(deps))
        for (const state of page) {
          if (state.healthy) healthy++
          else unhealthy++
          if (isNoteworthy(state, deps.now())) shown.push(state)
        }
      accounts = healthy + unhealthy
      counts.set({ healthy: 'true' }, healthy)
      counts.set({ healthy: 'false' }, unhealthy)
      // Those that do not work come first.
      setAll(gauges, shown.toSorted((a, b) => Number(a.healthy) - Number(b.healthy)).slice(0, maxAccountsWithSeries))
    } catch (error) {
      // The other metrics must still be served, above all when the database is unavailable.
      deps.log.debug({ err: error }, 'could not read the health of WhatsApp accounts')
    }
  }
}

function isNoteworthy({ findings, tokenExpiresAt }: HealthState, now: Date): boolean {
  const expires = tokenExpiresAt && tokenExpiresAt.getTime() - now.getTime() < announcedExpiryMilliseconds
  return findings.length > 0 || expires === true
}

/** The series of all WhatsApp accounts, for a scrape of its own. */
export async function printAllAccounts(deps: HealthDeps): Promise<string> {
  const registry = new Registry()
  const gauges = createAccountGauges()
  for (const gauge of Object.values(gauges)) registry.registerMetric(gauge)
  setAll(gauges, (await Array.fromAsync(readHealthPages(deps))).flat())
  return registry.metrics()
}

function createAccountGauges(collect?: () => Promise<void>) {
  const options = { registers: [], ...(collect && { collect }) }
  return {
    healthy: new Gauge({
      name: 'waybill_whatsapp_account_healthy',
      help: 'Whether a WhatsApp account with findings works: 1, or 0 if one of them has the severity error. See account.health for the findings.',
      labelNames: owner,
      aggregator: 'min',
      ...options,
    }),
    findings: new Gauge({
      name: 'waybill_whatsapp_account_finding',
      help: 'Findings about a WhatsApp account, as in account.health: 1 for each.',
      labelNames: [...owner, 'finding', 'severity'] as const,
      aggregator: 'max',
      ...options,
    }),
    expiry: new Gauge({
      name: 'waybill_whatsapp_account_token_expiry_timestamp_seconds',
      help: 'When the access token of a WhatsApp account expires, in seconds since 1970; absent if that is more than 30 days away.',
      labelNames: owner,
      aggregator: 'max',
      ...options,
    }),
  }
}

/** Synchronous, so that no scrape sees a part of it. */
function setAll(gauges: ReturnType<typeof createAccountGauges>, states: readonly HealthState[]): void {
  for (const gauge of Object.values(gauges)) gauge.reset()
  for (const { accountId, whatsAppAccountId, healthy, tokenExpiresAt, findings } of states) {
    const labels = { account: accountId, whatsapp_account: whatsAppAccountId }
    gauges.healthy.set(labels, healthy ? 1 : 0)
    if (tokenExpiresAt) gauges.expiry.set(labels, tokenExpiresAt.getTime() / 1000)
    for (const { code, severity } of findings) gauges.findings.set({ ...labels, finding: code, severity }, 1)
  }
}

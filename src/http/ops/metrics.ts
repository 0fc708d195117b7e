import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { collectDefaultMetrics, Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { ViewDeps } from '../../whatsapp-accounts/health/view.ts'
import type { Deps } from '../../deps.ts'
import { countStalePending } from '../../messages/status/stale-pending.ts'
import { isReady } from '../../platform/db/database.ts'
import { isSameSecret } from '../../platform/secrets.ts'
import { printAllAccounts } from './health-metrics.ts'

/** Who may read the metrics: requests with this bearer token, everybody (in the sandbox) or nobody. */
export type MetricsAccess = { token: string } | 'everybody' | 'nobody'

export interface MetricsOptions {
  access: MetricsAccess
  registry: Registry
  /** By default, the metrics of this process. */
  collect?: (() => Promise<string>) | undefined
}

/**
 * Serves `/metrics` in the Prometheus text format, and `/metrics/accounts` with the series of all WhatsApp accounts.
 * Routes are labelled by pattern, since a path can hold an ID.
 */
export function registerMetrics(
  app: FastifyInstance,
  deps: ViewDeps,
  { access, registry, collect = () => registry.metrics() }: MetricsOptions,
): void {
  collectDefaultMetrics({ register: registry })
  const duration = new Histogram({
    name: 'waybill_http_request_duration_seconds',
    help: 'Time from the start of a request to the end of its response, in seconds.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  })
  app.addHook('onResponse', (request, reply, done) => {
    duration.observe(
      { method: request.method, route: request.routeOptions.url ?? 'none', status: reply.statusCode },
      reply.elapsedTime / 1000,
    )
    done()
  })
  app.get('/metrics', async (request, reply) => {
    if (!mayRead(access, request)) return reject(reply)
    return reply.type(registry.contentType).send(await collect())
  })
  app.get('/metrics/accounts', async (request, reply) => {
    if (!mayRead(access, request)) return reject(reply)
    return reply.type(registry.contentType).send(await printAllAccounts(deps))
  })
}

function mayRead(access: MetricsAccess, request: FastifyRequest): boolean {
  if (access === 'everybody') return true
  if (access === 'nobody') return false
  return isSameSecret(request.headers.authorization ?? '', `Bearer ${access.token}`)
}

function reject(reply: FastifyReply): FastifyReply {
  return reply
    .code(401)
    .header('WWW-Authenticate', 'Bearer')
    .type('text/plain')
    .send('Metrics require the bearer token from METRICS_TOKEN.\n')
}

/** The same check as in `/readyz`. */
export function registerDatabaseMetric({ db }: Pick<Deps, 'db'>, registry: Registry): void {
  registry.registerMetric(
    new Gauge({
      name: 'waybill_database_reachable',
      help: 'Whether the database responds: 1, or 0 if not.',
      // One process that cannot reach it is a problem.
      aggregator: 'min',
      registers: [],
      async collect() {
        this.set((await isReady(db)) ? 1 : 0)
      },
    }),
  )
}

/**
 * Registers gauges for messages whose outcome is unknown for longer than any send takes: their process died or
 * WhatsApp's response was lost, and no status has settled them. Counted at each scrape.
 */
export function registerPendingMetric({ db, log }: Pick<Deps, 'db' | 'log'>, registry: Registry): void {
  const register = (name: string, help: string, pick: (pending: { count: number; oldestSeconds: number }) => number) =>
    new Gauge({
      name,
      help,
      // All processes report the same number from the shared database.
      aggregator: 'max',
      registers: [registry],
      async collect() {
        try {
          this.set(pick(await countStalePending(db)))
        } catch (error) {
          // The other metrics must still be served, above all when the database is unavailable.
          log.debug({ err: error }, 'could not count stale pending messages')
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

/** Counts messages that this process reported as having an unknown outcome. Each message counts once, on one node. */
export function registerOutcomesUnknownMetric(registry: Registry): (messages: number) => void {
  const counter = new Counter({
    name: 'waybill_messages_outcome_unknown_total',
    help: 'Messages reported because their outcome stayed unknown for WAYBILL_OUTCOME_UNKNOWN_AFTER.',
    registers: [registry],
  })
  return (messages) => counter.inc(messages)
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { collectDefaultMetrics, Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { type DropReason, dropReasons } from '../../accounts/requests/request-log.ts'
import type { Deps } from '../../deps.ts'
import { countStalePending } from '../../messages/status/stale-pending.ts'
import { isReady } from '../../platform/db/database.ts'
import type { EmailOutcome } from '../../platform/email/mailer.ts'
import { isSameSecret } from '../../platform/secrets.ts'
import { registerSharedGauges } from '../../platform/shared-gauges.ts'
import { countTemplatesByStatus } from '../../templates/store.ts'
import type { PostOutcome } from '../../webhooks/alerts/chat/poster.ts'
import type { HealthDeps } from '../../whatsapp-accounts/health/read.ts'
import { errorCodes } from '../../whatsapp/error-codes.ts'
import type { SendOutcome, WhatsApp } from '../../whatsapp/whatsapp.ts'
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
  deps: HealthDeps,
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
  // The name of the scheme is not case-sensitive (RFC 9110, 11.1).
  const [, token = ''] = /^Bearer +(.*)$/i.exec(request.headers.authorization ?? '') ?? []
  return isSameSecret(token, access.token)
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
  registerSharedGauges(registry, log, {
    subject: 'the stale pending messages',
    read: () => countStalePending(db),
    gauges: {
      waybill_messages_pending: {
        help: 'Messages whose outcome is unknown for more than a minute.',
        value: (pending) => pending.count,
      },
      waybill_messages_pending_oldest_seconds: {
        help: 'Age of the oldest message whose outcome is unknown for more than a minute, in seconds.',
        value: (pending) => pending.oldestSeconds,
      },
    },
  })
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

/** Registers a counter of posts to chats; returns the function that counts. */
export function registerChatMetric(registry: Registry): (outcome: PostOutcome) => void {
  const posts = new Counter({
    name: 'waybill_chat_posts_total',
    help: 'Attempts to post an alert to a chat, by outcome: posted, failed (it is retried), rejected or expired (it was dropped).',
    labelNames: ['outcome'],
    registers: [registry],
  })
  return (outcome) => posts.inc({ outcome })
}

/** Registers a counter of emails; returns the function that counts. */
export function registerEmailMetric(registry: Registry): (outcome: EmailOutcome) => void {
  const emails = new Counter({
    name: 'waybill_emails_total',
    help: 'Attempts to send an email, by outcome: sent, failed (it is retried), or rejected, expired or unreadable (it was dropped).',
    labelNames: ['outcome'],
    registers: [registry],
  })
  return (outcome) => emails.inc({ outcome })
}

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

/** Wraps the client so that its sends are counted. */
export function countSends(whatsapp: WhatsApp, registry: Registry): WhatsApp {
  /** Since the last scrape. */
  let accepted = 0
  const counter = new Counter({
    name: 'waybill_whatsapp_sends_total',
    help: "Sends to WhatsApp by outcome (accepted, refused, unavailable, unknown) and, if refused, WhatsApp's error code.",
    labelNames: ['outcome', 'code'] as const,
    registers: [registry],
    // The labels of each send would take 300 bytes.
    collect() {
      this.inc({ outcome: 'accepted', code: '' }, accepted)
      accepted = 0
    },
  })
  // Start at zero: otherwise, the rate of a counter misses its first increment.
  for (const outcome of ['unavailable', 'unknown'] satisfies SendOutcome['kind'][])
    counter.inc({ outcome, code: '' }, 0)
  const count = (outcome: SendOutcome) => {
    if (outcome.kind === 'accepted') accepted += 1
    else counter.inc({ outcome: outcome.kind, code: outcome.kind === 'refused' ? toCodeLabel(outcome.error.code) : '' })
    return outcome
  }
  return { ...whatsapp, sendTemplate: (sender, message) => whatsapp.sendTemplate(sender, message).then(count) }
}

/** Only known codes become labels, so that their number is bounded. */
export function toCodeLabel(code: number): string {
  return Object.hasOwn(errorCodes, code) ? String(code) : 'other'
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
          const counts = await countTemplatesByStatus(db)
          this.reset()
          for (const { status, count } of counts) this.set({ status }, count)
        } catch (error) {
          // The other metrics must still be served, above all when the database is unavailable.
          log.debug({ err: error }, 'could not count templates')
        }
      },
    }),
  )
}

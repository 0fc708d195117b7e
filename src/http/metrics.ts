import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { collectDefaultMetrics, Histogram, type Registry } from 'prom-client'
import { isSameSecret } from './same-secret.ts'

/** Who may read the metrics: a bearer of this token, everybody (the sandbox), or nobody. */
export type MetricsAccess = { token: string } | 'everybody' | 'nobody'

/** `/metrics` in Prometheus' text format. Routes are labelled by pattern: a path can hold an id. */
export function registerMetrics(app: FastifyInstance, access: MetricsAccess, registry: Registry): void {
  collectDefaultMetrics({ register: registry })
  const duration = new Histogram({
    name: 'waybill_http_request_duration_seconds',
    help: 'Time from a request to the end of its answer, in seconds.',
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
    if (!mayRead(access, request)) return refuse(reply)
    return reply.type(registry.contentType).send(await registry.metrics())
  })
}

function mayRead(access: MetricsAccess, request: FastifyRequest): boolean {
  if (access === 'everybody') return true
  if (access === 'nobody') return false
  return isSameSecret(request.headers.authorization ?? '', `Bearer ${access.token}`)
}

function refuse(reply: FastifyReply): FastifyReply {
  return reply
    .code(401)
    .header('WWW-Authenticate', 'Bearer')
    .type('text/plain')
    .send('The metrics need the bearer token that METRICS_TOKEN sets.\n')
}

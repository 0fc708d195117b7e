import type { FastifyInstance } from 'fastify'
import { Counter, Gauge, type Registry } from 'prom-client'
import { ServiceError } from '../../contracts/errors.ts'
import type { WhatsApp } from '../whatsapp/whatsapp.ts'

/**
 * How many requests this process works on at once. What comes beyond is refused before anything is
 * done for it, since a queue without bound serves nobody: at twice the load, those who are served are
 * served as fast as before.
 */
export interface LoadLimit {
  /** The same, but waiting for WhatsApp does not count: it costs us nothing. */
  exempt(whatsapp: WhatsApp): WhatsApp
}

/** At eight thousand sends a second each of them waits a sixteenth of a second at the most. */
const maxAtWork = 512

/** Callers under these paths are limited; health, metrics and pages are not. */
const limitedPaths = ['/api/', '/trpc/', '/webhooks/']

export function registerLoadLimit(app: FastifyInstance, registry: Registry, max = maxAtWork): LoadLimit {
  let atWork = 0
  const counted = new WeakSet<object>()
  const refused = new Counter({
    name: 'waybill_http_requests_refused_total',
    help: 'Requests refused because this process was at work on as many as it can.',
    registers: [registry],
  })
  registry.registerMetric(
    new Gauge({
      name: 'waybill_http_requests_at_work',
      help: 'Requests that this process is at work on, without those that wait for WhatsApp.',
      registers: [],
      collect() {
        this.set(atWork)
      },
    }),
  )
  app.addHook('onRequest', (request, _reply, done) => {
    if (!limitedPaths.some((path) => request.url.startsWith(path))) return done()
    if (atWork >= max) {
      refused.inc()
      return done(
        new ServiceError('SERVICE_UNAVAILABLE', 'The service is busy. Nothing was sent. Try again in a moment.', {
          retryAfterSeconds: 1,
        }),
      )
    }
    atWork++
    counted.add(request)
    return done()
  })
  app.addHook('onResponse', (request, _reply, done) => {
    if (counted.delete(request)) atWork--
    done()
  })
  return {
    exempt: (whatsapp) => ({
      ...whatsapp,
      sendTemplate: async (sender, message) => {
        atWork--
        try {
          return await whatsapp.sendTemplate(sender, message)
        } finally {
          atWork++
        }
      },
    }),
  }
}

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

/** Limits the routes of this context (Fastify: encapsulation), and no others: health and pages are not. */
export function registerLoadLimit(app: FastifyInstance, registry: Registry, max = maxAtWork): LoadLimit {
  let atWork = 0
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
  // After the body has come and been read: a caller that is slow to send holds nothing of ours.
  app.addHook('preHandler', (_request, reply, done) => {
    if (atWork >= max) {
      refused.inc()
      return done(
        new ServiceError('SERVICE_UNAVAILABLE', 'The service is busy. Nothing was sent. Try again in a moment.', {
          retryAfterSeconds: 1,
        }),
      )
    }
    atWork++
    // Whatever ends the answer closes it: its last byte, or a caller that goes away.
    reply.raw.once('close', () => {
      atWork--
    })
    return done()
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

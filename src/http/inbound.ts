import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Counter, type Registry } from 'prom-client'
import { z } from 'zod'
import type { Deps } from '../deps.ts'
import { takeCallback } from '../message/take-callback.ts'
import { isSameSecret } from './same-secret.ts'

export interface InboundOptions {
  /** Secret of the Meta app whose numbers have no secret of their own. */
  appSecret: string | undefined
  /** What the handshake must show. */
  verifyToken: string | undefined
}

const path = '/webhooks/whatsapp'

/** Reference, section 4.1. A parameter that is given twice is a list, and no handshake. */
const Handshake = z.object({
  'hub.mode': z.literal('subscribe'),
  'hub.verify_token': z.string(),
  'hub.challenge': z.string(),
})

/** Reference, section 4.2. */
const signaturePattern = /^sha256=[0-9a-f]{64}$/i
/** Bodies of 3 MB that are held at once: Meta is told to come again. */
const maxReceiving = 64
/** Reference, section 4.2. */
const maxBodyBytes = 3 * 1024 * 1024

/** Meta's callback: the handshake, and what WhatsApp tells of messages, templates and accounts. */
export async function registerInbound(
  app: FastifyInstance,
  deps: Deps,
  options: InboundOptions,
  metrics: Registry,
): Promise<void> {
  const statuses = new Counter({
    name: 'waybill_whatsapp_statuses_total',
    help: 'Statuses in callbacks of WhatsApp, by what became of them.',
    labelNames: ['result'] as const,
    registers: [metrics],
  })
  const unsigned = new Counter({
    name: 'waybill_whatsapp_callbacks_refused_total',
    help: 'Callbacks that were not signed with META_APP_SECRET or the app secret of their WhatsApp account.',
    registers: [metrics],
  })
  let receiving = 0
  app.get(path, (request, reply) => {
    const handshake = Handshake.safeParse(request.query)
    if (!handshake.success || !isSameSecret(handshake.data['hub.verify_token'], options.verifyToken))
      return reply.code(403).type('text/plain').send('The verify token does not match META_VERIFY_TOKEN.\n')
    return reply.type('text/plain').send(handshake.data['hub.challenge'])
  })
  await app.register((inbound, _options, done) => {
    inbound.removeAllContentTypeParsers()
    inbound.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxBodyBytes }, (_request, body, parsed) =>
      parsed(null, body),
    )
    inbound.addHook('onRequest', (request, reply, next) => {
      if (signaturePattern.test(signatureOf(request)) && receiving < maxReceiving) {
        receiving++
        reply.raw.once('close', () => {
          receiving--
        })
        return next()
      }
      // Nobody reads the body of a stranger. Meta comes again after a 503.
      void reply.code(receiving < maxReceiving ? 401 : 503).header('Connection', 'close')
      return void reply.type('text/plain').send('X-Hub-Signature-256 is missing, or too many callbacks come at once.\n')
    })
    inbound.post(path, { bodyLimit: maxBodyBytes }, async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const taken = await takeCallback(deps, { body, signature: signatureOf(request) }, options.appSecret)
      if (!taken) {
        unsigned.inc()
        deps.log.debug(
          { requestId: request.id },
          'a callback is not signed with META_APP_SECRET or the app secret of its WhatsApp account',
        )
        return reply.code(401).type('text/plain').send('X-Hub-Signature-256 does not match the raw body.\n')
      }
      for (const result of ['applied', 'repeated', 'unknown', 'ignored'] as const)
        statuses.inc({ result }, taken[result])
      return reply.type('text/plain').send('ok\n')
    })
    done()
  })
}

function signatureOf(request: FastifyRequest): string {
  const signature = request.headers['x-hub-signature-256']
  return typeof signature === 'string' ? signature : ''
}

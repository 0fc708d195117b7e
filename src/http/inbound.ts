import type { FastifyInstance } from 'fastify'
import { Counter, type Registry } from 'prom-client'
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
  app.get<{ Querystring: Record<string, string | undefined> }>(path, (request, reply) => {
    const { 'hub.mode': mode, 'hub.verify_token': token = '', 'hub.challenge': challenge = '' } = request.query
    if (mode !== 'subscribe' || options.verifyToken === undefined || !isSameSecret(token, options.verifyToken))
      return reply.code(403).type('text/plain').send('The verify token does not match META_VERIFY_TOKEN.\n')
    return reply.type('text/plain').send(challenge)
  })
  await app.register((inbound, _options, done) => {
    inbound.removeAllContentTypeParsers()
    inbound.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxBodyBytes }, (_request, body, parsed) =>
      parsed(null, body),
    )
    inbound.post(path, { bodyLimit: maxBodyBytes }, async (request, reply) => {
      const signature = request.headers['x-hub-signature-256']
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const taken =
        typeof signature === 'string' ? await takeCallback(deps, { body, signature }, options.appSecret) : undefined
      if (!taken) {
        deps.log.warn(
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

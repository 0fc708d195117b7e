import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Counter, Gauge, type Registry } from 'prom-client'
import { z } from 'zod'
import { networkOf } from '../../accounts/ip-allow-list.ts'
import { findCallbackSigner } from '../../whatsapp-accounts/callback-senders.ts'
import { findAccountOfWhatsAppAccount } from '../../whatsapp-accounts/store.ts'
import { createCallbackTimeRecorder } from '../../whatsapp-accounts/health/callback-times.ts'
import type { Deps } from '../../deps.ts'
import { handleCallback } from '../../messages/callbacks.ts'
import type { ApplyCounts } from '../../messages/batched-by-account.ts'
import { watchMissingMessages } from '../../messages/status/missing-messages.ts'
import { isSameSecret } from '../../platform/secrets.ts'
import { type BodyLimits, type BodyReceiver, createBodyReceiver, type ReceivedBody } from '../limits/body.ts'
import { contentLength } from '../limits/request-bodies.ts'
import { toCodeLabel } from '../ops/metrics.ts'
import { watchErrors, watchSignatures } from './watch.ts'
import { createCallbackLimiter, type CallbackLimits } from './callback-limiter.ts'
import { CallbackRejectedError } from './rejection.ts'
import { callbackPath, callbackPathOf } from '../../whatsapp/callbacks/subscription.ts'

export interface CallbackOptions {
  /** App secret for numbers that have no app secret of their own. */
  appSecret: string | undefined
  /** Verify token that the handshake must present. */
  verifyToken: string | undefined
  /** How long a callback may take from its arrival until it is applied. */
  handlingMilliseconds?: number
}

/**
 * All apps can call the first path. The second names the WhatsApp account, and so the app secret. The pattern rejects
 * anything that cannot be an ID: anyone can call the path, and the database rejects a NUL.
 */
const paths = [callbackPath, callbackPathOf(String.raw`:whatsAppAccountId(^\w+$)`)] as const

interface CallbackRoute {
  Params: { whatsAppAccountId?: string }
}

/** Reference, section 4.1. A repeated parameter is parsed as a list and does not match. */
const Handshake = z.object({
  'hub.mode': z.literal('subscribe'),
  'hub.verify_token': z.string(),
  'hub.challenge': z.string(),
})

/** Reference, section 4.2. */
const signaturePattern = /^sha256=[0-9a-f]{64}$/i

const mebibyte = 1024 * 1024

const bodyLimits: BodyLimits = {
  /**
   * Meta sends at most 3 MB (reference, section 4.2). A larger body would have to be buffered before it can be
   * verified.
   */
  maxBytes: 3 * mebibyte,
  maxHeldBytes: 96 * mebibyte,
  maxHeldBytesOfAddress: 48 * mebibyte,
  deadlineMilliseconds: 5_000,
  // 3 MB in segments of 500 bytes.
  maxChunks: 6_000,
}

/** After this time, Meta is asked to send the callback again. What was applied is not applied again. */
const maxHandlingMilliseconds = 15_000

const limits: CallbackLimits = {
  smallBytes: 64 * 1024,
  maxConcurrent: 4,
  maxConcurrentOfAccount: 3,
  maxBytes: 192 * mebibyte,
  maxBytesOfAccount: 64 * mebibyte,
}

/** Registers Meta's webhook callback: the handshake, and updates of messages, templates and accounts. */
export async function registerCallbacks(
  app: FastifyInstance,
  deps: Deps,
  options: CallbackOptions,
  metrics: Registry,
): Promise<void> {
  const counters = createCounters(metrics)
  for (const result of ['accepted', 'refused', 'unreceived']) counters.callbacks.inc({ result }, 0)
  for (const result of statusResults) counters.statuses.inc({ result }, 0)
  for (const result of replyResults) counters.replies.inc({ result }, 0)
  const bodies = createBodyReceiver(
    bodyLimits,
    (reason) => new CallbackRejectedError(reason === 'too_many_chunks' ? 'too_large' : reason),
  )
  const limiter = createCallbackLimiter(limits)
  const signatures = watchSignatures(deps.log)
  const callbackDeps = {
    ...deps,
    recordCallbackTimes: createCallbackTimeRecorder(deps),
    noteMissing: watchMissingMessages(deps, (statuses) => counters.missing.inc(statuses)),
    noteErrors: watchErrors(deps.log, (code) => counters.errors.inc({ code: toCodeLabel(code) })),
  }
  metrics.registerMetric(
    new Gauge({
      name: 'waybill_whatsapp_callback_bytes_held',
      help: 'Bytes of callback bodies whose signature has not been checked yet.',
      registers: [],
      collect() {
        this.set(bodies.heldBytes())
      },
    }),
  )

  const receiver: Receiver = { deps: callbackDeps, options, counters, limiter, signatures }
  for (const path of paths)
    app.get<CallbackRoute>(path, (request, reply) => answerHandshake(deps, options, request, reply))
  await app.register((inbound, _options, done) => {
    receiveBodies(inbound, bodies, counters)
    for (const path of paths)
      inbound.post<CallbackRoute>(path, (request, reply) => receiveCallback(receiver, request, reply))
    done()
  })
}

/** Receives bodies without parsing them, and only those that may be genuine. */
function receiveBodies(inbound: FastifyInstance, bodies: BodyReceiver, counters: Counters): void {
  inbound.removeAllContentTypeParsers()
  // Fastify parses a type that is not named anew for each request.
  inbound.addContentTypeParser(['application/json', '*'], (request: FastifyRequest, payload: FastifyRequest['raw']) => {
    return bodies.receive(payload, { address: networkOf(request.ip), length: contentLength(request) })
  })
  inbound.addHook('preValidation', (request, reply, next) => {
    // Releases the body however the request ends before its signature is checked.
    if (isReceived(request.body)) reply.raw.on('close', request.body.release)
    next()
  })
  inbound.setErrorHandler((error, _request, reply) => {
    if (!(error instanceof CallbackRejectedError)) throw error
    counters.notReceived.inc({ reason: error.reason })
    counters.callbacks.inc({ result: 'unreceived' })
    return reject(reply, error)
  })
  inbound.addHook('onRequest', (request, reply, next) => {
    // Check the header first, so that an unsigned body is never read.
    if (!signaturePattern.test(signatureOf(request)))
      return void reject(reply, { statusCode: 401, message: 'X-Hub-Signature-256 is missing or malformed.' })
    return next(
      (contentLength(request) ?? 0) > bodyLimits.maxBytes ? new CallbackRejectedError('too_large') : undefined,
    )
  })
}

async function answerHandshake(
  { db }: Pick<Deps, 'db'>,
  { verifyToken }: CallbackOptions,
  request: FastifyRequest<CallbackRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const handshake = Handshake.safeParse(request.query)
  void reply.type('text/plain')
  if (!handshake.success || !isSameSecret(handshake.data['hub.verify_token'], verifyToken))
    // One answer for both, so that unauthenticated callers do not learn which it is.
    return reply
      .code(403)
      .send('The verify token does not match META_VERIFY_TOKEN, or that is not set: waybill doctor shows which.\n')
  const { whatsAppAccountId } = request.params
  // Checked after the token, so that unauthenticated callers learn nothing about IDs.
  if (whatsAppAccountId !== undefined && (await findAccountOfWhatsAppAccount(db, whatsAppAccountId)) === undefined)
    return reply
      .code(404)
      .send('No WhatsApp account has the ID in this path. List them with: waybill whatsapp list ACC\n')
  return reply.send(handshake.data['hub.challenge'])
}

interface Receiver {
  deps: Deps & Parameters<typeof handleCallback>[0]
  options: CallbackOptions
  counters: Counters
  limiter: ReturnType<typeof createCallbackLimiter>
  signatures: ReturnType<typeof watchSignatures>
}

type Counters = ReturnType<typeof createCounters>

/** Returns the text of the answer: Fastify would wait for the end of a reply that is returned, with listeners of its own. */
async function receiveCallback(
  { deps, options, counters, limiter, signatures }: Receiver,
  request: FastifyRequest<CallbackRoute>,
  reply: FastifyReply,
): Promise<string> {
  const receivedAt = performance.now()
  const { bytes, release, discard } = isReceived(request.body) ? request.body : noBody
  const callback = {
    body: bytes,
    signature: signatureOf(request),
    whatsAppAccountId: request.params.whatsAppAccountId,
  }
  const signer = await findCallbackSigner(deps, callback, options.appSecret).finally(release)
  void reply.type('text/plain')
  if (signer === undefined) {
    discard()
    counters.unsigned.inc()
    counters.callbacks.inc({ result: 'refused' })
    signatures.rejected(request.params.whatsAppAccountId)
    void reply.code(401)
    return 'X-Hub-Signature-256 does not match the raw body.\n'
  }
  signatures.accepted(request.params.whatsAppAccountId)
  const client = {
    isGone: () => request.socket.destroyed,
    isLate: () => performance.now() - receivedAt > (options.handlingMilliseconds ?? maxHandlingMilliseconds),
  }
  // By account and not by secret: an account can have as many apps as it wants.
  const handling = limiter.run(signer.accountId ?? '', bytes.length, () =>
    handleCallback(deps, bytes, { signer: signer.appSecret, default: options.appSecret }, client),
  )
  if (!handling) {
    counters.notReceived.inc({ reason: 'too_many' })
    counters.callbacks.inc({ result: 'unreceived' })
    void reply.code(503).header('Retry-After', '1')
    return 'Too many large callbacks are waiting. Retry this callback.\n'
  }
  const results = await handling
  if (!results) throw new CallbackRejectedError(client.isLate() ? 'too_long' : 'interrupted')
  counters.callbacks.inc({ result: 'accepted' })
  count(counters.statuses, results, statusResults)
  count(counters.replies, results.replies, replyResults)
  return 'ok\n'
}

const replyResults = ['applied', 'repeated', 'unknown'] as const satisfies (keyof ApplyCounts)[]
const statusResults = [...replyResults, 'ignored'] as const

function count<Result extends string>(
  counter: Counter<'result'>,
  counts: Readonly<Record<Result, number>>,
  results: readonly Result[],
): void {
  for (const result of results) if (counts[result] > 0) counter.inc({ result }, counts[result])
}

function createCounters(metrics: Registry) {
  const registers = [metrics]
  return {
    statuses: new Counter({
      name: 'waybill_whatsapp_statuses_total',
      help: 'Statuses received from WhatsApp, by result.',
      labelNames: ['result'] as const,
      registers,
    }),
    missing: new Counter({
      name: 'waybill_whatsapp_statuses_missing_total',
      help: 'Statuses of messages that Waybill sent within the last day and that the database does not have. After a failover or a restore, these messages are lost.',
      registers,
    }),
    errors: new Counter({
      name: 'waybill_whatsapp_callback_errors_total',
      help: "Errors that callbacks report beside their messages, by WhatsApp's error code.",
      labelNames: ['code'] as const,
      registers,
    }),
    replies: new Counter({
      name: 'waybill_whatsapp_replies_total',
      help: 'Replies and opt-outs received from WhatsApp, by result: applied, repeated or unknown (not about a message that Waybill sent).',
      labelNames: ['result'] as const,
      registers,
    }),
    callbacks: new Counter({
      name: 'waybill_whatsapp_callbacks_total',
      help: 'Callbacks from WhatsApp, by result: accepted, refused (signature) or unreceived (body).',
      labelNames: ['result'] as const,
      registers,
    }),
    unsigned: new Counter({
      name: 'waybill_whatsapp_callbacks_refused_total',
      help: 'Callbacks rejected because their signature matches neither META_APP_SECRET nor the app secret of their WhatsApp account.',
      registers,
    }),
    notReceived: new Counter({
      name: 'waybill_whatsapp_callbacks_unreceived_total',
      help: 'Callbacks whose body was not received, by reason: too_large, too_slow, too_many, too_long or interrupted.',
      labelNames: ['reason'] as const,
      registers,
    }),
  }
}

const noBody: ReceivedBody = { bytes: Buffer.alloc(0), release: () => undefined, discard: () => undefined }

/** Requests without a body have no `ReceivedBody`. */
function isReceived(body: unknown): body is ReceivedBody {
  return typeof body === 'object' && body !== null && 'bytes' in body
}

/** Closes the connection, so that the rest of the body is not read. */
function reject(reply: FastifyReply, { statusCode, message }: { statusCode: number; message: string }): FastifyReply {
  if (statusCode === 503) void reply.header('Retry-After', '1')
  return reply.code(statusCode).header('Connection', 'close').type('text/plain').send(`${message}\n`)
}

function signatureOf(request: FastifyRequest): string {
  const signature = request.headers['x-hub-signature-256']
  return typeof signature === 'string' ? signature : ''
}

import { randomBytes } from 'node:crypto'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { contracts } from '../../contracts/index.ts'
import type { Deps } from '../deps.ts'
import { answerClientError } from './client-error.ts'
import { registerDocs } from './docs.ts'
import { failureHeaders, statusOf, toFailureBody, toServiceError } from './errors.ts'
import { fromFastifyError } from './fastify-errors.ts'
import { registerHealth } from './health.ts'
import { registerHome } from './home.ts'
import { registerMetrics } from './metrics.ts'
import { registerNotFound } from './not-found.ts'
import { pairProcedures } from './procedures.ts'
import { registerRest } from './rest.ts'
import { registerTrpc } from './trpc.ts'
import { verbs } from './verbs.ts'

export interface ServerOptions {
  /** Addresses and ranges whose `X-Forwarded-For` is believed. */
  trustedProxies: string[]
  metricsToken: string | undefined
  /** The sandbox keeps nothing from its user: its metrics are open. */
  sandbox: boolean
  /** True once a stop was asked for. */
  isDraining: () => boolean
}

const maxBodyBytes = 64 * 1024
/** A caller has this long to send its whole request. */
const requestTimeoutMilliseconds = 10_000
/** Longer than the minute for which load balancers commonly keep idle connections. */
const keepAliveMilliseconds = 65_000

export async function createServer(deps: Deps, options: ServerOptions): Promise<FastifyInstance> {
  const app = fastify({
    trustProxy: options.trustedProxies.length === 0 ? false : options.trustedProxies,
    bodyLimit: maxBodyBytes,
    requestTimeout: requestTimeoutMilliseconds,
    keepAliveTimeout: keepAliveMilliseconds,
    http: {
      // Node's own 60 seconds would keep the shorter limit for the whole request from counting.
      headersTimeout: requestTimeoutMilliseconds,
      // Node looks for late requests only this often; its own 30 seconds would triple the limit.
      connectionsCheckingInterval: 1_000,
    },
    routerOptions: { maxParamLength: 1024 },
    genReqId: requestIds(),
    // While it closes, the server finishes what comes in on open connections: it does not refuse it.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request: FastifyRequest, reply: FastifyReply) =>
      void answerFailure(deps, error, request, reply),
  })
  const procedures = pairProcedures(contracts, verbs)

  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('X-Request-Id', request.id).header('X-Content-Type-Options', 'nosniff')
    done()
  })
  app.setErrorHandler((error, request, reply) => answerFailure(deps, error, request, reply))
  registerNotFound(app, procedures)
  registerMetrics(
    app,
    options.metricsToken !== undefined ? { token: options.metricsToken } : options.sandbox ? 'everybody' : 'nobody',
  )
  registerHealth(app, deps, options.isDraining)
  registerHome(app)
  registerDocs(app)
  await registerRest(app, deps, procedures)
  await registerTrpc(app, deps, procedures)
  return app
}

function answerFailure(
  { log }: Pick<Deps, 'log'>,
  error: unknown,
  { id }: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const failure = fromFastifyError(error) ?? toServiceError(error, { requestId: id, log })
  return reply.code(statusOf(failure)).headers(failureHeaders(failure)).send(toFailureBody(failure))
}

/** Unique over processes and cheap: a random start, then a count. */
function requestIds(): () => string {
  const process = randomBytes(6).toString('hex')
  let count = 0
  return () => `req_${process}_${(++count).toString(36)}`
}

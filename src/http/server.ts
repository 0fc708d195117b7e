import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { Registry } from 'prom-client'
import { ServiceError } from '../../contracts/errors.ts'
import { contracts, restContracts } from '../../contracts/index.ts'
import { type ApiProcedure, listProcedures } from '../../contracts/procedure.ts'
import type { RequestLog } from '../accounts/requests/request-log.ts'
import type { Deps } from '../deps.ts'
import { createRequestIds } from '../platform/ids.ts'
import type { OidcProvider } from '../users/sign-in/options.ts'
import type { PasswordHashing } from '../users/sign-in/password-hashing.ts'
import { coalesceWrites } from './api/coalesce-writes.ts'
import { failureHeaders, fromFastifyError, statusOf, toFailureBody, toServiceError } from './api/errors.ts'
import { type ApiCall, authorizeApiKey } from './api/authorize.ts'
import { apiHandlers } from './api/handlers.ts'
import { isUpload, registerMediaUpload } from './api/media-upload.ts'
import { limitProcedures, pairProcedures } from './api/procedures.ts'
import { recordRequests } from './api/request-log.ts'
import { noteFailure, registerTrace } from './api/request-trace.ts'
import { registerRest } from './api/rest.ts'
import { registerTrpc, toTrpcFailureBody } from './api/trpc.ts'
import { createExplainUnserved, reserveExactPaths } from './api/unserved.ts'
import { type CallbackOptions, registerCallbacks } from './callbacks/callbacks.ts'
import { isDashboardBuilt, registerPages } from './dashboard/pages.ts'
import { isSampleUpload } from './dashboard/sample-upload.ts'
import { registerDashboard, dashboardTrpcPath } from './dashboard/trpc.ts'
import { registerDocs } from './docs/docs.ts'
import { registerHome } from './docs/home.ts'
import { limitConnections } from './limits/connections.ts'
import { registerLoadLimit } from './limits/load-limit.ts'
import { limitCallsOfWhatsApp } from './limits/whatsapp-calls.ts'
import { createReadLimit } from './limits/read-limit.ts'
import { isMcp, registerMcp, toMcpFailureBody } from './mcp/mcp.ts'
import { registerHealth, type ServerState } from './ops/health.ts'
import { type MetricsAccess, registerMetrics, registerPendingMetric } from './ops/metrics.ts'
import { traceRequests } from './ops/tracing.ts'
import { registerHealthMetrics, registerTemplatesMetric } from './ops/whatsapp-metrics.ts'

export interface ServerOptions {
  /** Addresses and ranges whose `X-Forwarded-For` is believed. */
  trustedProxies: string[]
  metricsToken: string | undefined
  /** Holds the metrics of this process. */
  registry?: Registry
  /** What WhatsApp's callbacks must show; without it none is taken. */
  callbacks?: CallbackOptions
  /** A worker shows its health and its metrics, and nothing else. */
  healthOnly?: boolean
  /** The sandbox keeps nothing from its user: its metrics are open. */
  sandbox: boolean
  /** Where browsers find this server; by default, where they asked for it. */
  publicUrl?: string | undefined
  /** The provider that the owners' organisation signs in with. */
  oidc?: OidcProvider | undefined
  /** How passwords are hashed; by default, with scrypt. */
  hashing?: PasswordHashing | undefined
  /** Requests at work at once, beyond which they are refused. */
  maxConcurrentRequests?: number
  /** How long a client may read nothing of a waiting answer. */
  stallMilliseconds?: number
  /** How long the body of a request may take that is no upload. */
  bodyMilliseconds?: number
  /** The text of `/metrics`; by default, that of the registry. */
  collectMetrics?: () => Promise<string>
  readState: () => ServerState
  /** Records the requests of the API; by default, none are recorded. */
  requestLog?: RequestLog | undefined
}

const maxBodyBytes = 64 * 1024
/** A caller has this long to send its headers, and as long again for its whole request, unless it uploads a file. */
const requestTimeoutMilliseconds = 10_000
/** Longer than the five minutes for which an upload may take. */
const uploadTimeoutMilliseconds = 6 * 60_000
/** Real clients pipeline less; this caps buffered responses at about 3 MB. */
const maxUnansweredRequests = 64
/** Even a slow network takes some bytes in this time. */
const defaultStallMilliseconds = 20_000
/** Longer than the minute for which load balancers commonly keep idle connections. */
const keepAliveMilliseconds = 65_000

/** Contracts check what routes take and answer, so Fastify need not load the compilers of its JSON schemas. */
const noSchemas = { buildValidator: rejectSchema, buildSerializer: rejectSchema }

function rejectSchema(): never {
  throw new Error('a route has a JSON schema, where it needs a contract')
}

const noCallbacks: CallbackOptions = { appSecret: undefined, verifyToken: undefined }

export async function createServer(deps: Deps, options: ServerOptions): Promise<FastifyInstance> {
  const connections = limitConnections({
    maxUnanswered: maxUnansweredRequests,
    stallMilliseconds: options.stallMilliseconds ?? defaultStallMilliseconds,
    bodyMilliseconds: options.bodyMilliseconds ?? requestTimeoutMilliseconds,
    mayTakeLong: (request) => isUpload(request) || isSampleUpload(request),
  })
  const app = fastify({
    trustProxy: options.trustedProxies.length === 0 ? false : options.trustedProxies,
    bodyLimit: maxBodyBytes,
    serverFactory: (handler) =>
      connections.createServer(handler, {
        // Node has one limit for all requests; `connections` has the shorter one of all but uploads.
        requestTimeout: uploadTimeoutMilliseconds,
        keepAliveTimeout: keepAliveMilliseconds,
        headersTimeout: requestTimeoutMilliseconds,
        // Node looks for late requests only this often; its own 30 seconds would triple the limit.
        connectionsCheckingInterval: 1_000,
      }),
    routerOptions: { maxParamLength: 1024 },
    schemaController: { compilersFactory: noSchemas },
    genReqId: createRequestIds(deps.randomBytes),
    // While it closes, the server finishes what comes in on open connections: it does not refuse it.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request: FastifyRequest, reply: FastifyReply) =>
      void answerFailure(deps, options, error, request, reply),
  })
  const procedures = pairProcedures<ApiProcedure, ApiCall>(contracts, apiHandlers)
  const apiContracts = listProcedures(restContracts).map(({ contract }) => contract)
  const explainUnserved = createExplainUnserved(apiContracts)
  const reads = createReadLimit()
  const registry = options.registry ?? new Registry()

  app.addHook('onRequest', (request, reply, done) => {
    // In lower case: Fastify would write it so anyway, for each request anew.
    void reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff')
    if (options.readState() !== 'serving') void reply.header('connection', 'close')
    // Before the body is read, since Fastify refuses some methods for their bodies.
    done(connections.findRejection(request.raw) ?? (request.is404 ? explainUnserved(request.url, reply) : undefined))
  })
  app.setErrorHandler((error, request, reply) => answerFailure(deps, options, error, request, reply))
  app.setNotFoundHandler((request, reply) => {
    throw explainUnserved(request.url, reply)
  })
  registerMetrics(app, metricsAccess(options), registry, options.collectMetrics)
  registerPendingMetric(deps, registry)
  registerHealthMetrics(deps, registry)
  registerTemplatesMetric(deps, registry)
  registerHealth(app, deps, options.readState)
  registerTrace(app)
  if (options.healthOnly === true) return app
  const dashboard = isDashboardBuilt()
  registerHome(app, { dashboard })
  if (dashboard) registerPages(app)
  else deps.log.warn('the dashboard is not built and is not served; build it with: npm run dashboard')
  registerDocs(app)
  if (options.requestLog) recordRequests(app, options.requestLog, toBody)
  reserveExactPaths(app, apiContracts, explainUnserved)
  await app.register(async (limited) => {
    if (deps.tracing) traceRequests(limited, deps.tracing)
    coalesceWrites(limited)
    registerLoadLimit(limited, registry, options.maxConcurrentRequests)
    const limitCalls = limitCallsOfWhatsApp()
    const limitedProcedures = limitProcedures(procedures, reads).map((procedure) => limitCalls(procedure))
    await registerRest(limited, deps, limitedProcedures)
    await registerMediaUpload(limited, deps)
    await registerTrpc<ApiProcedure, ApiCall>(limited, deps, {
      prefix: '/trpc',
      procedures: limitedProcedures,
      authorize: (contract, context) => authorizeApiKey(deps, contract, context),
      maxBatchSize: 10,
      showFields: false,
      publicUrl: options.publicUrl,
    })
    await registerMcp(limited, deps, limitedProcedures)
    const { publicUrl, oidc, hashing, sandbox: signInLinks } = options
    const ways = { publicUrl, oidc, hashing, signInLinks }
    await registerDashboard(limited, deps, { reads, limitCalls }, ways, registry)
    await registerCallbacks(limited, deps, options.callbacks ?? noCallbacks, registry)
  })
  return app
}

function answerFailure(
  { log }: Pick<Deps, 'log'>,
  { publicUrl }: Pick<ServerOptions, 'publicUrl'>,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { id, url, raw } = request
  const failure =
    fromFastifyError(error) ?? findInterruption(error, raw) ?? toServiceError(error, { requestId: id, log })
  noteFailure(request, failure)
  return reply.code(statusOf(failure)).headers(failureHeaders(failure, publicUrl)).send(toBody(failure, url))
}

/** A caller who leaves in the middle of the body is no fault of ours, though its error looks like a lost database. */
function findInterruption(error: unknown, { errored }: IncomingMessage): ServiceError | undefined {
  return error === errored ? new ServiceError('VALIDATION_ERROR', 'The request ended early.') : undefined
}

function toBody(failure: ServiceError, url: string): object {
  if (isMcp(url)) return toMcpFailureBody(failure)
  return isTrpc(url) ? toTrpcFailureBody(failure) : toFailureBody(failure)
}

function isTrpc(url: string): boolean {
  return url.startsWith('/trpc/') || url.startsWith(`${dashboardTrpcPath}/`)
}

function metricsAccess({ metricsToken, sandbox }: ServerOptions): MetricsAccess {
  if (metricsToken !== undefined) return { token: metricsToken }
  return sandbox ? 'everybody' : 'nobody'
}

/** Answers what is not HTTP, or came too slowly, in the envelope too; then the connection is over. */
function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const failure = describe(error.code)
  const body = JSON.stringify(toFailureBody(failure))
  const head = [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    ...Object.entries(failureHeaders(failure, undefined)).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

function describe(code: string | undefined): ServiceError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ServiceError(
        'VALIDATION_ERROR',
        'The request did not arrive in time: send headers and body within 10 seconds.',
      )
    case 'HPE_HEADER_OVERFLOW':
      return new ServiceError('VALIDATION_ERROR', 'The request headers are larger than 16 KiB.')
    default:
      return new ServiceError('VALIDATION_ERROR', 'The request is not valid HTTP.')
  }
}

import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { Registry } from 'prom-client'
import { arrivedTooLate, ServiceError } from '../../contracts/errors.ts'
import { contracts, restContracts } from '../../contracts/index.ts'
import { type ApiProcedure, listProcedures } from '../../contracts/procedure.ts'
import type { RequestLog } from '../accounts/requests/request-log.ts'
import type { Deps } from '../deps.ts'
import { createBudgets } from '../pipeline/budgets.ts'
import { createWorkLimiter, type WorkLimits, workLimits } from '../pipeline/work-limiter.ts'
import { Pipeline } from '../pipeline/pipeline.ts'
import { pairProcedures } from '../pipeline/procedures.ts'
import { createReadLimiter, type ReadLimits, readLimits } from '../pipeline/read-limiter.ts'
import { createRequestIds } from '../platform/ids.ts'
import type { OidcProvider } from '../users/sign-in/id-token.ts'
import type { PasswordHashing } from '../users/sign-in/password-hashing.ts'
import { registerQueueGauges } from '../webhooks/queue/metrics.ts'
import { type ApiCall, authorizeApiKey } from './api/authorize.ts'
import { failureHeaders, fromFastifyError, statusOf, toFailureBody, toServiceError } from './api/errors.ts'
import { apiHandlers } from './api/handlers.ts'
import { isUpload, registerMediaUpload } from './api/media-upload.ts'
import { registerMessageExport } from './api/message-export.ts'
import { recordFailure, recordRequests, registerTrace } from './api/request-log.ts'
import { registerRest } from './api/rest.ts'
import { registerTrpc, toTrpcFailureBody } from './api/trpc.ts'
import { createExplainUnknownRoute, reserveExactPaths } from './api/unknown-route.ts'
import { type CallbackOptions, registerCallbacks } from './callbacks/callbacks.ts'
import { isDashboardBuilt, registerPages } from './dashboard/pages.ts'
import { isDashboardUpload, toUploadFailureBody } from './dashboard/uploads.ts'
import { dashboardTrpcPath, registerDashboard } from './dashboard/trpc.ts'
import { registerClientPackage } from './docs/client-package.ts'
import { registerDocs, registerHome } from './docs/docs.ts'
import { withoutPorts } from './forwarded-for.ts'
import { registerConcurrencyLimit } from './limits/concurrency-limit.ts'
import { Connections, limitUnreadResponses } from './limits/connections.ts'
import { receiveBodies } from './limits/request-bodies.ts'
import { isMcp, registerMcp, toMcpFailureBody } from './mcp/mcp.ts'
import { registerHealthMetrics } from './ops/health-metrics.ts'
import { registerHealth, type ServerState } from './ops/health.ts'
import {
  type MetricsAccess,
  registerDatabaseMetric,
  registerMetrics,
  registerPendingMetric,
  registerTemplatesMetric,
} from './ops/metrics.ts'
import { traceRequests } from './ops/tracing.ts'

export interface ServerOptions {
  /** Addresses and ranges whose `X-Forwarded-For` is trusted. */
  trustedProxies: string[]
  metricsToken: string | undefined
  /** Holds the metrics of this process. */
  registry?: Registry
  /** Secrets that WhatsApp's callbacks must present; without them, all callbacks are rejected. */
  callbacks?: CallbackOptions
  /** Serves only health and metrics, for a worker. */
  healthOnly?: boolean
  /** In the sandbox, metrics are public. */
  sandbox: boolean
  /** The URL of this server for browsers; the URL of each request by default. */
  publicUrl?: string | undefined
  /** The OIDC provider with which users sign in. */
  oidc?: OidcProvider | undefined
  /** How passwords are hashed; scrypt by default. */
  hashing?: PasswordHashing | undefined
  /** Requests beyond this number of concurrent ones are rejected. */
  maxConcurrentRequests?: number
  /** How long a client may read nothing of a pending response. */
  stallMilliseconds?: number
  /** How long the headers of a request may take, and again its body, except for uploads. */
  arrivalMilliseconds?: number
  /** How long a closing server waits for a request that has stopped arriving. */
  silenceMilliseconds?: number
  /** The text of `/metrics`; by default, that of the registry. */
  collectMetrics?: () => Promise<string>
  readState: () => ServerState
  /** Limits of each account, and of the bytes that all clients together leave unread. */
  limits?: { workLimiter?: Partial<WorkLimits>; readLimiter?: Partial<ReadLimits>; maxUnreadBytes?: number }
  /** Records the requests of the API; by default, none are recorded. */
  requestLog?: RequestLog | undefined
}

const maxBodyBytes = 64 * 1024
/** The time limit for the headers of a request, and again for its body, unless it uploads a file. */
const defaultArrivalMilliseconds = 10_000
/** Longer than the five minutes that an upload may take. */
const uploadTimeoutMilliseconds = 6 * 60_000
/** More than real clients pipeline. It limits buffered responses to about 3 MB per connection. */
const maxUnansweredRequests = 64
/** Pipelined requests beyond this number wait, so that one connection cannot start 64 expensive ones at once. */
const maxConcurrentPerConnection = 4
/** A quarter of the smallest heap that we support. */
const maxUnreadBytes = 48 * 1024 * 1024
/** Even a slow network transfers some bytes in this time. */
const defaultStallMilliseconds = 20_000
/** Longer than a client with a poor connection pauses while it sends a file. */
const defaultSilenceMilliseconds = 5_000
/** Longer than the minute for which load balancers commonly keep idle connections. */
const keepAliveMilliseconds = 65_000

/** Contracts validate inputs and outputs, so Fastify need not load its JSON schema compilers. */
const noSchemas = { buildValidator: rejectSchema, buildSerializer: rejectSchema }

function rejectSchema(): never {
  throw new Error('a route has a JSON schema; use a contract instead')
}

const noCallbacks: CallbackOptions = { appSecret: undefined, verifyToken: undefined }

export async function createServer(deps: Deps, options: ServerOptions): Promise<FastifyInstance> {
  const connections = createConnections(options)
  const app = createApp(deps, options, connections)
  app.addHook('preClose', (done) => {
    connections.endSilentRequests(app.server)
    done()
  })
  const apiContracts = listProcedures(restContracts).map(({ contract }) => contract)
  const explainUnknownRoute = createExplainUnknownRoute(apiContracts)
  const registry = options.registry ?? new Registry()
  answerEveryRequest(app, deps, options, { connections, explainUnknownRoute })
  registerOperations(app, deps, options, registry)
  if (options.healthOnly === true) return app
  registerSites(app, deps, options)
  if (options.requestLog) recordRequests(app, options.requestLog, toBody)
  reserveExactPaths(app, apiContracts, explainUnknownRoute)
  await app.register((limited) => registerInterfaces(limited, deps, options, { connections, registry }))
  return app
}

function createConnections(options: ServerOptions): Connections {
  return new Connections({
    maxUnanswered: maxUnansweredRequests,
    maxConcurrent: maxConcurrentPerConnection,
    maxUnreadBytes: options.limits?.maxUnreadBytes ?? maxUnreadBytes,
    stallMilliseconds: options.stallMilliseconds ?? defaultStallMilliseconds,
    bodyMilliseconds: options.arrivalMilliseconds ?? defaultArrivalMilliseconds,
    silenceMilliseconds: options.silenceMilliseconds ?? defaultSilenceMilliseconds,
    mayTakeLong: (request) => isUpload(request) || isDashboardUpload(request),
  })
}

function createApp(deps: Deps, options: ServerOptions, connections: Connections): FastifyInstance {
  const createId = createRequestIds(deps.randomBytes)
  return fastify({
    trustProxy: options.trustedProxies.length === 0 ? false : options.trustedProxies,
    bodyLimit: maxBodyBytes,
    serverFactory: (handler) =>
      connections.createServer(options.trustedProxies.length === 0 ? handler : withoutPorts(handler), {
        // Node has one limit for all requests; `connections` applies the shorter limit to all but uploads.
        requestTimeout: uploadTimeoutMilliseconds,
        keepAliveTimeout: keepAliveMilliseconds,
        headersTimeout: options.arrivalMilliseconds ?? defaultArrivalMilliseconds,
        // How often Node checks for late requests. Its default would add up to 30 seconds to the limit.
        connectionsCheckingInterval: 1_000,
        // `connections` answers with the error envelope instead of Node's empty response.
        requireHostHeader: false,
      }),
    routerOptions: { maxParamLength: 1024 },
    rewriteUrl: ({ url = '/' }) => (url.startsWith('/') ? url : toOriginForm(url)),
    schemaController: { compilersFactory: noSchemas },
    genReqId: createId,
    // While closing, the server still handles requests on open connections.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: (error, socket) => answerClientError(error, socket, createId()),
    // No hook runs for these requests.
    frameworkErrors: (error, request: FastifyRequest, reply: FastifyReply) =>
      void answerFailure(deps, options, error, request, addCommonHeaders(reply, request.id)),
  })
}

/** A client may send a whole URL, as to a proxy (RFC 9112, 3.2.2). What serves requests compares paths. */
function toOriginForm(url: string): string {
  return url.replace(/^https?:\/\/[^/?#]*\/?/i, '/')
}

/** Lower case saves Fastify the conversion on each request. */
function addCommonHeaders(reply: FastifyReply, requestId: string): FastifyReply {
  return reply.header('x-request-id', requestId).header('x-content-type-options', 'nosniff')
}

/** What each answer has, whatever serves it, and the answers to requests that nothing serves. */
function answerEveryRequest(
  app: FastifyInstance,
  deps: Deps,
  options: ServerOptions,
  {
    connections,
    explainUnknownRoute,
  }: { connections: Connections; explainUnknownRoute: ReturnType<typeof createExplainUnknownRoute> },
): void {
  app.addHook('onRequest', (request, reply, done) => {
    addCommonHeaders(reply, request.id)
    if (options.readState() !== 'serving') void reply.header('connection', 'close')
    // Runs before the body is read, because Fastify rejects the bodies of some methods.
    done(
      connections.findRejection(request.raw) ?? (request.is404 ? explainUnknownRoute(request.url, reply) : undefined),
    )
  })
  app.setErrorHandler((error, request, reply) => answerFailure(deps, options, error, request, reply))
  app.setNotFoundHandler((request, reply) => {
    throw explainUnknownRoute(request.url, reply)
  })
}

/** What operators and their tools read. */
function registerOperations(app: FastifyInstance, deps: Deps, options: ServerOptions, registry: Registry): void {
  registerMetrics(app, deps, { access: metricsAccess(options), registry, collect: options.collectMetrics })
  registerDatabaseMetric(deps, registry)
  registerPendingMetric(deps, registry)
  registerQueueGauges(deps, registry)
  registerHealthMetrics(deps, registry)
  registerTemplatesMetric(deps, registry)
  registerHealth(app, deps, options.readState)
  registerTrace(app)
}

/** The files of the dashboard, the documentation and the client. */
function registerSites(app: FastifyInstance, deps: Deps, options: ServerOptions): void {
  const dashboard = isDashboardBuilt()
  registerHome(app, { dashboard })
  if (dashboard) registerPages(app)
  else deps.log.warn('the dashboard is not built and is not served; build it with: npm run dashboard')
  registerDocs(app, { isSimulated: options.sandbox, address: new URL(deps.publicUrl).origin })
  registerClientPackage(app, deps.log)
}

/** Everything that runs procedures, within the limits of the server. */
async function registerInterfaces(
  app: FastifyInstance,
  deps: Deps,
  options: ServerOptions,
  { connections, registry }: { connections: Connections; registry: Registry },
): Promise<void> {
  const procedures = pairProcedures<ApiProcedure, ApiCall>(contracts, apiHandlers)
  const workLimiter = createWorkLimiter({ ...workLimits, ...options.limits?.workLimiter })
  const readLimiter = createReadLimiter({ ...readLimits, ...options.limits?.readLimiter })
  const pipeline = new Pipeline(deps, { workLimiter, readLimiter, spend: createBudgets() })
  if (deps.tracing) traceRequests(app, deps.tracing)
  forbidCaching(app)
  coalesceWrites(app)
  registerConcurrencyLimit(app, registry, options.maxConcurrentRequests)
  limitUnreadResponses(app, connections, workLimiter)
  receiveBodies(app, maxBodyBytes)
  await registerRest(app, deps, pipeline, procedures)
  await registerMediaUpload(app, deps, pipeline)
  registerMessageExport(app, deps, pipeline)
  await registerTrpc<ApiProcedure, ApiCall>(app, deps, {
    prefix: '/trpc',
    procedures,
    pipeline,
    authorize: (contract, context) => authorizeApiKey(deps, contract, context),
    maxBatchSize: 10,
    showFields: false,
    publicUrl: options.publicUrl,
  })
  await registerMcp(app, deps, pipeline, procedures)
  const { publicUrl, oidc, hashing, sandbox: signInLinks } = options
  const authOptions = { publicUrl, oidc, hashing, signInLinks }
  await registerDashboard(app, deps, pipeline, authOptions, registry)
  await registerCallbacks(app, deps, options.callbacks ?? noCallbacks, registry)
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
  recordFailure(request, failure)
  const body = isDashboardUpload(raw) ? toUploadFailureBody(failure) : toBody(failure, url)
  return reply.code(statusOf(failure)).headers(failureHeaders(failure, publicUrl)).send(body)
}

/** A caller that disconnects during the body is not a server error, although the error looks like a lost database connection. */
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

/**
 * Responds to invalid HTTP and to timeouts with the error envelope, then closes the connection. If nothing has arrived, there
 * is nothing to respond to: browsers and proxies open connections in advance, and would take it for the response to their
 * next request.
 */
function answerClientError(error: Error & { code?: string }, socket: Socket, requestId: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) {
    socket.destroy()
    return
  }
  const failure = describe(error.code)
  const body = JSON.stringify(toFailureBody(failure))
  const status = statusOf(failure)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    `X-Request-Id: ${requestId}`,
    'X-Content-Type-Options: nosniff',
    ...Object.entries(failureHeaders(failure, undefined)).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

function describe(code: string | undefined): ServiceError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return arrivedTooLate('The request', 'send the headers within 10 seconds, and the body within another 10')
    case 'WAYBILL_SILENT_REQUEST':
      return new ServiceError(
        'SERVICE_UNAVAILABLE',
        'The server is shutting down, and the rest of the request did not arrive. Nothing was stored or sent. Try again.',
        { retryAfterSeconds: 1 },
      )
    case 'HPE_HEADER_OVERFLOW':
      return new ServiceError('VALIDATION_ERROR', 'The request headers are larger than 16 KiB.')
    default:
      return new ServiceError('VALIDATION_ERROR', 'The request is not valid HTTP.')
  }
}

/** What the interfaces return is private, and caches do not know that `X-API-Key` names the caller (RFC 9111, 3.5). */
function forbidCaching(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    void reply.header('cache-control', 'no-store')
    done()
  })
}

/**
 * Writes the responses that become ready in one turn of the event loop together at its end. Writing each response
 * separately wakes the client once per response, and at full load a write costs twice as much. A single response does
 * not wait: its turn ends at once.
 */
function coalesceWrites(app: FastifyInstance): void {
  let ready: { reply: FastifyReply; write: () => void }[] = []
  const writeAll = () => {
    const responses = ready
    ready = []
    for (const { reply, write } of responses)
      try {
        write()
      } catch {
        // The response cannot be written. An uncaught error would end the process, so drop the connection instead.
        reply.raw.destroy()
      }
  }
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (ready.push({ reply, write: done }) === 1) setImmediate(writeAll)
  })
}

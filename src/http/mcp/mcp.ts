import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../../contracts/errors.ts'
import type { ApiProcedure } from '../../../contracts/procedure.ts'
import { findAccount } from '../../accounts/store.ts'
import type { Deps } from '../../deps.ts'
import { costOf, type Pipeline } from '../../pipeline/pipeline.ts'
import type { ServedProcedure } from '../../pipeline/procedures.ts'
import { BoundedMap } from '../../platform/bounded-map.ts'
import { type ApiCall, authorizeApiKey, parseIdempotencyKey } from '../api/authorize.ts'
import { toServiceError } from '../api/errors.ts'
import { parseInput, parseJsonBody } from '../api/input.ts'
import { recordFailure } from '../api/request-log.ts'
import { sizeOf } from '../api/rest.ts'
import type { Answer, ToolResult, Tools } from './session.ts'
import { listTools, type Tool, type ToolDescription } from './tools.ts'

const mcpPath = '/mcp'

/**
 * Serves the procedures as tools of the Model Context Protocol (streamable HTTP, without sessions). A message passes the
 * same checks as a request of the API: key, allow-list, rate limit and load limits.
 */
export async function registerMcp(
  app: FastifyInstance,
  deps: Deps,
  pipeline: Pipeline,
  procedures: ServedProcedure<ApiProcedure, ApiCall>[],
): Promise<void> {
  // Loaded at the first message, because most servers never receive one.
  const load = once(async () => ({
    ...indexTools(listTools(procedures)),
    answerMessage: cacheLists((await import('./session.ts')).answerMessage),
  }))
  await app.register((mcp, _options, done) => {
    mcp.addHook('onRequest', (request, _reply, next) => {
      adoptBearerKey(request)
      next(findForeignOrigin(request, deps.publicUrl))
    })
    mcp.post(mcpPath, (request, reply) => respond({ deps, pipeline, load }, request, reply))
    // The protocol uses other methods for streams and sessions, which this server does not support.
    mcp.route({ method: ['GET', 'DELETE'], url: mcpPath, handler: rejectMethod })
    done()
  })
}

interface Loaded {
  tools: ReadonlyMap<string, Tool>
  descriptions: ToolDescription[]
  answerMessage: AnswerMessage
}

interface Served {
  deps: Deps
  pipeline: Pipeline
  load: () => Promise<Loaded>
}

/** What the protocol's library costs for a message, in milliseconds. It waits for nothing else. */
const workPerMessage = 0.4

function indexTools(tools: Tool[]): Pick<Loaded, 'tools' | 'descriptions'> {
  return {
    tools: new Map(tools.map((tool) => [tool.description.name, tool])),
    descriptions: tools.map(({ description }) => description),
  }
}

/** A failure is not cached, so that the next message tries again. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined
  return () =>
    (loaded ??= load().catch((error: unknown) => {
      loaded = undefined
      throw error
    }))
}

interface McpExchange {
  request: FastifyRequest
  reply: FastifyReply
  /** Ends the message as one of the concurrent calls of its account. */
  leave: () => void
}

async function respond(served: Served, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { deps, pipeline } = served
  const call = await authorizeApiKey(deps, { budget: 'reads', idempotent: false }, { request, reply })
  // Only the message names its tool. Parsed, it takes up to 20 times its bytes, so it waits before that.
  const cost = { bytes: sizeOf(request), work: workPerMessage, counted: true }
  const waiting = pipeline.workLimiter.acquire(call.accountId, cost)
  await waiting
  let isCounted = true
  const leave = () => {
    if (isCounted) pipeline.workLimiter.release(call.accountId)
    isCounted = false
  }
  const exchange = { request, reply, leave, hasWaited: waiting !== undefined }
  const { status, contentType, text } = await answer(served, call, exchange).finally(leave)
  if (contentType !== null) void reply.header('content-type', contentType)
  return reply.code(status).send(text)
}

async function answer(
  { deps, pipeline, load }: Served,
  call: ApiCall,
  { hasWaited, ...exchange }: McpExchange & { hasWaited: boolean },
): Promise<Answer> {
  const { request } = exchange
  if (hasWaited) await call.assertStillAllowed()
  await assertMcpEnabled(deps, call.accountId)
  const message = pipeline.workLimiter.measure(call.accountId, sizeOf(request), () => readMessage(request))
  const { tools, descriptions, answerMessage } = await load()
  return answerMessage(toWebRequest(request), message, {
    descriptions,
    call: (name) => {
      const tool = tools.get(name)
      return tool && callTool({ deps, pipeline }, tool, readArguments(message), { call, ...exchange })
    },
  })
}

/** Returns a failure as a result, so that the model can read its code and message and correct the call. */
async function callTool(
  { deps, pipeline }: Pick<Served, 'deps' | 'pipeline'>,
  { procedure, input: schema }: Tool,
  raw: unknown,
  { call, request, reply, leave }: McpExchange & { call: ApiCall },
): Promise<ToolResult> {
  try {
    const { contract } = procedure
    const counted = contract.budget === 'sends' ? await authorizeApiKey(deps, contract, { request, reply }) : call
    const parse = () => {
      const { idempotencyKey, ...input } = { idempotencyKey: undefined, ...parseInput(schema, raw ?? {}) }
      // Parsed like the header, so that the quoted and the bare form are the same key. The schema only accepts text.
      counted.idempotencyKey = parseIdempotencyKey(idempotencyKey)
      // A valid input is small. While a send waits for WhatsApp, it takes no place of others.
      if (!costOf(contract, 0).counted) leave()
      return input
    }
    const data = await pipeline.run(procedure, counted, { bytes: 0, charged: 'whole', parse })
    return { data: data as object }
  } catch (thrown) {
    const failure = toServiceError(thrown, { requestId: request.id, log: deps.log })
    recordFailure(request, failure)
    const { code, message, retryAfterSeconds, details } = failure
    return { error: { code, message, retryAfterSeconds, ...details } }
  }
}

/** Off by default, so that a key for the API of an account is not a way in for every assistant that gets hold of it. */
async function assertMcpEnabled({ db }: Pick<Deps, 'db'>, accountId: string): Promise<void> {
  const account = await findAccount(db, accountId)
  if (account?.mcpEnabled === true) return
  throw new ServiceError(
    'API_DISABLED',
    'MCP is off for this account. An account owner turns it on in the dashboard under Public API, an operator with `waybill account update`.',
  )
}

function readMessage({ body, headers }: FastifyRequest): object {
  const message = parseJsonBody(body, {
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
  })
  if (Array.isArray(message))
    throw new ServiceError('VALIDATION_ERROR', 'Batches are not supported: send one JSON-RPC message per request.')
  if (typeof message !== 'object' || message === null)
    throw new ServiceError('VALIDATION_ERROR', 'The request body must be a JSON-RPC message.')
  return message
}

/** As they arrived: the protocol's library drops a field named `__proto__`, which every interface rejects. */
function readArguments(message: object): unknown {
  const params = 'params' in message ? message.params : undefined
  return typeof params === 'object' && params !== null && 'arguments' in params ? params.arguments : undefined
}

/** The headers that the protocol uses, without credentials. */
const passedHeaders = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']

function toWebRequest({ headers }: FastifyRequest): Request {
  const passed = passedHeaders.flatMap((name) => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value] as [string, string]] : []
  })
  passed.push(['accept', readAccept(headers.accept)])
  return new Request(`http://localhost${mcpPath}`, { method: 'POST', headers: passed })
}

/**
 * The protocol's library looks for the names of two types, the second of which it sends. Clients also send wildcards, the
 * second type alone, or no header, which accepts everything (RFC 9110, 12.5.1).
 */
function readAccept(header = '*/*'): string {
  const ranges = new Set(header.split(',').map((range) => range.replace(/;.*/, '').trim().toLowerCase()))
  const acceptsEvents = ['text/event-stream', 'text/*', '*/*'].some((range) => ranges.has(range))
  return acceptsEvents ? 'application/json, text/event-stream' : header
}

/** Accepts the key as a bearer token, because many clients can set no other header. `X-API-Key` takes precedence. */
function adoptBearerKey({ headers }: FastifyRequest): void {
  const [, key] = /^Bearer +([\x21-\x7e]+)$/i.exec(headers.authorization ?? '') ?? []
  if (key !== undefined) headers['x-api-key'] ??= key
}

/** Prevents pages of other sites from calling a server in their visitor's network (Model Context Protocol, Transports). */
function findForeignOrigin({ headers: { origin } }: FastifyRequest, publicUrl: string): ServiceError | undefined {
  if (origin === undefined || origin === new URL(publicUrl).origin) return undefined
  return new ServiceError(
    'FOREIGN_ORIGIN',
    'This request came from a page of another site, and was rejected. WAYBILL_PUBLIC_URL names the site that may call.',
  )
}

function rejectMethod(_request: FastifyRequest, reply: FastifyReply): never {
  void reply.header('Allow', 'POST')
  throw new ServiceError('METHOD_NOT_ALLOWED', 'This route takes POST only.')
}

/** JSON-RPC's code for implementation-defined errors. Our own code is in `data`. */
const serverError = -32_000
const invalidRequest = -32_600

/** Formats errors from before a message is read as a JSON-RPC error. */
export function toMcpFailureBody({ code, message, retryAfterSeconds }: ServiceError): object {
  return {
    jsonrpc: '2.0',
    id: null,
    error: {
      code: code === 'VALIDATION_ERROR' ? invalidRequest : serverError,
      message,
      data: { code, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) },
    },
  }
}

export function isMcp(url: string): boolean {
  return url === mcpPath || url.startsWith(`${mcpPath}?`)
}

type AnswerMessage = (request: Request, message: object, tools: Tools) => Promise<Answer>

/** Clients differ in their protocol version and in the content types that they accept. */
const maxAnswers = 16
const maxKeyLength = 1_024
/** Stands in a cached answer where the ID of the message goes. No other text of an answer contains it. */
const idMark = 'id-of-the-message-6f1c0d9e'

/** The text of an answer before and after the ID. */
interface CachedAnswer extends Omit<Answer, 'text'> {
  parts: [string, string]
}

/**
 * Answers `tools/list` from a cache. The list is the same for all callers while the process runs, and has
 * almost 40 KB, which the protocol's library would build and check for each message.
 */
function cacheLists(answerMessage: AnswerMessage): AnswerMessage {
  const answers = new BoundedMap<string, CachedAnswer>(maxAnswers)
  return async (request, message, tools) => {
    const key = isList(message) ? describe(request, message) : undefined
    if (key === undefined || !isList(message)) return answerMessage(request, message, tools)
    let answer = answers.get(key)
    if (!answer) {
      const { text, ...rest } = await answerMessage(request, { ...message, id: idMark }, tools)
      const [before, after, ...more] = text.split(JSON.stringify(idMark))
      if (before === undefined || after === undefined || more.length > 0 || rest.status !== 200)
        return answerMessage(request, message, tools)
      answer = { ...rest, parts: [before, after] }
      answers.set(key, answer)
    }
    const { parts, ...rest } = answer
    return { ...rest, text: parts[0] + JSON.stringify(message.id) + parts[1] }
  }
}

interface ListMessage {
  method: 'tools/list'
  id: string | number
}

function isList(message: object): message is ListMessage {
  if (!('method' in message) || message.method !== 'tools/list' || !('id' in message)) return false
  return typeof message.id === 'string' || Number.isInteger(message.id)
}

/** Everything but the ID can change the answer. Undefined if it is too long for a cache. */
function describe({ headers }: Request, message: ListMessage): string | undefined {
  const key = JSON.stringify([[...headers], { ...message, id: null }])
  return key.length > maxKeyLength ? undefined : key
}

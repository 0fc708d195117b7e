import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ServiceError } from '../../../contracts/errors.ts'
import { unknownCode } from '../../../contracts/fields.ts'
import { hashApiKey, isApiKey, startOfApiKey } from '../../accounts/api-key.ts'
import type { Authentication } from '../../accounts/authenticate.ts'
import {
  type BodyShape,
  type RedactedBody,
  redactJson,
  redactResponse,
  redactValue,
  scrubSecrets,
} from '../../accounts/requests/redact.ts'
import type { Bodies, RequestLog } from '../../accounts/requests/request-log.ts'

const maxPathLength = 512
const maxAddressLength = 64
const maxMessageLength = 600

type ToBody = (failure: ServiceError, url: string) => object

/** Records each API request after its response. `toBody` returns the response body of a failure as the caller got it. */
export function recordRequests(app: FastifyInstance, log: RequestLog, toBody: ToBody): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { trace } = request
    if (trace !== null && isApi(request.url)) record(log, { request, reply, trace, toBody })
    done()
  })
}

function isApi(url: string): boolean {
  return url.startsWith('/api/') || url.startsWith('/trpc/') || url === '/mcp' || url.startsWith('/mcp?')
}

interface CompletedRequest {
  request: FastifyRequest
  reply: FastifyReply
  trace: RequestTrace
  toBody: ToBody
}

function record(log: RequestLog, completed: CompletedRequest): void {
  const { request, reply, trace } = completed
  const apiKey = request.headers['x-api-key']
  // A request without a valid key belongs to no account. The HTTP metrics still count it.
  if (typeof apiKey !== 'string') return
  const isChecked = trace.accountId !== undefined
  if (!isChecked && (trace.failures?.[0]?.code === 'INVALID_API_KEY' || !isApiKey(apiKey))) return
  const failure = trace.failures?.[0]
  const elapsed = reply.elapsedTime
  log.add(
    {
      accountId: trace.accountId,
      keyHash: isChecked ? undefined : hashApiKey(apiKey),
      id: request.id,
      method: request.method,
      path: pathOf(request.url),
      status: reply.statusCode,
      errorCode: failure?.code ?? (reply.statusCode >= 400 ? unknownCode : undefined),
      durationMilliseconds: Math.round(elapsed),
      keyStart: startOfApiKey(apiKey),
      address: request.ip.slice(0, maxAddressLength),
      messageIds: trace.messageIds,
      receivedAt: performance.now() - elapsed,
      externalId: undefined,
      request: undefined,
      answer: undefined,
    },
    failure && ((parts) => (parts === 'bodies' ? readBodies(completed) : readMessage(completed))),
  )
}

/** Without the query string, in which tRPC sends its input. */
function pathOf(url: string): string {
  const end = url.indexOf('?')
  const path = (end === -1 ? url : url.slice(0, end)).slice(0, maxPathLength)
  return safePath.test(path) ? path : cleanText(scrubSecrets(path))
}

/** Fast path for most requests, including sends. These paths hold no secret: secrets have an underscore, a space or digits. */
const safePath = /^[a-z/.]*$|^\/api\/v1\/[a-z/]*$/

function readBodies({ request, trace, toBody }: CompletedRequest): Bodies {
  const body = readRequest(request)
  const answers = (trace.failures ?? []).map((failure) => toBody(failure, request.url))
  return {
    externalId: body?.externalId === undefined ? undefined : cleanText(body.externalId),
    request: body && cleanText(body.text),
    answer: cleanText(redactResponse(answers.length === 1 ? answers[0] : answers, body?.text)),
  }
}

/** The response of the first failure, truncated to its code and message. */
function readMessage({ request, trace, toBody }: CompletedRequest): Bodies {
  const [failure] = trace.failures ?? []
  const answer = failure && cleanText(redactResponse(toBody(failure, request.url), '', maxMessageLength))
  return { externalId: undefined, request: undefined, answer }
}

/** Undefined if the request has no body, or if the body is a file. */
function readRequest(request: FastifyRequest): RedactedBody | undefined {
  const { body, url } = request
  const shape = shapeOf(url)
  if (Buffer.isBuffer(body)) return body.length === 0 ? undefined : redactJson(body.toString('utf8'), shape)
  if (typeof body === 'string') return redactJson(body, shape)
  const query = request.query as Record<string, unknown>
  if (url.startsWith('/trpc/') && typeof query['input'] === 'string') return redactJson(query['input'], shape)
  return Object.keys(query).length === 0 ? undefined : redactValue(query, 'input')
}

function shapeOf(url: string): BodyShape {
  if (url.startsWith('/mcp')) return 'tool'
  return url.startsWith('/trpc/') && /[?&]batch=1(&|$)/.test(url) ? 'batch' : 'input'
}

/** Replaces control characters: PostgreSQL rejects NUL, and a terminal would interpret escape sequences. */
function cleanText(text: string): string {
  return text.replaceAll(/[^\P{Cc}\t\n]/gu, '\uFFFD')
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until something is recorded. */
    trace: RequestTrace | null
  }
}

/** Facts about a request, collected while it is processed, for the API request log and traces. */
interface RequestTrace {
  /** Set once the key has been verified, even if the request is then rejected for another reason. */
  accountId: string | undefined
  messageIds: string[] | undefined
  /** Of the calls in a batch that share it. */
  authentication: Promise<Authentication> | undefined
  /** Whether the batch had to wait. */
  admission: Promise<boolean> | undefined
  failures: ServiceError[] | undefined
}

export function registerTrace(app: FastifyInstance): void {
  app.decorateRequest('trace', null)
}

export function traceOf(request: FastifyRequest): RequestTrace {
  return (request.trace ??= {
    accountId: undefined,
    messageIds: undefined,
    authentication: undefined,
    admission: undefined,
    failures: undefined,
  })
}

/** A batch can have several failures. */
export function recordFailure(request: FastifyRequest, failure: ServiceError): void {
  const trace = traceOf(request)
  ;(trace.failures ??= []).push(failure)
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../../contracts/errors.ts'
import type { ApiProcedure } from '../../../contracts/procedure.ts'
import { type Authentication, authenticate } from '../../accounts/authenticate.ts'
import { assertWithinRateLimit, rateLimitHeaders } from '../../accounts/rate-limit.ts'
import type { Deps } from '../../deps.ts'
import type { ProcedureCall } from '../../pipeline/procedures.ts'
import type { RequestSlot } from '../limits/concurrency-limit.ts'
import { traceOf } from './request-log.ts'

/** An authorized call with an API key. */
export class ApiCall implements ProcedureCall {
  readonly accountId: string
  idempotencyKey: string | undefined
  readonly #deps: Pick<Deps, 'db'>
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply

  constructor(
    deps: Pick<Deps, 'db'>,
    accountId: string,
    idempotencyKey: string | undefined,
    { request, reply }: Exchange,
  ) {
    this.#deps = deps
    this.accountId = accountId
    this.idempotencyKey = idempotencyKey
    this.#request = request
    this.#reply = reply
  }

  get workKey(): string {
    return this.accountId
  }

  get slot(): RequestSlot | null {
    return this.#request.slot
  }

  get address(): string {
    return this.#request.ip
  }

  actor(): string {
    return 'API key'
  }

  /** Checks the key, the account and the address again. */
  async assertStillAllowed(): Promise<void> {
    await identify(this.#deps, this.#request, traceOf(this.#request), false)
  }

  onMessage(messageId: string): void {
    const trace = traceOf(this.#request)
    // V8 makes room for 17 items when it adds the first one to an empty list.
    if (trace.messageIds) trace.messageIds.push(messageId)
    else trace.messageIds = [messageId]
  }

  onReplay(): void {
    void this.#reply.header('Idempotent-Replayed', 'true')
  }
}

interface Exchange {
  request: FastifyRequest
  reply: FastifyReply
}

/** Checks the key, the account, the address and the rate limit before validation, so that an unauthenticated caller learns nothing. */
export function authorizeApiKey(
  deps: Pick<Deps, 'db'>,
  { budget, idempotent }: Pick<ApiProcedure, 'budget' | 'idempotent'>,
  exchange: Exchange,
): Promise<ApiCall> {
  const { request } = exchange
  const trace = traceOf(request)
  const spend = budget === 'sends'
  // The calls of one request share the check of their key. Only those that the rate limit counts have their own.
  const authentication =
    spend || !mayHaveSeveralCalls(request)
      ? identify(deps, request, trace, spend)
      : (trace.authentication ??= identify(deps, request, trace, spend))
  return authentication.then((authenticated) => accept(deps, authenticated, exchange, idempotent))
}

function accept(
  deps: Pick<Deps, 'db'>,
  { caller, minuteUse }: Authentication,
  exchange: Exchange,
  idempotent: ApiProcedure['idempotent'],
): ApiCall {
  const { request, reply } = exchange
  request.slot?.recognize()
  if (minuteUse) {
    const headers = rateLimitHeaders(minuteUse)
    // Lower case saves Fastify the conversion on each request.
    void reply.header('ratelimit', headers.RateLimit).header('ratelimit-policy', headers['RateLimit-Policy'])
    assertWithinRateLimit(minuteUse)
  }
  const idempotencyKey = idempotent ? parseIdempotencyKey(readHeader(request, 'idempotency-key')) : undefined
  return new ApiCall(deps, caller.accountId, idempotencyKey, exchange)
}

function identify(
  deps: Pick<Deps, 'db'>,
  request: FastifyRequest,
  recognized: { accountId: string | undefined },
  spend: boolean,
): Promise<Authentication> {
  const credentials = {
    apiKey: readHeader(request, 'x-api-key'),
    keyHash: request.slot?.keyHash,
    address: request.ip,
  }
  return authenticate(deps, credentials, { spend, recognized })
}

/** A batch of tRPC. The others need not keep their authentication. */
function mayHaveSeveralCalls({ url }: FastifyRequest): boolean {
  return url.startsWith('/trpc/') && url.includes('batch=1')
}

function readHeader({ headers }: FastifyRequest, name: 'x-api-key' | 'idempotency-key'): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** Printable ASCII, as a Structured Field string holds it (RFC 9651, 3.3.3). */
const keyPattern = /^[\x20-\x7e]{1,255}$/

/**
 * Parses an `Idempotency-Key` header: a quoted string, as draft-ietf-httpapi-idempotency-key-header requires, or the
 * bare key that most callers send. Both forms give the same key.
 */
export function parseIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  const key =
    text.startsWith('"') && text.endsWith('"') && text.length >= 2
      ? text.slice(1, -1).replace(/\\(["\\])/g, '$1')
      : text
  if (!keyPattern.test(key))
    throw new ServiceError(
      'VALIDATION_ERROR',
      'Idempotency-Key: must be 1 to 255 printable ASCII characters, such as a UUID.',
    )
  return key
}

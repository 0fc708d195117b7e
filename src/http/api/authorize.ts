import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../../contracts/errors.ts'
import type { ApiProcedure } from '../../../contracts/procedure.ts'
import { authenticate } from '../../accounts/authenticate.ts'
import { assertWithinBudget, rateLimitHeaders } from '../../accounts/rate-limit.ts'
import type { Deps } from '../../deps.ts'
import type { ProcedureCall } from './procedures.ts'
import { traceOf } from './request-trace.ts'

/** An authorized call with an API key. */
export interface ApiCall extends ProcedureCall {
  accountId: string
  idempotencyKey: string | undefined
  /** The caller's address, after `TRUST_PROXY`. */
  address: string
  setHeader(name: string, value: string): void
}

/** Checks the key, the account, the address and the rate limit before validation, so that an unauthenticated caller learns nothing. */
export async function authorizeApiKey(
  deps: Pick<Deps, 'db'>,
  contract: Pick<ApiProcedure, 'rateLimited' | 'idempotent'>,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Promise<ApiCall> {
  const { slot } = request
  const credentials = { apiKey: readHeader(request, 'x-api-key'), keyHash: slot?.keyHash, address: request.ip }
  const trace = traceOf(request)
  const identify = () =>
    authenticate(deps, credentials, {
      spend: contract.rateLimited,
      onRecognized: (accountId) => (trace.accountId = accountId),
    })
  // The calls of one request share the check of their key. Only those that the rate limit counts have their own.
  const { caller, budget } = await (contract.rateLimited || !mayHaveSeveralCalls(request)
    ? identify()
    : (trace.authentication ??= identify()))
  slot?.recognize()
  if (budget) {
    const headers = rateLimitHeaders(budget)
    // Lower case saves Fastify the conversion on each request.
    void reply.header('ratelimit', headers.RateLimit).header('ratelimit-policy', headers['RateLimit-Policy'])
    assertWithinBudget(budget)
  }
  const idempotencyKey = contract.idempotent ? parseIdempotencyKey(readHeader(request, 'idempotency-key')) : undefined
  return {
    accountId: caller.accountId,
    idempotencyKey,
    address: request.ip,
    slot,
    onMessage: (messageId) => (trace.messageIds ??= []).push(messageId),
    setHeader: (name, value) => void reply.header(name, value),
  }
}

/** A batch of tRPC. The others need not keep their authentication. */
function mayHaveSeveralCalls({ url }: FastifyRequest): boolean {
  return url.includes('batch=1')
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

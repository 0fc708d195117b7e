import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ServiceError } from '../../../contracts/errors.ts'
import type { Authentication } from '../../accounts/authenticate.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until something is recorded. */
    trace: RequestTrace | null
  }
}

/** Facts about a request, collected while it is processed, for the API request log and traces. */
export interface RequestTrace {
  /** Set once the key has been verified, even if the request is then rejected for another reason. */
  accountId: string | undefined
  messageIds: string[] | undefined
  /** Of the calls in a batch that share it. */
  authentication: Promise<Authentication> | undefined
  admission: Promise<void> | undefined
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

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ServiceError } from '../../../contracts/errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until something is noted. */
    trace: RequestTrace | null
  }
}

/** What is learned of a request while it is answered, for the log of API requests. */
export interface RequestTrace {
  /** Known once the key was checked, also if the request is rejected for another reason. */
  accountId: string | undefined
  messageIds: string[] | undefined
  failures: ServiceError[] | undefined
}

export function registerTrace(app: FastifyInstance): void {
  app.decorateRequest('trace', null)
}

export function traceOf(request: FastifyRequest): RequestTrace {
  return (request.trace ??= { accountId: undefined, messageIds: undefined, failures: undefined })
}

/** A batch can have several. */
export function noteFailure(request: FastifyRequest, failure: ServiceError): void {
  const trace = traceOf(request)
  ;(trace.failures ??= []).push(failure)
}

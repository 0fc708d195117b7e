import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../../../contracts/errors.ts'
import { addressHeader } from '../../owner/address-header.ts'
import { authPath } from '../../owner/auth-path.ts'
import { parseJsonBody } from '../json-body.ts'
import { toHeaders } from './headers.ts'

/** A route of better-auth's, and what is handed on to it: by itself it would take more. */
export interface AuthRoute {
  method: 'GET' | 'POST'
  path: string
  /** Fields of the body, or of the query of a GET. */
  takes: readonly string[]
  /** What it is told whatever the caller says. */
  always?: object
  /** What the audit log says of it, where somebody is signed in who changes how they sign in. */
  audit?: string
}

/** The path is the route's own, however the caller spells it: better-auth counts tries by it. */
export function toRequest({ method, path, takes, always }: AuthRoute, request: FastifyRequest): Request {
  const headers = toHeaders(request)
  headers.set(addressHeader, request.ip)
  headers.delete('content-length')
  const url = new URL(authPath + path, originOf(request))
  if (method === 'GET') {
    for (const [name, value] of pick(request.query, takes)) url.searchParams.set(name, String(value))
    return new Request(url, { method, headers })
  }
  headers.set('content-type', 'application/json')
  const body = JSON.stringify({ ...Object.fromEntries(pick(readBody(request), takes)), ...always })
  return new Request(url, { method, headers, body })
}

/** Where the caller believes to be. */
function originOf({ protocol, host }: FastifyRequest): string {
  const url = URL.parse(`${protocol}://${host}`)
  if (!url || url.pathname !== '/' || url.username !== '' || url.password !== '')
    throw new ServiceError('VALIDATION_ERROR', 'The Host header does not name a host.')
  return url.origin
}

function readBody({ body, headers }: FastifyRequest): unknown {
  if (body === undefined) return {}
  return parseJsonBody(body, {
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
  })
}

function pick(given: unknown, names: readonly string[]): [string, unknown][] {
  const fields = typeof given === 'object' && given !== null ? Object.entries(given) : []
  const picked = fields.filter(([name]) => names.includes(name))
  for (const [name, value] of picked) if (/callbackurl$/i.test(name)) assertOwnPath(name, value)
  return picked
}

/**
 * better-auth trusts whole addresses on the host that is named in the request. A stranger names their own, and
 * would find it again in the redirect of whoever they send the `state` to.
 */
function assertOwnPath(name: string, value: unknown): void {
  if (typeof value !== 'string' || !/^\/settings(?:\/|$)/.test(value))
    throw new ServiceError('VALIDATION_ERROR', `${name}: must be a path of the dashboard.`)
}

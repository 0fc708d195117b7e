import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../../contracts/errors.ts'
import type { AuditDeps } from '../../users/audit/append.ts'
import { recordOwnChange } from '../../users/audit/audit.ts'
import type { UserAuth } from '../../users/sign-in/better-auth.ts'
import type { UserAuthOptions } from '../../users/sign-in/options.ts'
import { addressHeader, authPath, oidcProviderId } from '../../users/sign-in/paths.ts'
import { parseJsonBody } from '../api/input.ts'
import { toHeaders } from './pages.ts'

/** What the dashboard calls of better-auth, and all that is served of it. */
const served: AuthRoute[] = [
  { method: 'POST', path: '/sign-in/email', takes: ['email', 'password'] },
  { method: 'POST', path: '/sign-out', takes: [], audit: 'signed out' },
  {
    method: 'POST',
    path: '/change-password',
    takes: ['currentPassword', 'newPassword'],
    always: { revokeOtherSessions: true },
    audit: 'changed their password',
  },
  { method: 'POST', path: '/two-factor/enable', takes: ['password'], audit: 'began to set up an authenticator app' },
  { method: 'POST', path: '/two-factor/disable', takes: ['password'], audit: 'put away their authenticator app' },
  { method: 'POST', path: '/two-factor/verify-totp', takes: ['code'], audit: 'confirmed their authenticator app' },
  { method: 'POST', path: '/two-factor/verify-backup-code', takes: ['code'] },
]
/** Where an organisation has a provider of its own. */
const servedForOidc: AuthRoute[] = [
  { method: 'POST', path: '/sign-in/oauth2', takes: ['providerId', 'callbackURL', 'errorCallbackURL'] },
  { method: 'GET', path: `/oauth2/callback/${oidcProviderId}`, takes: ['code', 'state', 'error', 'iss'] },
]
/** The sandbox's own way in. */
const servedForLinks: AuthRoute[] = [{ method: 'GET', path: '/magic-link/verify', takes: ['token', 'callbackURL'] }]

const tooManyRequests = 429

/** better-auth speaks the web's Request and Response; here they meet Fastify's. */
export async function registerDashboardAuth(
  app: FastifyInstance,
  deps: AuditDeps,
  userAuth: UserAuth,
  { signInLinks, oidc }: Pick<UserAuthOptions, 'signInLinks' | 'oidc'>,
): Promise<void> {
  await app.register((auth, _options, done) => {
    auth.removeAllContentTypeParsers()
    auth.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body))
    for (const route of [...served, ...(oidc ? servedForOidc : []), ...(signInLinks ? servedForLinks : [])])
      auth.route({
        method: route.method,
        url: authPath + route.path,
        handler: async (request, reply) => reply.send(await answer(deps, userAuth, route, request, reply)),
      })
    done()
  })
}

async function answer(
  deps: AuditDeps,
  userAuth: UserAuth,
  route: AuthRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string> {
  const handed = toRequest(route, request)
  const person = route.audit === undefined ? undefined : await userAuth.findSession(handed.headers)
  const response = await userAuth.handle(handed)
  if (route.audit !== undefined && person && response.status !== tooManyRequests) {
    const outcome = response.ok ? 'done' : 'refused'
    await recordOwnChange(deps, person, { what: route.audit, address: request.ip, outcome })
  }
  void reply.code(response.status)
  response.headers.forEach((value, name) => void reply.header(name, value))
  // Fastify would join what must stay apart.
  const cookies = response.headers.getSetCookie().map((cookie) => (isByHttps(request) ? toSecure(cookie) : cookie))
  if (cookies.length > 0) void reply.removeHeader('set-cookie').header('set-cookie', cookies)
  return response.text()
}

/** Also by way of a trusted proxy, which says so in `X-Forwarded-Proto`. */
function isByHttps({ protocol }: FastifyRequest): boolean {
  return protocol === 'https'
}

/** better-auth decides once, by the public URL; without one the request decides. */
function toSecure(cookie: string): string {
  return /;\s*secure\s*(;|$)/i.test(cookie) ? cookie : `${cookie}; Secure`
}

/** A route of better-auth's, and what is handed on to it: by itself it would take more. */
interface AuthRoute {
  method: 'GET' | 'POST'
  path: string
  /** Fields of the body, or of the query of a GET. */
  takes: readonly string[]
  /** Fields that are always set, and override those of the caller. */
  always?: object
  /** What the audit log says of it, where somebody is signed in who changes how they sign in. */
  audit?: string
}

/** The path is the route's own, however the caller spells it: better-auth counts tries by it. */
function toRequest({ method, path, takes, always }: AuthRoute, request: FastifyRequest): Request {
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
 * better-auth trusts whole addresses on the host that is named in the request. An attacker could name their own
 * host, and find it in the redirect of anybody they send the `state` to.
 */
function assertOwnPath(name: string, value: unknown): void {
  if (typeof value !== 'string' || !/^\/settings(?:\/|$)/.test(value))
    throw new ServiceError('VALIDATION_ERROR', `${name}: must be a path of the dashboard.`)
}

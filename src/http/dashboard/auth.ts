import { once } from 'node:events'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { changes } from '../../../contracts/facts/changes.ts'
import type { Fact } from '../../../contracts/facts/fact.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type { WorkLimiter } from '../../pipeline/work-limiter.ts'
import type { AuditDeps } from '../../users/audit/append.ts'
import { recordOwnChange } from '../../users/audit/audit.ts'
import type { SignedIn, UserAuth } from '../../users/sign-in/better-auth.ts'
import { consumeAttempt, forbiddenEntryAttempts } from '../../users/sign-in/login-throttle.ts'
import type { UserAuthOptions } from '../../users/sign-in/options.ts'
import { addressHeader, authPath, oidcProviderId, signInPage } from '../../users/sign-in/paths.ts'
import { deleteSession } from '../../users/store.ts'
import { parseJsonBody } from '../api/input.ts'
import { rejectUnstorable } from '../api/plain-text.ts'
import { sizeOf } from '../api/rest.ts'
import { chargeNetwork } from './authorize.ts'
import { toHeaders } from './pages.ts'

/** The better-auth routes that the dashboard calls. No others are served. */
const served: AuthRoute[] = [
  { method: 'POST', path: '/sign-in/email', fields: ['email', 'password'] },
  { method: 'POST', path: '/sign-out', fields: [], audit: changes.signOut() },
  {
    method: 'POST',
    path: '/change-password',
    fields: ['currentPassword', 'newPassword'],
    always: { revokeOtherSessions: true },
    audit: changes.changePassword(),
  },
  { method: 'POST', path: '/two-factor/enable', fields: ['password'], audit: changes.beginAuthenticator() },
  { method: 'POST', path: '/two-factor/disable', fields: ['password'], audit: changes.disableAuthenticator() },
  { method: 'POST', path: '/two-factor/verify-totp', fields: ['code'], audit: changes.confirmAuthenticator() },
  { method: 'POST', path: '/two-factor/verify-backup-code', fields: ['code'] },
]
/** Served only if an OIDC provider is configured. */
const servedForOidc: AuthRoute[] = [
  {
    method: 'POST',
    path: '/sign-in/oauth2',
    fields: ['providerId', 'callbackURL', 'errorCallbackURL'],
    // As better-auth answers if it cannot read the discovery document.
    answerLate: () => Response.json({ code: 'INVALID_OAUTH_CONFIGURATION' }, { status: 400 }),
  },
  {
    method: 'GET',
    path: `/oauth2/callback/${oidcProviderId}`,
    fields: ['code', 'state', 'error', 'iss'],
    answerLate: () =>
      new Response(null, { status: 302, headers: { location: `${signInPage}?error=provider_unavailable` } }),
  },
]
/** Sign-in links, served only in the sandbox. */
const servedForLinks: AuthRoute[] = [{ method: 'GET', path: '/magic-link/verify', fields: ['token', 'callbackURL'] }]

/** Enough for the discovery document, the token, the keys and the user, which usually take less than a second each. */
const providerMilliseconds = 15_000
/** Concurrent sign-ins that wait for the provider; further ones are answered as if it did not respond. */
const maxExchanges = 64

const tooManyRequests = 429
/** The status of a request from a page of another site, or without the second factor. Neither counts as an attempt. */
const forbidden = 403

/** Serves better-auth's routes, converting between Fastify's requests and the Fetch API's. */
export async function registerDashboardAuth(
  app: FastifyInstance,
  deps: AuditDeps,
  { userAuth, workLimiter }: { userAuth: UserAuth; workLimiter: WorkLimiter },
  { signInLinks, oidc }: Pick<UserAuthOptions, 'signInLinks' | 'oidc'>,
): Promise<void> {
  const services = { userAuth, workLimiter, handle: createHandler(deps, userAuth) }
  await app.register((auth, _options, done) => {
    for (const route of [...served, ...(oidc ? servedForOidc : []), ...(signInLinks ? servedForLinks : [])])
      auth.route({
        method: route.method,
        url: authPath + route.path,
        handler: async (request, reply) => reply.send(await forward(deps, services, route, request, reply)),
      })
    done()
  })
}

interface AuthRouteServices {
  userAuth: UserAuth
  workLimiter: WorkLimiter
  handle: HandleInTime
}

type HandleInTime = (request: Request, answerLate: AuthRoute['answerLate']) => Promise<Response>

async function forward(
  deps: AuditDeps,
  { userAuth, workLimiter, handle }: AuthRouteServices,
  route: AuthRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string> {
  const network = await chargeNetwork(workLimiter, request)
  const forwarded = workLimiter.measure(network, sizeOf(request), () => toRequest(route, request))
  const user = route.audit === undefined ? undefined : await userAuth.findSession(forwarded.headers)
  const response = await handle(forwarded, route.answerLate)
  if (route.audit !== undefined && user && (await isRecorded(deps, user, response))) {
    const outcome = response.ok ? 'done' : 'refused'
    await recordOwnChange(deps, user, { what: route.audit, address: request.ip, outcome })
  }
  void reply.code(response.status)
  response.headers.forEach((value, name) => void reply.header(name, value))
  // Fastify would join the Set-Cookie headers into one.
  const cookies = response.headers.getSetCookie().map((cookie) => (isHttps(request) ? toSecure(cookie) : cookie))
  if (cookies.length > 0) void reply.removeHeader('set-cookie').header('set-cookie', cookies)
  return response.text()
}

/**
 * better-auth itself would wait for the provider for minutes, and so would the user. Its requests to the provider continue
 * after the answer, so they are limited.
 */
function createHandler(deps: Pick<AuditDeps, 'db' | 'log'>, userAuth: UserAuth): HandleInTime {
  let exchanges = 0
  return async (request, answerLate) => {
    if (!answerLate) return userAuth.handle(request)
    if (exchanges >= maxExchanges) return answerLate()
    exchanges += 1
    const handling = userAuth.handle(request).finally(() => (exchanges -= 1))
    const late = once(AbortSignal.timeout(providerMilliseconds), 'abort').then(() => undefined)
    const response = await Promise.race([handling, late])
    if (response) return response
    handling
      .then((unsent) => endUnsentSession(deps, userAuth, unsent))
      .catch((error: unknown) => deps.log.warn({ err: error }, 'could not end a sign-in that took too long'))
    return answerLate()
  }
}

/** Nobody gets the cookie of this session, which would be valid and listed for days. */
async function endUnsentSession({ db }: Pick<AuditDeps, 'db'>, userAuth: UserAuth, unsent: Response): Promise<void> {
  const cookies = unsent.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0])
  const session = await userAuth.findSession(new Headers({ cookie: cookies.join('; ') }))
  if (session) await deleteSession(db, session.sessionId)
}

/** Members must not be able to fill the audit logs of their accounts with requests that no limit has counted. */
async function isRecorded(deps: AuditDeps, { userId }: SignedIn, { status }: Response): Promise<boolean> {
  if (status === tooManyRequests) return false
  return status !== forbidden || !(await consumeAttempt(deps, forbiddenEntryAttempts, userId))
}

/** Includes HTTPS that a trusted proxy reports in `X-Forwarded-Proto`. */
function isHttps({ protocol }: FastifyRequest): boolean {
  return protocol === 'https'
}

/** better-auth sets `Secure` only if the public URL uses HTTPS. This covers a server without a public URL. */
function toSecure(cookie: string): string {
  return /;\s*secure\s*(;|$)/i.test(cookie) ? cookie : `${cookie}; Secure`
}

/** A better-auth route and the fields that are passed on to it: by itself it would accept more. */
interface AuthRoute {
  method: 'GET' | 'POST'
  path: string
  /** Fields of the body, or of the query of a GET. */
  fields: readonly string[]
  /** Fields that override those of the caller. */
  always?: object
  /** For a route that waits for the OIDC provider: the answer if the provider takes too long. */
  answerLate?: () => Response
  /** What the audit log says, for a signed-in user who changes how they sign in. */
  audit?: Fact
}

/** Uses the route's own path instead of the caller's spelling, because better-auth's rate limit counts by path. */
function toRequest({ method, path, fields, always }: AuthRoute, request: FastifyRequest): Request {
  const headers = toHeaders(request)
  headers.set(addressHeader, request.ip)
  headers.delete('content-length')
  const url = new URL(authPath + path, originOf(request))
  if (method === 'GET') {
    for (const [name, value] of pick(request.query, fields)) url.searchParams.set(name, String(value))
    return new Request(url, { method, headers })
  }
  headers.set('content-type', 'application/json')
  const body = JSON.stringify({ ...Object.fromEntries(pick(readBody(request), fields)), ...always })
  return new Request(url, { method, headers, body })
}

/** The origin that the caller addressed. */
function originOf({ protocol, host }: FastifyRequest): string {
  if (!/^https?$/i.test(protocol))
    throw new ServiceError('VALIDATION_ERROR', 'The X-Forwarded-Proto header must be http or https.')
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
  for (const [name, value] of picked) if (typeof value === 'string') rejectUnstorable({ [name]: value })
  for (const [name, value] of picked) if (/callbackurl$/i.test(name)) assertOwnPath(name, value)
  return picked
}

/**
 * better-auth accepts absolute URLs on the host named in the request. An attacker could name their own host, send the
 * resulting `state` to a victim, and have the victim redirected there.
 */
function assertOwnPath(name: string, value: unknown): void {
  if (typeof value !== 'string' || !/^\/settings(?:\/|$)/.test(value))
    throw new ServiceError('VALIDATION_ERROR', `${name}: must be a path of the dashboard.`)
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { recordOwnChange } from '../../owner/audit.ts'
import type { AuditDeps } from '../../owner/audit-append.ts'
import type { OwnerAuthOptions } from '../../owner/auth-options.ts'
import { authPath, oidcProviderId } from '../../owner/auth-path.ts'
import type { OwnerAuth } from '../../owner/owner-auth.ts'
import { toRequest, type AuthRoute } from './auth-request.ts'

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
export async function registerSettingsAuth(
  app: FastifyInstance,
  deps: AuditDeps,
  ownerAuth: OwnerAuth,
  { signInLinks, oidc }: Pick<OwnerAuthOptions, 'signInLinks' | 'oidc'>,
): Promise<void> {
  await app.register((auth, _options, done) => {
    auth.removeAllContentTypeParsers()
    auth.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body))
    for (const route of [...served, ...(oidc ? servedForOidc : []), ...(signInLinks ? servedForLinks : [])])
      auth.route({
        method: route.method,
        url: authPath + route.path,
        handler: async (request, reply) => reply.send(await answer(deps, ownerAuth, route, request, reply)),
      })
    done()
  })
}

async function answer(
  deps: AuditDeps,
  ownerAuth: OwnerAuth,
  route: AuthRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string> {
  const handed = toRequest(route, request)
  const person = route.audit === undefined ? undefined : await ownerAuth.findSession(handed.headers)
  const response = await ownerAuth.handle(handed)
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

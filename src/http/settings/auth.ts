import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addressHeader, authPath, oidcProviderId, type OwnerAuthOptions } from '../../owner/auth-options.ts'
import type { OwnerAuth } from '../../owner/owner-auth.ts'
import { toHeaders } from './headers.ts'

/** What the dashboard calls of better-auth, and all that is served of it. */
const served = [
  { method: 'POST', path: '/sign-in/email' },
  { method: 'POST', path: '/sign-out' },
  { method: 'POST', path: '/change-password' },
  { method: 'POST', path: '/two-factor/enable' },
  { method: 'POST', path: '/two-factor/disable' },
  { method: 'POST', path: '/two-factor/verify-totp' },
  { method: 'POST', path: '/two-factor/verify-backup-code' },
] as const
/** Where an organisation has a provider of its own. */
const servedForOidc = [
  { method: 'POST', path: '/sign-in/oauth2' },
  { method: 'GET', path: `/oauth2/callback/${oidcProviderId}` },
] as const
/** The sandbox's own way in. */
const servedForLinks = [{ method: 'GET', path: '/magic-link/verify' }] as const

/** better-auth speaks the web's Request and Response; here they meet Fastify's. */
export async function registerSettingsAuth(
  app: FastifyInstance,
  ownerAuth: OwnerAuth,
  { signInLinks, oidc }: Pick<OwnerAuthOptions, 'signInLinks' | 'oidc'>,
): Promise<void> {
  await app.register((auth, _options, done) => {
    // better-auth parses the body itself.
    auth.removeAllContentTypeParsers()
    auth.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, parsed) => parsed(null, body))
    const routes = [...served, ...(oidc ? servedForOidc : []), ...(signInLinks ? servedForLinks : [])]
    for (const { method, path } of routes)
      auth.route({
        method,
        url: authPath + path,
        handler: async (request, reply) => reply.send(await answer(ownerAuth, request, reply)),
      })
    done()
  })
}

async function answer(ownerAuth: OwnerAuth, request: FastifyRequest, reply: FastifyReply): Promise<string> {
  const response = await ownerAuth.handle(toRequest(request))
  void reply.code(response.status)
  response.headers.forEach((value, name) => void reply.header(name, value))
  // Fastify would join what must stay apart.
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) void reply.removeHeader('set-cookie').header('set-cookie', cookies)
  return response.text()
}

function toRequest(request: FastifyRequest): Request {
  const headers = toHeaders(request)
  headers.set(addressHeader, request.ip)
  // Changing the password ends every other session, whatever the page asks for.
  const body = request.url.endsWith('/change-password') ? endingOtherSessions(request.body) : request.body
  headers.delete('content-length')
  return new Request(new URL(request.url, `${request.protocol}://${request.host}`), {
    method: request.method,
    headers,
    ...(typeof body === 'string' && { body }),
  })
}

function endingOtherSessions(body: unknown): unknown {
  try {
    return JSON.stringify({ ...JSON.parse(String(body)), revokeOtherSessions: true })
  } catch {
    return body
  }
}

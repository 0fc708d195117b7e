import type { BetterAuthPlugin } from 'better-auth'
import { APIError, createAuthMiddleware, getSessionFromCtx } from 'better-auth/api'
import type { Deps } from '../deps.ts'
import { addressHeader } from './address-header.ts'
import { deleteOtherSessions } from './store.ts'
import { codeTries, sameCodeTries, takePasswordTry, takeTry } from './tries.ts'

const passwordPaths = new Set(['/sign-in/email', '/change-password', '/two-factor/enable', '/two-factor/disable'])
const codePath = '/two-factor/verify-totp'
const codePaths = new Set([codePath, '/two-factor/verify-backup-code'])

/** What better-auth leaves open: it counts tries by address, and never by person. */
export function personGuard(deps: Pick<Deps, 'db'>): BetterAuthPlugin {
  return {
    id: 'person-guard',
    hooks: {
      before: [
        {
          matcher: ({ path = '' }) => passwordPaths.has(path),
          handler: createAuthMiddleware(async (ctx) => {
            const address = ctx.headers?.get(addressHeader) ?? ''
            const person = await findPerson(ctx)
            if (person) refuseAfter(await takePasswordTry(deps, { email: person.email, address }))
          }),
        },
        {
          matcher: ({ path = '' }) => codePaths.has(path),
          handler: createAuthMiddleware(async (ctx) => {
            const person = await findPerson(ctx)
            if (!person) return
            refuseAfter(await takeTry(deps, codeTries, person.email))
            if (ctx.path !== codePath || person.isSignedIn) return
            const wasUsed = await takeTry(deps, sameCodeTries, `${person.email} ${readText(ctx.body, 'code')}`)
            if (wasUsed !== undefined) throw new APIError('UNAUTHORIZED', { code: 'INVALID_CODE' })
          }),
        },
      ],
      after: [
        {
          matcher: ({ path }) => path === codePath,
          handler: createAuthMiddleware(async (ctx) => {
            const { session, newSession } = ctx.context
            // Within a session a code confirms the app, and begins a new one: whoever is in elsewhere has shown none.
            if (session && newSession) await deleteOtherSessions(deps.db, newSession.user.id, newSession.session.id)
          }),
        },
      ],
    },
  }
}

type Context = Parameters<typeof getSessionFromCtx>[0]

/** Whose password or code is tried: of the session, of the sign-in that waits for a code, or as was typed. */
async function findPerson(ctx: Context): Promise<{ email: string; isSignedIn: boolean } | undefined> {
  if (ctx.path === '/sign-in/email') return { email: readText(ctx.body, 'email'), isSignedIn: false }
  const session = await getSessionFromCtx(ctx)
  if (session) return { email: session.user.email, isSignedIn: true }
  const { createAuthCookie, secret, internalAdapter } = ctx.context
  const pending = await ctx.getSignedCookie(createAuthCookie('two_factor').name, secret)
  const verification = pending ? await internalAdapter.findVerificationValue(pending) : null
  const user = verification ? await internalAdapter.findUserById(verification.value) : null
  return user ? { email: user.email, isSignedIn: false } : undefined
}

function readText(body: unknown, name: string): string {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined
  return typeof value === 'string' ? value : ''
}

function refuseAfter(secondsToWait: number | undefined): void {
  if (secondsToWait === undefined) return
  const headers = { 'X-Retry-After': String(secondsToWait) }
  throw new APIError('TOO_MANY_REQUESTS', { message: 'Too many tries.' }, headers)
}

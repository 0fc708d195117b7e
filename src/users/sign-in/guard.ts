import type { BetterAuthPlugin } from 'better-auth'
import { APIError, createAuthMiddleware, getSessionFromCtx } from 'better-auth/api'
import { changes } from '../../../contracts/facts/changes.ts'
import type { Fact } from '../../../contracts/facts/fact.ts'
import { networkOf } from '../../accounts/ip-allow-list.ts'
import type { AuditDeps } from '../audit/append.ts'
import { recordOwnChange } from '../audit/audit.ts'
import { normalizeEmail } from '../member.ts'
import {
  deleteOtherSessions,
  deleteSession,
  deleteVerifications,
  findPassword,
  findReplacedPassword,
  findUserByEmail,
  replacePassword,
} from '../store.ts'
import { recognizeCaller } from './hashing-caller.ts'
import { findKnownSource, knownSourceSeconds, readBrowser, rememberSource } from './known-sources.ts'
import {
  consumeAttempt,
  consumeCodeAttempt,
  consumePasswordAttempt,
  consumeRequest,
  type Lockout,
  lockoutEntryAttempts,
  sameCodeAttempts,
  signInAttemptsPerAddress,
} from './login-throttle.ts'
import { addressHeader, browserCookieName, codePath, codePaths, oidcProviderId } from './paths.ts'

const signInPath = '/sign-in/email'
const browserTokenBytes = 32
const changePath = '/change-password'
const passwordPaths = new Set([signInPath, changePath, '/two-factor/enable', '/two-factor/disable'])
/** Paths that replace or remove the authenticator app or its backup codes. */
const authenticatorPaths = new Set(['/two-factor/enable', '/two-factor/disable', '/two-factor/generate-backup-codes'])

/** Sign-ins in the audit log. */
const signIns: Readonly<Record<string, Fact>> = {
  [signInPath]: changes.signIn.password(),
  [codePath]: changes.signIn.code(),
  '/two-factor/verify-backup-code': changes.signIn.backupCode(),
  [`/oauth2/callback/:providerId`]: changes.signIn.organisation(),
  [`/oauth2/callback/${oidcProviderId}`]: changes.signIn.organisation(),
  '/magic-link/verify': changes.signIn.link(),
}

type GuardDeps = AuditDeps & { onSignIn?: ((outcome: SignInOutcome) => void) | undefined }

/** Adds what better-auth lacks: limits per user, a record of sign-ins, and protection of the authenticator app. */
export function signInGuard(deps: GuardDeps): BetterAuthPlugin {
  return {
    id: 'sign-in-guard',
    hooks: {
      before: [
        {
          matcher: ({ path = '' }) => dependsOnPassword(path),
          handler: createAuthMiddleware(async (ctx) => {
            const user = await findUser(ctx)
            if (user && ctx.headers)
              passwordsAtStart.set(ctx.headers, await findPassword(deps.db, normalizeEmail(user.email)))
          }),
        },
        {
          matcher: ({ path = '' }) => authenticatorPaths.has(path),
          handler: createAuthMiddleware(assertSecondFactor),
        },
        {
          matcher: ({ path = '' }) => passwordPaths.has(path),
          handler: createAuthMiddleware(async (ctx) => {
            const user = await findUser(ctx)
            if (!user || (ctx.path !== signInPath && user.session === undefined)) throw signedOut()
            const who = { email: user.email, address: addressOf(ctx), browser: browserOf(ctx) }
            const source = user.session === undefined ? await findKnownSource(deps.db, who) : undefined
            if (user.session !== undefined || source) recognizeCaller()
            if (ctx.path === signInPath && source?.kind !== 'browser')
              await assertNotLocked(deps, who, await consumeFromNetwork(deps, who.address, ctx.path))
            await assertNotLocked(deps, who, await consumePasswordAttempt(deps, who, user.session ?? source?.name))
          }),
        },
        {
          matcher: ({ path = '' }) => codePaths.has(path),
          handler: createAuthMiddleware(async (ctx) => {
            const user = await findUser(ctx)
            if (!user) throw noPendingSignIn(deps)
            const who = { email: user.email, address: addressOf(ctx), browser: browserOf(ctx) }
            const source = user.session === undefined ? await findKnownSource(deps.db, who) : undefined
            if (user.session === undefined && source?.kind !== 'browser')
              await assertNotLocked(deps, who, await consumeFromNetwork(deps, who.address, ctx.path ?? ''))
            await assertNotLocked(deps, who, await consumeCodeAttempt(deps, user.email, source?.name))
            if (ctx.path !== codePath) return
            // Includes the code that confirms the app, because anyone who saw it could otherwise sign in with it.
            const wasUsed = await consumeAttempt(deps, sameCodeAttempts, `${user.email} ${readText(ctx.body, 'code')}`)
            if (!wasUsed) return
            if (user.session === undefined)
              await record(deps, { ...who, what: changes.signIn.code(), outcome: 'refused' })
            throw new APIError('UNAUTHORIZED', { code: 'INVALID_CODE' })
          }),
        },
      ],
      after: [
        {
          matcher: ({ path }) => path === codePath,
          handler: createAuthMiddleware(async (ctx) => {
            const { session, newSession } = ctx.context
            // Within a session, a code confirms the app and starts a new session. The user's other sessions, which
            // never presented a code, end.
            if (session && newSession) await deleteOtherSessions(deps.db, newSession.user.id, newSession.session.id)
          }),
        },
        {
          matcher: ({ path }) => path === changePath,
          handler: createAuthMiddleware(async (ctx) => {
            // The password may have been changed because somebody else requested a reset link.
            const { session } = ctx.context
            if (session && !(ctx.context.returned instanceof Error)) await deleteVerifications(deps.db, session.user.id)
          }),
        },
        {
          matcher: ({ path = '' }) => dependsOnPassword(path),
          handler: createAuthMiddleware(async (ctx) => assertPasswordKept(deps, ctx)),
        },
        {
          matcher: ({ path = '' }) => path in signIns,
          handler: createAuthMiddleware(async (ctx) => recordOutcome(deps, ctx)),
        },
      ],
    },
  }
}

type Context = Parameters<typeof getSessionFromCtx>[0]

/**
 * better-auth lets every session with the password replace the authenticator app. A session of the organisation's
 * provider, or with a password that was reset by email, would so bypass the second factor.
 */
async function assertSecondFactor(ctx: Context): Promise<void> {
  const session = await getSessionFromCtx(ctx)
  if (!session) throw signedOut()
  if (session.user['twoFactorEnabled'] !== true || session.session['secondFactor'] === true) return
  throw new APIError('FORBIDDEN', {
    code: 'SECOND_FACTOR_REQUIRED',
    message: 'Sign in with a code of your authenticator app first.',
  })
}

/**
 * better-auth reads the session again, and takes one that cannot be read for none. The guard must not let pass what it
 * could neither check nor count.
 */
function signedOut(): APIError {
  return new APIError('UNAUTHORIZED', { code: 'UNAUTHORIZED', message: 'Unauthorized' })
}

/** As `signedOut`, for a code that belongs neither to a session nor to a sign-in that waits for it. */
function noPendingSignIn({ onSignIn }: GuardDeps): APIError {
  onSignIn?.('refused')
  return new APIError('UNAUTHORIZED', { code: 'INVALID_TWO_FACTOR_COOKIE', message: 'Invalid two factor cookie' })
}

/** Whether a request starts a session because of a password that was checked before. */
function dependsOnPassword(path: string): boolean {
  return path === signInPath || path === changePath || codePaths.has(path)
}

/** The stored password of the user, as the request found it, or as it has stored it. */
const passwordsAtStart = new WeakMap<Headers, string | undefined>()

/**
 * A password that is reset ends all sessions. A sign-in that had checked the password before would start another one
 * afterwards. It waits for a reset that is not yet committed, which would not see the new session.
 */
async function assertPasswordKept(deps: GuardDeps, ctx: Context): Promise<void> {
  const { newSession } = ctx.context
  const awaitsCode = hasTrue(ctx.context.returned, 'twoFactorRedirect')
  if (!newSession && !awaitsCode) return
  const email = normalizeEmail(newSession?.user.email ?? readText(ctx.body, 'email'))
  if (ctx.headers && passwordsAtStart.get(ctx.headers) === (await findReplacedPassword(deps.db, email))) return
  if (newSession) await deleteSession(deps.db, newSession.session.id)
  const user = await findUserByEmail(deps.db, email)
  if (user) await deleteVerifications(deps.db, user.id)
  ctx.context.setNewSession(null)
  throw new APIError('UNAUTHORIZED', { code: 'INVALID_EMAIL_OR_PASSWORD' })
}

/**
 * Stores a password that its user changes, unless the previous one, which was checked, has been replaced meanwhile: a reset
 * would otherwise be undone by somebody who knows the previous password. Returns false because better-auth would store it
 * in any case.
 */
export async function storeChangedPassword(
  { db }: Pick<GuardDeps, 'db'>,
  { password }: { password?: unknown },
  ctx: Pick<Context, 'path' | 'headers' | 'context'> | null,
): Promise<false | undefined> {
  if (ctx?.path !== changePath || typeof password !== 'string') return undefined
  const { headers } = ctx
  const { session } = ctx.context
  const from = headers && passwordsAtStart.get(headers)
  const isStored =
    session !== null && from !== undefined && (await replacePassword(db, session.user.id, { from, to: password }))
  if (!headers || !isStored) throw new APIError('BAD_REQUEST', { code: 'INVALID_PASSWORD' })
  passwordsAtStart.set(headers, password)
  return false
}

/** Records the outcome of a sign-in. A code of a signed-in user confirms the app, which is recorded as a change. */
async function recordOutcome(deps: GuardDeps, ctx: Context): Promise<void> {
  const path = ctx.path ?? ''
  const { newSession } = ctx.context
  if (newSession) await rememberBrowser(deps, ctx, newSession.user.email)
  if (codePaths.has(path) && ctx.context.session) return
  const user = newSession?.user ?? (path === signInPath || codePaths.has(path) ? await findUser(ctx) : undefined)
  const needsCode = hasTrue(ctx.context.returned, 'twoFactorRedirect')
  const outcome = newSession || needsCode ? 'done' : 'refused'
  const what = needsCode ? changes.signIn.awaitsCode() : signIns[path]
  // If the provider rejected the user, or the link was used, the user is unknown.
  if (!user || !what) {
    // Not returned: what a hook returns becomes the response.
    deps.onSignIn?.(outcome)
    return
  }
  const signIn = { email: user.email, address: addressOf(ctx), what, outcome } as const
  if (path !== signInPath || outcome === 'done') return record(deps, signIn)
  deps.onSignIn?.(outcome)
  recordLater(deps, signIn)
}

/** Recognizes the browser and the network from now on, so that attempts of others cannot lock the user out there. */
async function rememberBrowser(deps: GuardDeps, ctx: Context, email: string): Promise<void> {
  const browser = browserOf(ctx) ?? Buffer.from(deps.randomBytes(browserTokenBytes)).toString('base64url')
  await rememberSource(deps.db, { email, address: addressOf(ctx), browser })
  const cookie = ctx.context.createAuthCookie(browserCookieName, { maxAge: knownSourceSeconds })
  ctx.setCookie(cookie.name, browser, cookie.attributes)
}

async function record(deps: GuardDeps, signIn: Parameters<typeof recordSignIn>[1]): Promise<void> {
  deps.onSignIn?.(signIn.outcome)
  await recordSignIn(deps, signIn)
}

/**
 * Returns the user whose password or code is checked: from the session, from the sign-in that waits for a code, or from
 * the input.
 */
async function findUser(ctx: Context): Promise<{ email: string; session?: string } | undefined> {
  if (ctx.path === signInPath) return { email: readText(ctx.body, 'email') }
  const session = await getSessionFromCtx(ctx)
  if (session) return { email: session.user.email, session: `session ${session.session.id}` }
  const { createAuthCookie, secret, internalAdapter } = ctx.context
  const pending = await ctx.getSignedCookie(createAuthCookie('two_factor').name, secret)
  const verification = pending ? await internalAdapter.findVerificationValue(pending) : null
  const user = verification ? await internalAdapter.findUserById(verification.value) : null
  return user ? { email: user.email } : undefined
}

/** Counted before the password or the code is checked, so that concurrent sign-ins cannot exceed the limit. */
function consumeFromNetwork(deps: GuardDeps, address: string, path: string): Promise<Lockout | undefined> {
  return consumeRequest(deps, { key: `${networkOf(address)}|${path}`, ...signInAttemptsPerAddress })
}

async function assertNotLocked(
  deps: GuardDeps,
  who: { email: string; address: string },
  lock: Lockout | undefined,
): Promise<void> {
  if (!lock) return
  if (await recordLockout(deps, who, lock)) deps.onSignIn?.('locked')
  const headers = { 'X-Retry-After': String(lock.secondsLeft) }
  throw new APIError('TOO_MANY_REQUESTS', { message: 'Too many attempts.' }, headers)
}

function browserOf(ctx: Context): string | undefined {
  return readBrowser(ctx.headers?.get('cookie'))
}

function addressOf(ctx: Context): string {
  return ctx.headers?.get(addressHeader) ?? ''
}

function readText(body: unknown, name: string): string {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined
  return typeof value === 'string' ? value : ''
}

function hasTrue(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && Reflect.get(value, name) === true
}

export type SignInOutcome = 'done' | 'refused' | 'locked'

interface SignIn {
  /** The address as entered. */
  email: string
  address: string
  what: Fact
  outcome: SignInOutcome
}

/**
 * Records a sign-in in the audit log of each of the user's accounts. A sign-in with an unknown address belongs to no
 * account. It is only logged, without the address, because people sometimes type their password into that field.
 */
async function recordSignIn(deps: AuditDeps, { email: typed, address, what, outcome }: SignIn): Promise<void> {
  const email = normalizeEmail(typed)
  // PostgreSQL rejects NUL, and no address contains it.
  const user = email.includes('\0') ? undefined : await findUserByEmail(deps.db, email)
  if (!user) {
    deps.log.info({ address, outcome }, 'rejected a sign-in with an unknown email address')
    return
  }
  const entry = { what, address, outcome: outcome === 'done' ? ('done' as const) : ('refused' as const) }
  await recordOwnChange(deps, { userId: user.id, email }, entry)
}

/** Records each lockout once, up to a limit per user. Returns whether the lockout is new. */
async function recordLockout(
  deps: AuditDeps,
  { email, address }: Pick<SignIn, 'email' | 'address'>,
  { isFirst }: Lockout,
): Promise<boolean> {
  if (!isFirst) return false
  if (await consumeAttempt(deps, lockoutEntryAttempts, email)) return true
  recordLater(deps, { email, address, what: changes.signIn.lockedOut(), outcome: 'locked' })
  return true
}

/** Only a user has an audit log, so a response that waited for the entry would tell by its time who is one. */
function recordLater(deps: AuditDeps, signIn: SignIn): void {
  recordSignIn(deps, signIn).catch((error: unknown) =>
    deps.log.warn({ err: error, address: signIn.address }, 'could not record a rejected sign-in in the audit log'),
  )
}

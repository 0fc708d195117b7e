import type { BetterAuthOptions, BetterAuthRateLimitOptions } from 'better-auth'
import { APIError } from 'better-auth/api'
import { genericOAuth, magicLink, twoFactor } from 'better-auth/plugins'
import { type Kysely, sql } from 'kysely'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { codeOf } from '../../platform/error-code.ts'
import { cut } from '../../platform/text.ts'
import type { AuditDeps } from '../audit/append.ts'
import { signInGuard, type SignInOutcome, storeChangedPassword } from './guard.ts'
import { type Claims, createTokenVerifier, IdTokenError, type OidcProvider } from './id-token.ts'
import { consumeRequest } from './login-throttle.ts'
import { limitHashing, type PasswordHashing, scryptHashing } from './password-hashing.ts'
import { addressHeader, authPath, codePaths, cookiePrefix, oidcProviderId, resetPrefix, signInPage } from './paths.ts'

/** NIST SP 800-63B, 3.1.1.2: length matters most. The contract of an invitation has the same limits. */
const passwordLength = { min: 12, max: 128 }

const sessionSeconds = 7 * 24 * 3600
const signInLinkSeconds = 24 * 3600

export interface UserAuthOptions {
  /** Address of this server in browsers. Its scheme determines whether cookies are restricted to https. */
  publicUrl: string | undefined
  oidc: OidcProvider | undefined
  /** Whether one-time sign-in links exist. Only the sandbox uses them, for its demo user. */
  signInLinks: boolean
  /** How passwords are hashed: with scrypt by default. Tests use one that takes no time. */
  hashing?: PasswordHashing | undefined
  /** Called with the outcome of each sign-in. */
  onSignIn?: ((outcome: SignInOutcome) => void) | undefined
}

interface ResolvedOptions extends UserAuthOptions {
  secret: string
  /** Receives the token of a requested sign-in link. */
  onSignInLink: (token: string) => void
}

/**
 * Configures better-auth with our tables: sessions are stored in the database, sign-up is disabled, and secure defaults
 * are kept.
 */
export function toAuthOptions(
  deps: AuditDeps,
  { publicUrl, oidc, signInLinks, hashing = scryptHashing, secret, onSignInLink, onSignIn }: ResolvedOptions,
): BetterAuthOptions {
  return {
    appName: 'Waybill',
    database: { db: deps.db, type: 'postgres' },
    secret,
    ...(publicUrl !== undefined && { baseURL: publicUrl }),
    basePath: authPath,
    trustedOrigins: (request) => (request ? [new URL(request.url).origin] : []),
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: passwordLength.min,
      maxPasswordLength: passwordLength.max,
      password: limitHashing(hashing),
    },
    user: { modelName: 'owners' },
    // A session ends a week after the sign-in, like its cookie. Extending it would only help somebody who stole it.
    session: {
      modelName: 'owner_sessions',
      expiresIn: sessionSeconds,
      disableSessionRefresh: true,
      additionalFields: { secondFactor: { type: 'boolean', required: false, defaultValue: false, input: false } },
    },
    account: { modelName: 'owner_credentials', updateAccountOnSignIn: false },
    // The provider only identifies the user at sign-in, so its tokens are not stored.
    databaseHooks: {
      account: {
        create: { before: async (account) => ({ data: withoutTokens(await restrictSubject(deps, account)) }) },
        update: { before: async (account, context) => storeChangedPassword(deps, account, context) },
      },
      session: {
        create: {
          // Only these two paths start a session with a code. The sign-in of an organisation, for example, does not.
          before: (session, context) =>
            Promise.resolve({ data: { ...session, secondFactor: codePaths.has(context?.path ?? '') } }),
        },
      },
    },
    verification: {
      modelName: 'owner_verifications',
      storeIdentifier: { default: 'plain', overrides: { [resetPrefix]: 'hashed' } },
    },
    rateLimit: {
      enabled: true,
      customStorage: requestCounter(deps),
      customRules: {
        // The guard counts these requests: it knows the user and records lockouts in the audit log. better-auth counts by
        // network alone, so that anybody in the network of a user could lock them out.
        '/sign-in/email': false,
        '/two-factor/*': false,
        '/change-password': false,
        // Nobody is known yet, and nothing is checked: a whole office may begin to sign in with its organisation.
        '/sign-in/oauth2': { window: 60, max: 60 },
      },
    },
    advanced: {
      // Set explicitly, because better-auth disables both checks in environments that look like tests.
      disableOriginCheck: false,
      disableCSRFCheck: false,
      cookiePrefix,
      useSecureCookies: publicUrl?.startsWith('https:') ?? false,
      defaultCookieAttributes: { path: '/settings', sameSite: 'lax', httpOnly: true },
      ipAddress: { ipAddressHeaders: [addressHeader] },
    },
    plugins: [
      twoFactor({ issuer: 'Waybill', schema: { twoFactor: { modelName: 'owner_two_factors' } } }),
      ...(oidc ? [organisationSignIn(deps, oidc)] : []),
      ...(signInLinks
        ? [
            magicLink({
              disableSignUp: true,
              storeToken: 'hashed',
              expiresIn: signInLinkSeconds,
              sendMagicLink: ({ token }) => onSignInLink(token),
            }),
          ]
        : []),
      signInGuard({ ...deps, onSignIn }),
    ],
    // Users rejected by the provider are redirected to the sign-in page, which shows the reason. Other errors are
    // rethrown, because better-auth would print them with the row that PostgreSQL quotes.
    onAPIError: { errorURL: signInPage, throw: true },
    telemetry: { enabled: false },
    logger: { log: createLogWriter(deps.log) },
  }
}

const maxMessageLength = 200
const errorLogMilliseconds = 1_000

/**
 * Returns a function that logs what better-auth reports. Unknown callers can cause errors that quote their headers: at most
 * one a second is logged, and its start alone.
 */
function createLogWriter(log: Deps['log']): (level: string, message: string, ...details: unknown[]) => void {
  let [loggedAt, unlogged] = [-Infinity, 0]
  return (level, message, ...details) => {
    // The text of an error of PostgreSQL may quote a row.
    const code = details.map(codeOf).find((found) => found !== undefined)
    const [facts, text] = [{ from: 'better-auth', ...(code && { code }) }, cut(message, maxMessageLength)]
    if (level !== 'error') return log.debug(facts, text)
    const now = performance.now()
    if (now - loggedAt < errorLogMilliseconds) {
      unlogged += 1
      return
    }
    log.error(unlogged > 0 ? { ...facts, moreErrors: unlogged } : facts, text)
    ;[loggedAt, unlogged] = [now, 0]
  }
}

/** If `consume` exists, better-auth calls nothing else. */
function requestCounter(deps: Pick<Deps, 'db'>): NonNullable<BetterAuthRateLimitOptions['customStorage']> {
  return {
    get: () => Promise.resolve(null),
    set: () => Promise.resolve(),
    consume: async (key, { window, max }) => {
      const lock = await consumeRequest(deps, { key, max, seconds: window })
      return { allowed: !lock, retryAfter: lock?.secondsLeft ?? null }
    },
  }
}

function withoutTokens<Account extends object>(account: Account) {
  return { ...account, accessToken: null, refreshToken: null, idToken: null, scope: null }
}

/**
 * An invited user is found by an email address that the provider has verified. An unverified address would let anyone
 * who can change theirs at the provider sign in as another user. From then on, only the same subject of the provider
 * signs in as this user.
 */
function organisationSignIn({ db, log }: Pick<Deps, 'db' | 'log'>, provider: OidcProvider) {
  const verifier = createTokenVerifier(provider)
  return genericOAuth({
    config: [
      {
        providerId: oidcProviderId,
        discoveryUrl: verifier.discoveryUrl,
        clientId: provider.clientId,
        clientSecret: provider.clientSecret,
        scopes: ['openid', 'email', 'profile'],
        pkce: true,
        disableSignUp: true,
        getUserInfo: async ({ idToken, accessToken }) => {
          // better-auth itself only decodes the token.
          const claims = await verifier.readClaims({ idToken, accessToken }).catch((error: unknown) => {
            throw toSignInError(error, log)
          })
          // The issuer is a URL without a fragment, so it ends at the first #.
          const id = `${claims.issuer}#${claims.sub}`
          await adoptSubject(db, { sub: claims.sub, id })
          return {
            id,
            email: claims.email,
            emailVerified: isEmailVerified(claims),
            // Some providers return no name, but better-auth requires one.
            name: claims.name ?? claims.email ?? claims.sub,
          }
        },
      },
    ],
  })
}

/** The user returns to the sign-in page, which explains the code. The cause is for the operator. */
function toSignInError(error: unknown, log: Deps['log']): unknown {
  if (!(error instanceof IdTokenError)) return error
  log.warn(
    { reason: error.message },
    'rejected a sign-in with the organisation: its OpenID provider sent no valid identity',
  )
  return new APIError('FOUND', undefined, new Headers({ location: `${signInPage}?error=${error.code}` }))
}

/**
 * Some providers write booleans as text, and "false" is truthy. better-auth compares lower-case addresses, where the
 * Kelvin sign equals k, so only ASCII addresses are accepted.
 */
function isEmailVerified({ email, emailVerified }: Claims): boolean {
  return (emailVerified === true || emailVerified === 'true') && /^[\u0020-\u007e]+$/.test(email ?? '')
}

/**
 * Earlier versions stored subjects without their issuer, and let several sign in as one user. The first of them keeps
 * the user; the others are deleted when they next sign in.
 */
async function adoptSubject(db: Kysely<Database>, { sub, id }: { sub: string; id: string }): Promise<void> {
  await sql`
    delete from owner_credentials c where "providerId" = ${oidcProviderId} and "accountId" = ${sub} and exists (
      select from owner_credentials o where o."userId" = c."userId" and o."providerId" = c."providerId"
        and (o."createdAt", o.id) < (c."createdAt", c.id))`.execute(db)
  await sql`
    update owner_credentials set "accountId" = ${id} where "providerId" = ${oidcProviderId} and "accountId" = ${sub}
      and not exists (select from owner_credentials where "providerId" = ${oidcProviderId} and "accountId" = ${id})`.execute(
    db,
  )
}

/**
 * Returns the row of a new credential. A user has one subject at the provider: whoever is later given the same email
 * address there is another person. Throws if the user has another subject. The ID of the row is derived from the user,
 * so that of two concurrent sign-ins only one is stored.
 */
async function restrictSubject<Credential extends { providerId: string; userId: string; accountId: string }>(
  { db, log }: Pick<Deps, 'db' | 'log'>,
  credential: Credential,
): Promise<Credential & { id?: string }> {
  if (credential.providerId !== oidcProviderId) return credential
  const id = `${oidcProviderId}:${credential.userId}`
  const known = await db
    .selectFrom('owner_credentials')
    .select(['id', 'accountId'])
    .where('userId', '=', credential.userId)
    .where('providerId', '=', oidcProviderId)
    .executeTakeFirst()
  if (!known) return { ...credential, id }
  if (isOfIssuer(known.accountId, issuerOf(credential.accountId))) {
    log.warn(
      { userId: credential.userId },
      'rejected a sign-in with the organisation: the user is linked to another subject of its OpenID provider',
    )
    throw new SecondSubjectError()
  }
  // The server now has another provider, which vouches for the address.
  await db.deleteFrom('owner_credentials').where('id', '=', known.id).execute()
  return { ...credential, id }
}

function issuerOf(accountId: string): string | undefined {
  return /^(https?:[^#]+)#/.exec(accountId)?.[1]
}

/** A subject from an earlier version, stored without its issuer, is taken for one of the current provider. */
function isOfIssuer(accountId: string, issuer: string | undefined): boolean {
  return (issuerOf(accountId) ?? issuer) === issuer
}

class SecondSubjectError extends Error {
  constructor() {
    super('the user is already linked to another subject of the OpenID provider')
    this.name = 'SecondSubjectError'
  }
}

import type { BetterAuthOptions, BetterAuthRateLimitOptions } from 'better-auth'
import { magicLink, twoFactor } from 'better-auth/plugins'
import type { Deps } from '../../deps.ts'
import type { AuditDeps } from '../audit/append.ts'
import { signInGuard } from './guard.ts'
import type { OidcProvider } from './id-token.ts'
import { takeRequest } from './login-throttle.ts'
import { organisationSignIn, restrictSubject } from './organisation.ts'
import { limitHashing, type PasswordHashing, scryptHashing } from './password-hashing.ts'
import { addressHeader, authPath, codePaths, cookiePrefix, resetPrefix, signInPage } from './paths.ts'
import type { SignInOutcome } from './record.ts'

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
      // The guard counts these requests: it knows the user and records lockouts in the audit log.
      customRules: { '/sign-in/email': false },
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
    logger: {
      log: (level, message) => deps.log[level === 'error' ? 'error' : 'debug']({ from: 'better-auth' }, message),
    },
  }
}

/** If `consume` exists, better-auth calls nothing else. */
function requestCounter(deps: Pick<Deps, 'db'>): NonNullable<BetterAuthRateLimitOptions['customStorage']> {
  return {
    get: () => Promise.resolve(null),
    set: () => Promise.resolve(),
    consume: async (key, { window, max }) => {
      const lock = await takeRequest(deps, { key, max, seconds: window })
      return { allowed: !lock, retryAfter: lock?.secondsLeft ?? null }
    },
  }
}

function withoutTokens<Account extends object>(account: Account) {
  return { ...account, accessToken: null, refreshToken: null, idToken: null, scope: null }
}

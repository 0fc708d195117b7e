import type { BetterAuthOptions, BetterAuthRateLimitOptions } from 'better-auth'
import { genericOAuth, magicLink, twoFactor } from 'better-auth/plugins'
import type { Deps } from '../../deps.ts'
import type { AuditDeps } from '../audit/append.ts'
import { personGuard } from './guard.ts'
import { takeRequest } from './login-throttle.ts'
import { createPasswordHashing } from './password-hashing.ts'
import { addressHeader, authPath, oidcProviderId } from './paths.ts'
import type { SignInOutcome } from './record.ts'

/** NIST SP 800-63B, 3.1.1.2: length is what counts. The contract of an invitation says the same. */
const passwordLength = { min: 12, max: 128 }

const sessionSeconds = 7 * 24 * 3600
const signInLinkSeconds = 24 * 3600

/** An OpenID provider (OpenID Connect Discovery 1.0): the sign-in that an organisation has already. */
export interface OidcProvider {
  /** Its issuer, such as `https://login.example.com`. */
  issuer: string
  clientId: string
  clientSecret: string
}

export interface OwnerAuthOptions {
  /** Where browsers find this server; its scheme decides whether cookies are sent over https only. */
  publicUrl: string | undefined
  oidc: OidcProvider | undefined
  /** The sandbox prints a link that signs its demo owner in. Elsewhere there is no such way in. */
  signInLinks: boolean
  /** Hears how each sign-in ended. */
  onSignIn?: ((outcome: SignInOutcome) => void) | undefined
}

interface Circumstances extends OwnerAuthOptions {
  secret: string
  /** Takes the token of a sign-in link that was asked for. */
  onSignInLink: (token: string) => void
}

/** better-auth on our tables: sessions in the database, nobody signs up, secure defaults stay as they are. */
export function toAuthOptions(
  deps: AuditDeps,
  { publicUrl, oidc, signInLinks, secret, onSignInLink, onSignIn }: Circumstances,
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
      password: createPasswordHashing(),
    },
    user: { modelName: 'owners' },
    // It ends a week after the sign-in, as its cookie does: lengthening it would serve who stole it and nobody else.
    session: { modelName: 'owner_sessions', expiresIn: sessionSeconds, disableSessionRefresh: true },
    account: { modelName: 'owner_credentials', updateAccountOnSignIn: false },
    // We ask a provider who somebody is, once at each sign-in. What else its tokens open is none of our business.
    databaseHooks: { account: { create: { before: (account) => Promise.resolve({ data: withoutTokens(account) }) } } },
    verification: { modelName: 'owner_verifications' },
    rateLimit: {
      enabled: true,
      customStorage: countedRequests(deps),
      // The guard counts these: it knows whose password is tried, and writes down when an address is locked.
      customRules: { '/sign-in/email': false },
    },
    advanced: {
      // Said, since better-auth leaves both checks out where the environment looks like a test.
      disableOriginCheck: false,
      disableCSRFCheck: false,
      cookiePrefix: 'waybill',
      useSecureCookies: publicUrl?.startsWith('https:') ?? false,
      defaultCookieAttributes: { path: '/settings', sameSite: 'lax', httpOnly: true },
      ipAddress: { ipAddressHeaders: [addressHeader] },
    },
    plugins: [
      twoFactor({ issuer: 'Waybill', schema: { twoFactor: { modelName: 'owner_two_factors' } } }),
      ...(oidc ? [organisationSignIn(oidc)] : []),
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
      personGuard({ ...deps, onSignIn }),
    ],
    // Where those go whom the organisation's provider turned away: that page says why. What is not better-auth's own
    // is thrown on to us: it would be printed as it is, with the row that PostgreSQL quotes.
    onAPIError: { errorURL: '/settings/sign-in', throw: true },
    telemetry: { enabled: false },
    logger: {
      log: (level, message) => deps.log[level === 'error' ? 'error' : 'debug']({ from: 'better-auth' }, message),
    },
  }
}

/**
 * Who was invited is found by the e-mail address that the provider has verified; one that it only claims
 * would let whoever can change their address there in as somebody else.
 */
function organisationSignIn({ issuer, clientId, clientSecret }: OidcProvider) {
  return genericOAuth({
    config: [
      {
        providerId: oidcProviderId,
        discoveryUrl: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
        clientId,
        clientSecret,
        scopes: ['openid', 'email', 'profile'],
        pkce: true,
        disableSignUp: true,
        mapProfileToUser: (profile) => ({
          // Not every provider gives a name, and better-auth wants one.
          name: profile['name'] ?? profile['email'],
          emailVerified: isEmailProven(profile),
        }),
      },
    ],
  })
}

/**
 * Some providers write their booleans as text, and "false" is not empty. better-auth compares in lower case,
 * where the Kelvin sign is a k; nobody is invited by an address beyond ASCII.
 */
function isEmailProven({ email, email_verified: verified }: Record<string, unknown>): boolean {
  return (verified === true || verified === 'true') && typeof email === 'string' && /^[\u0020-\u007e]+$/.test(email)
}

/** better-auth asks for `consume` alone where it is there. */
function countedRequests(deps: Pick<Deps, 'db'>): NonNullable<BetterAuthRateLimitOptions['customStorage']> {
  return {
    get: () => Promise.resolve(null),
    set: () => Promise.resolve(),
    consume: async (key, { window, max }) => {
      const lock = await takeRequest(deps, { key, most: max, seconds: window })
      return { allowed: !lock, retryAfter: lock?.secondsLeft ?? null }
    },
  }
}

function withoutTokens<Account extends object>(account: Account) {
  return { ...account, accessToken: null, refreshToken: null, idToken: null, scope: null }
}

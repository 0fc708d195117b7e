import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose'
import { z } from 'zod'

/** An OpenID provider (OpenID Connect Discovery 1.0), with which an organisation's users sign in. */
export interface OidcProvider {
  /** Its issuer, such as `https://login.example.com`. */
  issuer: string
  clientId: string
  clientSecret: string
}

/** What the provider says about a user. */
export interface Claims {
  issuer: string
  sub: string
  email?: string | undefined
  emailVerified?: boolean | string | undefined
  name?: string | undefined
}

/** Codes that the sign-in page explains. */
type IdTokenErrorCode = 'id_token_invalid' | 'provider_unavailable'

/** Why the identity of a user could not be verified. The message contains nothing of the token. */
export class IdTokenError extends Error {
  readonly code: IdTokenErrorCode
  constructor(code: IdTokenErrorCode, message: string) {
    super(message)
    this.name = 'IdTokenError'
    this.code = code
  }
}

/** Signatures that only the provider can make: the client secret, which `HS256` uses, is not only known to it. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
const clockToleranceSeconds = 60
const timeoutMilliseconds = 5_000

const Discovery = z.object({ issuer: z.string(), jwks_uri: z.url(), userinfo_endpoint: z.url().optional() })

/** PostgreSQL rejects NUL. No subject or address contains a control character. */
const Text = z.string().regex(/^\P{Cc}+$/u)

/** OpenID Connect Core 1.0, 2 and 5.1. */
const UserClaims = z.object({
  sub: Text.max(255),
  email: Text.max(320).optional(),
  email_verified: z.union([z.boolean(), z.string()]).optional(),
  name: Text.optional().catch(undefined),
})

interface Tokens {
  idToken?: string | undefined
  accessToken?: string | undefined
}

export interface TokenVerifier {
  discoveryUrl: string
  /** Returns the claims of a user from tokens of the provider. Throws an `IdTokenError` unless they are valid. */
  readClaims(tokens: Tokens): Promise<Claims>
}

/**
 * Verifies ID tokens (OpenID Connect Core 1.0, 3.1.3.7). A nonce is not used: PKCE binds the code, and so the token, to
 * the browser that began the sign-in (RFC 9700, 2.1.1).
 */
export function createTokenVerifier({ issuer, clientId }: OidcProvider): TokenVerifier {
  const discoveryUrl = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const keySets = new Map<string, ReturnType<typeof createRemoteJWKSet>>()
  const keysAt = (url: string) => {
    // Loads the keys again if a token names an unknown one, at most every 30 seconds.
    const keys = keySets.get(url) ?? createRemoteJWKSet(new URL(url), { timeoutDuration: timeoutMilliseconds })
    if (!keySets.has(url)) keySets.clear()
    keySets.set(url, keys)
    return keys
  }

  async function discover(): Promise<z.output<typeof Discovery>> {
    const document = Discovery.safeParse(await fetchJson(discoveryUrl))
    if (!document.success)
      throw new IdTokenError('provider_unavailable', 'the discovery document has no issuer or jwks_uri')
    // Providers differ in whether their issuer ends with a slash.
    if (document.data.issuer.replace(/\/$/, '') !== issuer.replace(/\/$/, ''))
      throw new IdTokenError('provider_unavailable', 'the discovery document names an issuer other than OIDC_ISSUER')
    return document.data
  }

  async function verify(idToken: string, discovered: z.output<typeof Discovery>): Promise<JWTPayload> {
    const { payload } = await jwtVerify(idToken, keysAt(discovered.jwks_uri), {
      algorithms,
      issuer: discovered.issuer,
      audience: clientId,
      requiredClaims: ['sub', 'iat', 'exp'],
      clockTolerance: clockToleranceSeconds,
    }).catch((error: unknown) => {
      throw toIdTokenError(error)
    })
    const others = Array.isArray(payload.aud) && payload.aud.length > 1
    if ((others || payload['azp'] !== undefined) && payload['azp'] !== clientId)
      throw new IdTokenError('id_token_invalid', 'the ID token was issued to another client (azp)')
    return payload
  }

  return {
    discoveryUrl,
    readClaims: async ({ idToken, accessToken }) => {
      if (typeof idToken !== 'string') throw new IdTokenError('id_token_invalid', 'the provider returned no ID token')
      const discovered = await discover()
      const token = await verify(idToken, discovered)
      const claims = parseClaims(token)
      const { userinfo_endpoint: url } = discovered
      if (claims.email !== undefined || url === undefined || accessToken === undefined)
        return { ...claims, issuer: discovered.issuer }
      const more = parseClaims(await fetchJson(url, { authorization: `Bearer ${accessToken}` }))
      // OpenID Connect Core 1.0, 5.3.2: otherwise the response must not be used.
      if (more.sub !== claims.sub)
        throw new IdTokenError('id_token_invalid', 'the userinfo endpoint describes another subject than the ID token')
      return { ...more, issuer: discovered.issuer }
    },
  }
}

function parseClaims(claims: unknown): Omit<Claims, 'issuer'> {
  const parsed = UserClaims.safeParse(claims)
  if (!parsed.success) {
    const names = [...new Set(parsed.error.issues.map(({ path }) => path.join('.')))].join(', ')
    throw new IdTokenError('id_token_invalid', `malformed claims: ${names || 'not an object'}`)
  }
  const { sub, email, email_verified: emailVerified, name } = parsed.data
  return { sub, email, emailVerified, name }
}

async function fetchJson(url: string, headers: Record<string, string> = {}): Promise<unknown> {
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(timeoutMilliseconds) })
    if (!response.ok) throw new Error(`HTTP status ${response.status}`)
    return await response.json()
  } catch (error) {
    const cause = error instanceof Error ? error.message : 'unknown error'
    throw new IdTokenError('provider_unavailable', `${new URL(url).pathname} of the provider: ${cause}`)
  }
}

/** Keeps the name of a claim, but no value of the token. */
function toIdTokenError(error: unknown): IdTokenError {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired)
    return new IdTokenError('id_token_invalid', `the claim ${error.claim} of the ID token is missing or not valid`)
  if (error instanceof errors.JWKSTimeout || error instanceof TypeError)
    return new IdTokenError('provider_unavailable', 'the signing keys of the provider could not be read')
  const code = error instanceof errors.JOSEError ? error.code : 'unknown error'
  return new IdTokenError('id_token_invalid', `the ID token could not be verified (${code})`)
}

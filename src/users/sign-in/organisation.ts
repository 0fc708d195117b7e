import { APIError } from 'better-auth/api'
import { genericOAuth } from 'better-auth/plugins'
import { type Kysely, sql } from 'kysely'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { type Claims, createTokenVerifier, IdTokenError, type OidcProvider } from './id-token.ts'
import { oidcProviderId, signInPage } from './paths.ts'

/**
 * An invited user is found by an email address that the provider has verified. An unverified address would let anyone
 * who can change theirs at the provider sign in as another user. From then on, only the same subject of the provider
 * signs in as this user.
 */
export function organisationSignIn({ db, log }: Pick<Deps, 'db' | 'log'>, provider: OidcProvider) {
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
export async function restrictSubject<Credential extends { providerId: string; userId: string; accountId: string }>(
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

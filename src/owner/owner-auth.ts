import { betterAuth } from 'better-auth'
import { magicLink } from 'better-auth/plugins'
import type { Deps } from '../deps.ts'

/** Where better-auth answers; its cookies go nowhere else. */
export const authPath = '/settings/auth'
/** Set by our server, and never taken from a caller. */
export const addressHeader = 'x-waybill-address'
/** NIST SP 800-63B, 3.1.1.2: length is what counts. The contract of an invitation says the same. */
const passwordLength = { min: 12, max: 128 }

const sessionSeconds = 7 * 24 * 3600
/** Ten tries a minute from one address, which may be a whole office. */
const signInRate = { window: 60, max: 10 }
const signInLinkSeconds = 24 * 3600

export interface OwnerAuthOptions {
  /** Where browsers find this server; its scheme decides whether cookies are sent over https only. */
  publicUrl: string | undefined
  /** The sandbox prints a link that signs its demo owner in. Elsewhere there is no such way in. */
  signInLinks?: boolean
}

export interface SignedIn {
  ownerId: string
  name: string
  email: string
}

export interface OwnerAuth {
  /** One request below `authPath`. */
  handle(request: Request): Promise<Response>
  /** Whose session the cookies name; undefined when it has ended or never was. */
  findSession(headers: Headers): Promise<SignedIn | undefined>
  /** A person who can sign in with a password. Their e-mail address counts as proven: they held its invitation. */
  createOwner(person: { email: string; name: string; password: string }): Promise<{ ownerId: string }>
  checkPassword(ownerId: string, password: string): Promise<boolean>
  /** The path of a link that signs this person in, once, within a day. */
  createSignInLink(email: string): Promise<string>
}

/**
 * better-auth on our database: e-mail and password, sessions in the database, no way to sign up. Only what
 * the dashboard calls is served (`http/settings-auth.ts` has the list).
 */
export function createOwnerAuth(
  { db, secrets, log }: Pick<Deps, 'db' | 'secrets' | 'log'>,
  { publicUrl, signInLinks = false }: OwnerAuthOptions,
): OwnerAuth {
  const links: string[] = []
  const auth = betterAuth({
    database: { db, type: 'postgres' },
    secret: secrets.derive('owner sessions'),
    ...(publicUrl !== undefined && { baseURL: publicUrl }),
    basePath: authPath,
    trustedOrigins: (request) => (request ? [new URL(request.url).origin] : []),
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: passwordLength.min,
      maxPasswordLength: passwordLength.max,
    },
    user: { modelName: 'owners' },
    session: { modelName: 'owner_sessions', expiresIn: sessionSeconds },
    account: { modelName: 'owner_credentials' },
    verification: { modelName: 'owner_verifications' },
    rateLimit: {
      enabled: true,
      storage: 'database',
      modelName: 'owner_sign_in_rates',
      customRules: { '/sign-in/email': signInRate },
    },
    advanced: {
      cookiePrefix: 'waybill',
      useSecureCookies: publicUrl?.startsWith('https:') ?? false,
      defaultCookieAttributes: { path: '/settings', sameSite: 'lax', httpOnly: true },
      ipAddress: { ipAddressHeaders: [addressHeader] },
    },
    plugins: signInLinks
      ? [
          magicLink({
            disableSignUp: true,
            storeToken: 'hashed',
            expiresIn: signInLinkSeconds,
            sendMagicLink: ({ token }) => void links.push(token),
          }),
        ]
      : [],
    telemetry: { enabled: false },
    logger: { log: (level, message) => log[level === 'error' ? 'error' : 'debug']({ from: 'better-auth' }, message) },
  })
  return {
    handle: (request) => auth.handler(request),
    findSession: async (headers) => {
      const session = await auth.api.getSession({ headers })
      return session ? { ownerId: session.user.id, name: session.user.name, email: session.user.email } : undefined
    },
    createOwner: async ({ email, name, password }) => {
      const { internalAdapter, password: hasher } = await auth.$context
      const { id } = await internalAdapter.createUser({ email, name, emailVerified: true })
      await internalAdapter.linkAccount({
        userId: id,
        providerId: 'credential',
        accountId: id,
        password: await hasher.hash(password),
      })
      return { ownerId: id }
    },
    checkPassword: async (ownerId, password) => {
      const { internalAdapter, password: hasher } = await auth.$context
      const credential = (await internalAdapter.findAccounts(ownerId)).find(
        ({ providerId }) => providerId === 'credential',
      )
      return typeof credential?.password === 'string' && hasher.verify({ hash: credential.password, password })
    },
    createSignInLink: async (email) => {
      // The plugin is there when links are: without it there is no such call.
      const api = auth.api as unknown as { signInMagicLink(call: object): Promise<unknown> }
      await api.signInMagicLink({ body: { email }, headers: new Headers() })
      return `${authPath}/magic-link/verify?token=${links.pop()}&callbackURL=${encodeURIComponent('/settings/')}`
    },
  }
}

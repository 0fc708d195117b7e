import { type Kysely, sql } from 'kysely'
import type { Deps } from '../../deps.ts'
import type { Database } from '../../platform/db/schema.ts'
import { asUnknownCaller } from './hashing-caller.ts'
import type { UserAuthOptions } from './options.ts'
import { authPath, resetLinkSeconds, resetPrefix } from './paths.ts'
import { readAuthSecret } from './secret.ts'

const resetTokenBytes = 32

export interface SignedIn {
  userId: string
  sessionId: string
  name: string
  email: string
  /** Whether the user has set up an authenticator app. */
  twoFactor: boolean
  /** Whether this session was started with a code of the app, or a backup code. */
  secondFactor: boolean
}

export interface UserAuth {
  /** Handles one request below `authPath`. */
  handle(request: Request): Promise<Response>
  /** Returns the user of the session in the cookies; undefined if there is no valid session. */
  findSession(headers: Headers): Promise<SignedIn | undefined>
  /**
   * Creates a user. Without a password, they sign in with their organisation, which proves their address. A user with a
   * password whose invitation does not prove the address cannot sign in with the organisation, where the address may
   * belong to somebody else. `db` may be a transaction.
   */
  createUser(
    db: Kysely<Database>,
    user: { email: string; name: string; passwordHash?: string | undefined; provesEmail: boolean },
  ): Promise<{ userId: string }>
  hasPassword(userId: string): Promise<boolean>
  /** Creates a token that sets a new password once. */
  createResetToken(userId: string): Promise<{ token: string; expiresAt: Date }>
  /** Returns the ID of the user; undefined if the token is not valid. */
  findResetToken(token: string): Promise<string | undefined>
  /**
   * Returns the ID of the user to only one of several concurrent callers, and undefined to the others. `db` may be a
   * transaction.
   */
  spendResetToken(db: Kysely<Database>, token: string): Promise<string | undefined>
  /** Returns undefined if the user has no password. */
  checkPassword(userId: string, password: string): Promise<boolean | undefined>
  /** Throws a `ServiceError` if too many hashes are waiting, so call it before irreversible changes. */
  hashPassword(password: string): Promise<string>
  /** `db` may be a transaction. */
  setPassword(db: Kysely<Database>, userId: string, passwordHash: string): Promise<void>
  /** Returns the path of a one-time link that signs in this user within a day. */
  createSignInLink(email: string): Promise<string>
}

/** `http/dashboard/auth.ts` decides which of its routes are served. Nothing is loaded before the first use. */
export function createUserAuth(
  deps: Pick<Deps, 'db' | 'secrets' | 'log' | 'newId' | 'randomBytes'>,
  options: UserAuthOptions,
): UserAuth {
  const links: string[] = []
  const create = async (db: Kysely<Database>) => {
    // Imported here because it takes a quarter of a second, and most processes and commands need no sign-in.
    const [{ betterAuth }, { toAuthOptions }] = await Promise.all([import('better-auth'), import('./options.ts')])
    const onDb = { ...deps, db }
    const secret = await readAuthSecret(onDb)
    return betterAuth(toAuthOptions(onDb, { ...options, secret, onSignInLink: (token) => void links.push(token) }))
  }
  const open = memoize(() => create(deps.db))
  // better-auth gets its database when it is created, so a transaction needs its own instance. That takes about 1 ms.
  const openOn = (db: Kysely<Database>) => (db === deps.db ? open() : create(db))
  const findHash = async (db: Kysely<Database>, userId: string) => {
    const { internalAdapter } = await (await openOn(db)).$context
    const credentials = await internalAdapter.findAccounts(userId)
    return credentials.find(({ providerId }) => providerId === 'credential')?.password
  }
  const setPassword = async (db: Kysely<Database>, userId: string, hash: string) => {
    const { internalAdapter } = await (await openOn(db)).$context
    if (typeof (await findHash(db, userId)) === 'string') return internalAdapter.updatePassword(userId, hash)
    await internalAdapter.linkAccount({ userId, providerId: 'credential', accountId: userId, password: hash })
  }
  // better-auth hides the cause of a failure. This query throws if the cause is the database.
  const assertDatabaseAvailable = () => sql`select`.execute(deps.db)
  return {
    handle: async (request) => {
      const { handler } = await open()
      const response = await asUnknownCaller(() => handler(request))
      if (response.status >= 500) await assertDatabaseAvailable()
      return response
    },
    findSession: async (headers) => {
      const { api } = await open()
      const read = () => api.getSession({ headers })
      const session = await read().catch(async () => {
        await assertDatabaseAvailable()
        // The cause may have passed, such as a connection that was lost.
        return read()
      })
      if (!session) return undefined
      const { id, name, email } = session.user
      return {
        userId: id,
        sessionId: session.session.id,
        name,
        email,
        twoFactor: 'twoFactorEnabled' in session.user && session.user.twoFactorEnabled === true,
        secondFactor: 'secondFactor' in session.session && session.session.secondFactor === true,
      }
    },
    createUser: async (db, { email, name, passwordHash, provesEmail }) => {
      const { internalAdapter } = await (await openOn(db)).$context
      const emailVerified = provesEmail || passwordHash === undefined
      const { id } = await internalAdapter.createUser({ email, name, emailVerified })
      if (passwordHash !== undefined) await setPassword(db, id, passwordHash)
      return { userId: id }
    },
    hasPassword: async (userId) => typeof (await findHash(deps.db, userId)) === 'string',
    createResetToken: async (userId) => {
      const { internalAdapter } = await (await open()).$context
      const token = Buffer.from(deps.randomBytes(resetTokenBytes)).toString('base64url')
      const expiresAt = new Date(Date.now() + 1000 * resetLinkSeconds)
      await internalAdapter.createVerificationValue({ identifier: resetPrefix + token, value: userId, expiresAt })
      return { token, expiresAt }
    },
    findResetToken: async (token) => {
      const { internalAdapter } = await (await open()).$context
      const verification = await internalAdapter.findVerificationValue(resetPrefix + token)
      return verification && verification.expiresAt > new Date() ? verification.value : undefined
    },
    spendResetToken: async (db, token) => {
      const { internalAdapter } = await (await openOn(db)).$context
      return (await internalAdapter.consumeVerificationValue(resetPrefix + token))?.value
    },
    checkPassword: async (userId, password) => {
      const { password: hasher } = await (await open()).$context
      const hash = await findHash(deps.db, userId)
      return typeof hash === 'string' ? hasher.verify({ hash, password }) : undefined
    },
    hashPassword: async (password) => (await (await open()).$context).password.hash(password),
    setPassword,
    createSignInLink: async (email) => {
      // This call only exists if the plugin for links is enabled.
      const api = (await open()).api as unknown as { signInMagicLink(call: object): Promise<unknown> }
      await api.signInMagicLink({ body: { email }, headers: new Headers() })
      return `${authPath}/magic-link/verify?token=${links.pop()}&callbackURL=${encodeURIComponent('/settings/')}`
    },
  }
}

/** Runs the work once for all callers. After a failure, the next caller tries again. */
function memoize<T>(work: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined
  return () => {
    started ??= work().catch((error: unknown) => {
      started = undefined
      throw error
    })
    return started
  }
}

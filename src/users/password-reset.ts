import type { Kysely } from 'kysely'
import type { z } from 'zod'
import { errorFacts } from '../../contracts/facts/errors.ts'
import { changes } from '../../contracts/facts/changes.ts'
import type {
  requestPasswordReset as requestContract,
  resetPassword as contract,
} from '../../contracts/dashboard/session.ts'
import { ServiceError } from '../../contracts/errors.ts'
import { networkOf } from '../accounts/ip-allow-list.ts'
import type { Deps } from '../deps.ts'
import type { Database } from '../platform/db/schema.ts'
import { enqueueEmails } from '../platform/email/outbox.ts'
import type { AuditDeps } from './audit/append.ts'
import { recordOwnChange } from './audit/audit.ts'
import { writePasswordReset } from './emails.ts'
import type { UserAuth } from './sign-in/better-auth.ts'
import { findKnownSource } from './sign-in/known-sources.ts'
import { type AttemptLimit, consumeAttempt, type Lockout } from './sign-in/login-throttle.ts'
import { resetLinkSeconds } from './sign-in/paths.ts'
import {
  deleteAuthenticator,
  deletePasswordLinks,
  deleteSessions,
  deleteVerifications,
  findUserByEmail,
  lockInvitedUser,
  lockVerifications,
  markEmailVerified,
} from './store.ts'

/** Limits the emails to one user that one network requests, or one browser in which the user has signed in before. */
const resetRequestsPerSource: AttemptLimit = { name: 'password reset from one source', max: 5, seconds: 3600 }
/** Limits the emails to one user that networks request from which they never signed in. */
const resetRequestsPerUser: AttemptLimit = { name: 'password reset', max: 20, seconds: 3600 }
/** Limits the requests from one address for all users; a whole office may share it. */
const resetRequestsPerAddress: AttemptLimit = { name: 'password reset from one address', max: 20, seconds: 3600 }
/** A token has 256 bits; this only limits how many lookups and hashes an address can cause. */
const resetsPerAddress: AttemptLimit = { name: 'new password from one address', max: 20, seconds: 3600 }

type ResetDeps = AuditDeps & Pick<Deps, 'mail' | 'publicUrl' | 'notifications'>

interface ResetContext {
  userAuth: Pick<UserAuth, 'createResetToken' | 'hasPassword'>
  /** Whether users can sign in with their organisation instead of a password. */
  oidc: object | undefined
  /** The source address of the request. */
  address: string
  /** The token of the browser, if somebody has signed in with it before. */
  browser: string | undefined
}

/**
 * Counts a request for a link and returns the remaining work. The caller must not wait for it, so that neither the
 * response nor its timing reveals whether the address belongs to a user.
 */
export async function requestPasswordReset(
  deps: ResetDeps,
  context: ResetContext,
  { email }: z.output<(typeof requestContract)['input']>,
): Promise<() => Promise<void>> {
  if (!deps.mail) throw new ServiceError('SETTING_REFUSED', errorFacts.noEmail())
  const { address, browser } = context
  // Requests of others must not block those of the user.
  const source = await findKnownSource(deps.db, { email, address, browser })
  if (source?.kind !== 'browser')
    assertNotLocked(await consumeAttempt(deps, resetRequestsPerAddress, networkOf(address)))
  assertNotLocked(await consumeAttempt(deps, resetRequestsPerSource, `${email} ${source?.name ?? networkOf(address)}`))
  if (!source) assertNotLocked(await consumeAttempt(deps, resetRequestsPerUser, email))
  return () => mailResetLink(deps, context, email)
}

/** With an identity provider, a user without a password gets no link: a password would bypass the provider. */
async function mailResetLink(deps: ResetDeps, { userAuth, oidc, address }: ResetContext, email: string): Promise<void> {
  const user = await findUserByEmail(deps.db, email)
  if (!user) return
  if (oidc && !(await userAuth.hasPassword(user.id))) return
  const { token, expiresAt } = await userAuth.createResetToken(user.id)
  // Uses the configured URL, never the host of the request.
  const link = new URL(`/settings/reset-password/${token}`, deps.publicUrl).href
  const content = writePasswordReset({ link, expiresAt })
  const mail = { kind: 'password_reset' as const, accountId: undefined, to: email, validSeconds: resetLinkSeconds }
  if (!(await enqueueEmails(deps, [{ ...mail, ...content }])))
    deps.log.warn('too many emails wait to be sent; dropped one that resets a password')
  deps.notifications.notify('emails')
  const what = changes.askForPasswordLink()
  await recordOwnChange(deps, { userId: user.id, email }, { what, address, outcome: 'done' })
}

/**
 * Sets a new password with the one-time link from an email. All sessions and other links of the user end. After a failure,
 * the link is still valid.
 */
export async function resetPassword(
  deps: AuditDeps,
  { userAuth, address }: { userAuth: UserAuth; address: string },
  { token, password }: z.output<(typeof contract)['input']>,
): Promise<{ email: string }> {
  assertNotLocked(await consumeAttempt(deps, resetsPerAddress, networkOf(address)))
  const userId = await userAuth.findResetToken(token)
  const email = userId === undefined ? undefined : await findEmail(deps.db, userId)
  if (userId === undefined || email === undefined) throw linkNotFound()
  // Before the transaction, because hashing takes long and is rejected if too many users sign in at once.
  const passwordHash = await userAuth.hashPassword(password)
  await deps.db.transaction().execute(async (trx) => {
    // Before the lock on the user, in the order of an accepted invitation: otherwise the two could deadlock.
    await deletePasswordLinks(trx, email)
    await lockVerifications(trx, userId)
    if ((await userAuth.spendResetToken(trx, token)) !== userId) throw linkNotFound()
    const user = await lockInvitedUser(trx, email)
    if (user?.id !== userId) throw linkNotFound()
    await userAuth.setPassword(trx, userId, passwordHash)
    await deleteSessions(trx, userId)
    await deleteVerifications(trx, userId)
    // Whoever set up the app of an unverified user did not prove the address. Otherwise a mailbox must not replace it.
    if (!user.isVerified) await deleteAuthenticator(trx, userId)
    await markEmailVerified(trx, userId)
  })
  const what = changes.setPasswordByLink()
  await recordOwnChange(deps, { userId, email }, { what, address, outcome: 'done' })
  return { email }
}

async function findEmail(db: Kysely<Database>, userId: string): Promise<string | undefined> {
  const row = await db.selectFrom('owners').select('email').where('id', '=', userId).executeTakeFirst()
  return row?.email
}

function assertNotLocked(lock: Lockout | undefined): void {
  if (lock)
    throw new ServiceError('RATE_LIMIT_EXCEEDED', errorFacts.tooManyAttempts(), {
      retryAfterSeconds: lock.secondsLeft,
    })
}

function linkNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', errorFacts.linkGone())
}

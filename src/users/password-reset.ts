import type { z } from 'zod'
import type {
  requestPasswordReset as requestContract,
  resetPassword as contract,
} from '../../contracts/dashboard/session.ts'
import { ServiceError } from '../../contracts/errors.ts'
import { networkOf } from '../accounts/ip-allow-list.ts'
import type { Deps } from '../deps.ts'
import { enqueueEmails } from '../platform/email/outbox.ts'
import type { AuditDeps } from './audit/append.ts'
import { recordOwnChange } from './audit/audit.ts'
import { writePasswordReset } from './emails.ts'
import type { UserAuth } from './sign-in/better-auth.ts'
import { type AttemptLimit, type Lock, takeAttempt } from './sign-in/login-throttle.ts'
import { resetLinkSeconds } from './sign-in/paths.ts'
import {
  deletePasswordLinks,
  deleteSessions,
  deleteVerifications,
  findUserByEmail,
  markEmailVerified,
} from './store.ts'

/** Emails to one person, whoever asks for them. */
const resetRequestsPerUser: AttemptLimit = { of: 'password reset', most: 5, seconds: 3600 }
/** Requests from one address, for whichever users: a whole office may share it. */
const resetRequestsPerAddress: AttemptLimit = { of: 'password reset from one address', most: 20, seconds: 3600 }
/** A token has 256 bits; this only limits how many lookups and hashes an address can cause. */
const resetsPerAddress: AttemptLimit = { of: 'new password from one address', most: 20, seconds: 3600 }

type ResetDeps = AuditDeps & Pick<Deps, 'mail' | 'publicUrl' | 'announcements'>

interface Ways {
  userAuth: Pick<UserAuth, 'createResetToken' | 'hasPassword'>
  /** Whether users can sign in with their organisation instead of a password. */
  oidc: object | undefined
  /** The source address of the request. */
  address: string
}

/**
 * Counts a request for a link and returns what is left to do, which the caller must not wait for: then neither the
 * answer nor its time shows whether the address belongs to a user.
 */
export async function requestPasswordReset(
  deps: ResetDeps,
  ways: Ways,
  { email }: z.output<(typeof requestContract)['input']>,
): Promise<() => Promise<void>> {
  if (!deps.mail)
    throw new ServiceError(
      'SETTING_REFUSED',
      'This server sends no email. Ask the people who run it to reset your password.',
    )
  refuseLocked(await takeAttempt(deps, resetRequestsPerAddress, networkOf(ways.address)))
  refuseLocked(await takeAttempt(deps, resetRequestsPerUser, email))
  return () => mailResetLink(deps, ways, email)
}

/** A user of the organisation's provider without a password gets none: it would be a way around the provider. */
async function mailResetLink(deps: ResetDeps, { userAuth, oidc, address }: Ways, email: string): Promise<void> {
  const user = await findUserByEmail(deps.db, email)
  if (!user) return
  if (oidc && !(await userAuth.hasPassword(user.id))) return
  const { token, expiresAt } = await userAuth.createResetToken(user.id)
  // Never what the request claims as its host.
  const link = new URL(`/settings/reset-password/${token}`, deps.publicUrl).href
  const content = writePasswordReset({ link, expiresAt })
  const mail = { kind: 'password_reset' as const, accountId: undefined, to: email, validSeconds: resetLinkSeconds }
  if (!(await enqueueEmails(deps, [{ ...mail, ...content }])))
    deps.log.warn('too many emails wait to be sent; dropped one that resets a password')
  deps.announcements.announce('emails')
  const what = 'asked for an email to reset their password'
  await recordOwnChange(deps, { userId: user.id, email }, { what, address, outcome: 'done' })
}

/** Sets a new password with the link from an email, which is spent. All sessions and other links of the user end. */
export async function resetPassword(
  deps: AuditDeps,
  { userAuth, address }: { userAuth: UserAuth; address: string },
  { token, password }: z.output<(typeof contract)['input']>,
): Promise<{ email: string }> {
  refuseLocked(await takeAttempt(deps, resetsPerAddress, networkOf(address)))
  if (!(await userAuth.isResetToken(token))) throw spent()
  // Before the link is spent, because hashing can be refused when many sign in at once.
  const passwordHash = await userAuth.hashPassword(password)
  const userId = await userAuth.spendResetToken(token)
  const user = userId === undefined ? undefined : await findUser(deps, userId)
  if (userId === undefined || !user) throw spent()
  await userAuth.setPassword(userId, passwordHash)
  await deleteSessions(deps.db, userId)
  await deleteVerifications(deps.db, userId)
  await deletePasswordLinks(deps.db, user.email)
  await markEmailVerified(deps.db, userId)
  const what = 'set a new password with a link from an email'
  await recordOwnChange(deps, { userId, email: user.email }, { what, address, outcome: 'done' })
  return user
}

function findUser({ db }: Pick<Deps, 'db'>, userId: string): Promise<{ email: string } | undefined> {
  return db.selectFrom('owners').select('email').where('id', '=', userId).executeTakeFirst()
}

function refuseLocked(lock: Lock | undefined): void {
  if (lock)
    throw new ServiceError('RATE_LIMIT_EXCEEDED', 'Too many attempts. Try again later.', {
      retryAfterSeconds: lock.secondsLeft,
    })
}

function spent(): ServiceError {
  return new ServiceError('NOT_FOUND', 'This link was already used or has expired. Ask for a new one.')
}

import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { z } from 'zod'
import { problems, readProblem } from '../../contracts/facts/problems.ts'
import { errorFacts, errorFactsWithValues } from '../../contracts/facts/errors.ts'
import { changes, roles } from '../../contracts/facts/changes.ts'
import type { Fact } from '../../contracts/facts/fact.ts'
import { type acceptInvitation as contract, Email, type Invitation } from '../../contracts/dashboard/user.ts'
import { ServiceError } from '../../contracts/errors.ts'
import type { Role } from '../../contracts/procedure.ts'
import { requireAccount } from '../accounts/account.ts'
import type { Deps } from '../deps.ts'
import { isUniqueViolation } from '../platform/db/errors.ts'
import type { Database } from '../platform/db/schema.ts'
import { appendAuditEntry, type AuditDeps } from './audit/append.ts'
import { recordOwnChange } from './audit/audit.ts'
import type { UserAuth } from './sign-in/better-auth.ts'
import { findKnownSource, type SignInClient } from './sign-in/known-sources.ts'
import { consumePasswordAttempt } from './sign-in/login-throttle.ts'
import type { OidcProvider } from './sign-in/id-token.ts'
import { normalizeEmail } from './member.ts'
import {
  deletePasswordLinks,
  deleteSessions,
  deleteVerifications,
  findInvitation,
  findInvitedUser,
  type InvitationRow,
  type InvitedUser,
  lockInvitedUser,
  lockOwners,
  markEmailVerified,
  replaceCredentials,
  saveInvitation,
  saveRole,
  spendInvitation,
} from './store.ts'

const tokenBytes = 32
const validFor = '1 day'

export interface IssuedInvitation {
  email: string
  role: Role
  /** Path of the link, relative to the address of this server. */
  path: string
  expiresAt: string
}

interface NewInvitation {
  email: string
  role: Role
  setsPassword?: boolean
  /** The owner who invites; null for an operator. */
  invitedBy?: string | null
  /** False if an owner of the account sees the link, so that its use does not prove the address. */
  provesEmail?: boolean
}

/**
 * Invites a user to an account with a one-time link that is valid for a day. An existing user gets the role
 * immediately, and the link leads to the account.
 */
export async function inviteUser(
  deps: Pick<Deps, 'db' | 'randomBytes'>,
  accountId: string,
  { email: given, role, setsPassword = false, invitedBy = null, provesEmail = true }: NewInvitation,
): Promise<IssuedInvitation> {
  await requireAccount(deps.db, accountId)
  const email = Email.safeParse(given)
  if (!email.success)
    throw new ServiceError(
      'SETTING_REFUSED',
      `${JSON.stringify(given)} ${email.error.issues[0]?.message ?? 'is not an email address'}.`,
    )
  const token = Buffer.from(deps.randomBytes(tokenBytes)).toString('base64url')
  const { expiresAt } = await saveInvitation(deps.db, {
    tokenHash: hash(token),
    accountId,
    email: email.data,
    role,
    setsPassword,
    invitedBy,
    provesEmail,
    validFor,
  })
  return { email: email.data, role, path: `/settings/invitation/${token}`, expiresAt: expiresAt.toISOString() }
}

export async function readInvitation(deps: Pick<Deps, 'db'>, token: string): Promise<z.output<typeof Invitation>> {
  const invitation = await findInvitation(deps.db, hash(token))
  if (!invitation) throw invitationNotFound()
  return {
    accountName: invitation.accountName,
    email: invitation.email,
    role: invitation.role,
    ...(invitation.invitedBy !== null && { invitedBy: invitation.invitedBy }),
    setsPassword: invitation.setsPassword,
    replacesCredentials: doesReplaceCredentials(invitation, await findInvitedUser(deps.db, invitation.email)),
    expiresAt: invitation.expiresAt.toISOString(),
  }
}

/** How an invited user will sign in. */
interface SignInContext {
  userAuth: Pick<UserAuth, 'createUser' | 'checkPassword' | 'hashPassword' | 'setPassword'>
  oidc: OidcProvider | undefined
  /** The source address of the request. */
  address: string
  /** The token of the browser, if somebody has signed in with it before. */
  browser: string | undefined
}

/**
 * Accepts an invitation, or sets a new password. An existing user needs more than the link: their password here, or
 * their session in `joinAccount`. There are two exceptions: an operator's link for a new password, and a link that
 * proves an address that was never proved, which replaces all earlier credentials.
 */
export async function acceptInvitation(
  deps: AuditDeps,
  context: SignInContext,
  input: z.output<(typeof contract)['input']>,
): Promise<{ email: string; accountId: string }> {
  for (let attempt = 1; ; attempt++)
    try {
      return await tryToAccept(deps, context, input)
    } catch (error) {
      if (!(error instanceof UserChanged)) throw error
      if (attempt === maxAttempts) throw tooManyChanges()
    }
}

const maxAttempts = 3

/** The user was created, deleted or verified since their proof was checked, which must be checked again. */
class UserChanged extends Error {}

async function tryToAccept(
  deps: AuditDeps,
  { userAuth, oidc, address, browser }: SignInContext,
  { token, name, password }: z.output<(typeof contract)['input']>,
): Promise<{ email: string; accountId: string }> {
  const invitation = await findInvitation(deps.db, hash(token))
  if (!invitation) throw invitationNotFound()
  const { email, accountId, role, setsPassword, provesEmail } = invitation
  if (password === undefined && (setsPassword || !oidc)) throw missing('password')
  // Also required of existing users, so that the answer does not reveal whether the address has one.
  if (!setsPassword && name === undefined) throw missing('name')
  const known = await findInvitedUser(deps.db, email)
  const replaces = doesReplaceCredentials(invitation, known)
  if (known && !setsPassword && !replaces)
    await verifyPassword(deps, userAuth, { userId: known.id, email, password, address, browser })
  if (!known && name === undefined) throw missing('name')
  const needsHash = password !== undefined && (!known || setsPassword || replaces)
  const passwordHash = needsHash ? await userAuth.hashPassword(password) : undefined
  const what = setsPassword ? changes.chooseNewPassword() : changes.acceptInvitation({ role: roles[role]() })
  await applyInvitation(deps, invitation, { who: email, what, address }, async (trx) => {
    // Before the lock on the user, as in the removal of a member, which deletes the invitation first, and in a reset.
    if (known && replaces) {
      await deletePasswordLinks(trx, email)
      await deleteVerifications(trx, known.id)
    }
    await assertUnchanged(trx, email, known)
    if (known && replaces) await replaceCredentials(trx, { userId: known.id, name: name ?? email })
    const userId =
      known?.id ?? (await createUser(trx, userAuth, { email, name: name ?? email, passwordHash, provesEmail }))
    if (known && provesEmail) await markEmailVerified(trx, known.id)
    if (known && passwordHash !== undefined) {
      await userAuth.setPassword(trx, known.id, passwordHash)
      await deleteSessions(trx, known.id)
    }
    // A link for a new password has the role at its creation, which may have been changed or revoked since.
    if (!known || !setsPassword) await saveRole(trx, { accountId, userId, role })
  })
  if (known && replaces)
    await recordOwnChange(deps, { userId: known.id, email }, { what: changes.verifyEmail(), address, outcome: 'done' })
  return { email, accountId }
}

async function assertUnchanged(trx: Kysely<Database>, email: string, known: InvitedUser | undefined): Promise<void> {
  const user = await lockInvitedUser(trx, email)
  if (user?.id !== known?.id || user?.isVerified !== known?.isVerified) throw new UserChanged()
}

async function createUser(
  trx: Kysely<Database>,
  userAuth: Pick<UserAuth, 'createUser'>,
  user: Parameters<UserAuth['createUser']>[1],
): Promise<string> {
  try {
    return (await userAuth.createUser(trx, user)).userId
  } catch (error) {
    if (isUniqueViolation(error)) throw new UserChanged()
    throw error
  }
}

/**
 * Whether a link proves the address of a user who never proved it. Somebody else may have registered the address with
 * a link that they were shown, and would otherwise share the new role.
 */
function doesReplaceCredentials({ setsPassword, provesEmail }: InvitationRow, user: InvitedUser | undefined): boolean {
  return user !== undefined && !user.isVerified && provesEmail && !setsPassword
}

/**
 * Accepts an invitation with the session of the invited user instead of their password. The session of another address
 * is rejected, because its user was not invited.
 */
export async function joinAccount(
  deps: AuditDeps,
  { userId, email, address }: { userId: string; email: string; address: string },
  token: string,
): Promise<{ accountId: string }> {
  const invitation = await findInvitation(deps.db, hash(token))
  if (!invitation) throw invitationNotFound()
  if (invitation.setsPassword) throw new ServiceError('SETTING_REFUSED', errorFacts.passwordLink())
  if (invitation.email !== normalizeEmail(email))
    throw new ServiceError(
      'SETTING_REFUSED',
      errorFactsWithValues.otherInvitation({ invited: invitation.email, email }),
    )
  const { accountId, role, provesEmail } = invitation
  const what = changes.acceptInvitation({ role: roles[role]() })
  await applyInvitation(deps, invitation, { who: email, what, address }, async (trx) => {
    const user = await lockInvitedUser(trx, invitation.email)
    if (user?.id !== userId) throw new ServiceError('SIGN_IN_REQUIRED', errorFacts.signedOut())
    if (doesReplaceCredentials(invitation, user))
      throw new ServiceError('SETTING_REFUSED', errorFacts.replacingInvitation())
    if (provesEmail) await markEmailVerified(trx, userId)
    await saveRole(trx, { accountId, userId, role })
  })
  return { accountId }
}

/**
 * Spends an invitation, applies it and records it in one transaction, so that a failure leaves the invitation valid and
 * no user without a role.
 */
async function applyInvitation(
  deps: AuditDeps,
  { tokenHash, accountId }: InvitationRow,
  change: { who: string; what: Fact; address: string },
  apply: (trx: Kysely<Database>) => Promise<void>,
): Promise<void> {
  await deps.db.transaction().execute(async (trx) => {
    // Locked first, as in a change of a member, which locks the same rows: otherwise the two could deadlock.
    await lockOwners(trx, accountId)
    if (!(await spendInvitation(trx, tokenHash))) throw invitationNotFound()
    await apply(trx)
    await appendAuditEntry({ ...deps, db: trx }, { accountId, id: deps.newId('aud'), ...change, outcome: 'done' })
  })
}

async function verifyPassword(
  deps: Pick<Deps, 'db'>,
  { checkPassword }: Pick<UserAuth, 'checkPassword'>,
  { userId, password, ...who }: SignInClient & { userId: string; password: string | undefined },
): Promise<void> {
  if (password === undefined) throw new ServiceError('SIGN_IN_REQUIRED', errorFacts.canSignIn())
  // Limited like sign-in, so that a leaked link cannot be used to guess the password.
  const source = await findKnownSource(deps.db, who)
  const lock = await consumePasswordAttempt(deps, who, source?.name)
  if (lock)
    throw new ServiceError('RATE_LIMIT_EXCEEDED', errorFacts.tooManyAttempts(), {
      retryAfterSeconds: lock.secondsLeft,
    })
  if (await checkPassword(userId, password)) return
  // A user who was just deleted has no password, and accepts as a new one.
  if ((await findInvitedUser(deps.db, who.email))?.id !== userId) throw new UserChanged()
  // The text is the same for a user without a password, who signs in with their organisation.
  throw invalid('password', problems.currentPassword())
}

function missing(field: 'name' | 'password'): ServiceError {
  return invalid(field, problems.required())
}

function invalid(field: string, message: string): ServiceError {
  const problem = readProblem(message)
  return new ServiceError('VALIDATION_ERROR', errorFactsWithValues.fieldOnly({ field, problem }), {
    fields: { [field]: problem },
  })
}

function hash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

function tooManyChanges(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', errorFacts.userChanging(), {
    retryAfterSeconds: 1,
  })
}

function invitationNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', errorFacts.invitationGone())
}

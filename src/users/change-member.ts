import type { Kysely } from 'kysely'
import { errorFacts, errorFactsWithValues } from '../../contracts/facts/errors.ts'
import type { Member } from '../../contracts/dashboard/member.ts'
import { ServiceError } from '../../contracts/errors.ts'
import type { Role } from '../../contracts/procedure.ts'
import { requireAccount } from '../accounts/account.ts'
import type { Deps } from '../deps.ts'
import type { Database } from '../platform/db/schema.ts'
import { deleteWaitingEmails } from '../platform/email/outbox.ts'
import { inviteUser, type IssuedInvitation } from './invitation.ts'
import { findMember, memberNotFound, normalizeEmail, requireMember } from './member.ts'
import {
  deleteInvitation,
  deleteInvitationsOf,
  deleteUserWithoutRole,
  deleteCredentials,
  deletePasswordLinks,
  deleteRole,
  deleteSessions,
  lockOwners,
  saveRole,
} from './store.ts'

/**
 * Removes a user's role, or an invitation that was not accepted, and ends their sessions. A user without another
 * account is deleted.
 */
export async function removeMemberAsOperator(
  { db }: Pick<Deps, 'db'>,
  accountId: string,
  email: string,
): Promise<void> {
  await requireAccount(db, accountId)
  await db.transaction().execute(async (trx) => {
    await lockOwners(trx, accountId)
    const wasInvited = await deleteInvitation(trx, accountId, normalizeEmail(email))
    const member = await findMember(trx, accountId, email)
    if (!member && wasInvited) return
    if (!member) throw memberNotFound(accountId, email)
    await deleteMembership(trx, accountId, member)
    // After the lock on the user, in the order of an accepted invitation.
    await deleteSessions(trx, member.userId)
  })
}

/**
 * Changes the role of a member, and revokes an invitation that would change it back, and those that a former owner sent.
 * The account keeps at least one owner.
 */
export async function setMemberRole(
  { db }: Pick<Deps, 'db'>,
  by: ChangedBy,
  { email, role }: { email: string; role: Role },
): Promise<Member> {
  const { accountId } = by
  return db.transaction().execute(async (trx) => {
    const member = await requireOtherOwner(trx, by, { email, allowLastOwner: role === 'owner' })
    await saveRole(trx, { accountId, userId: member.userId, role })
    await deleteInvitation(trx, accountId, normalizeEmail(email), { keepPasswordLink: true })
    if (role !== 'owner') await deleteInvitationsOf(trx, accountId, member.email)
    return { email: member.email, name: member.name, twoFactor: member.twoFactor, role }
  })
}

/**
 * Removes a member from one account, which keeps at least one owner. Sessions stay: they apply to all accounts of the
 * user, and roles are read for every request. A user without another account is deleted with their sessions.
 */
export async function removeMember({ db }: Pick<Deps, 'db'>, by: ChangedBy, email: string): Promise<void> {
  const { accountId } = by
  await db.transaction().execute(async (trx) => {
    const member = await requireOtherOwner(trx, by, { email, allowLastOwner: false })
    await deleteInvitation(trx, accountId, normalizeEmail(email))
    await deleteMembership(trx, accountId, member)
  })
}

/** Also deletes what the member sent or waits for in this account, and a user without another one. */
async function deleteMembership(
  trx: Kysely<Database>,
  accountId: string,
  { userId, email }: { userId: string; email: string },
): Promise<void> {
  await deleteRole(trx, accountId, userId)
  await deleteInvitationsOf(trx, accountId, email)
  await deleteWaitingEmails(trx, { accountId, kind: 'alert', to: email })
  await deleteUserWithoutRole(trx, userId)
}

/** An account, and the user who changes its members as an owner. */
interface ChangedBy {
  accountId: string
  userId: string
}

/**
 * Returns the member; throws if they are the last owner, unless `allowLastOwner` is set. Checks the owner again, who may
 * have been removed since the call was authorized.
 */
async function requireOtherOwner(
  trx: Kysely<Database>,
  { accountId, userId: changedBy }: ChangedBy,
  { email, allowLastOwner }: { email: string; allowLastOwner: boolean },
) {
  const owners = await lockOwners(trx, accountId)
  if (!owners.includes(changedBy)) throw new ServiceError('ROLE_REQUIRED', errorFacts.viewer())
  const member = await findMember(trx, accountId, email)
  if (!member) throw new ServiceError('NOT_FOUND', errorFacts.noMember())
  if (!allowLastOwner && owners.every((userId) => userId === member.userId))
    throw new ServiceError('SETTING_REFUSED', errorFactsWithValues.lastOwner({ email: member.email }), {
      remedy: `An operator can remove them: waybill owner remove ${accountId} --email ${member.email}`,
    })
  return member
}

/**
 * For a user who lost their password, authenticator app or identity at the OpenID provider: deletes all of them and
 * returns a link that sets a new password.
 */
export async function resetPassword(
  deps: Pick<Deps, 'db' | 'randomBytes'>,
  accountId: string,
  email: string,
): Promise<IssuedInvitation> {
  await requireAccount(deps.db, accountId)
  const member = await requireMember(deps.db, accountId, email)
  return deps.db.transaction().execute(async (db) => {
    await deleteCredentials(db, member.userId)
    await deleteSessions(db, member.userId)
    // The password applies to all accounts, so links from other accounts must become invalid too.
    await deletePasswordLinks(db, member.email)
    return inviteUser({ ...deps, db }, accountId, { email: member.email, role: member.role, setsPassword: true })
  })
}

import { requireAccount } from '../accounts/account.ts'
import type { Deps } from '../deps.ts'
import { inviteOwner, type IssuedInvitation } from './invitation.ts'
import { findMember, memberNotFound, normalizeEmail, requireMember } from './member.ts'
import {
  deleteInvitation,
  deleteOwnerWithoutRole,
  deletePassword,
  deletePasswordLinks,
  deleteRole,
  deleteSessions,
} from './store.ts'

/**
 * Removes a user's role, or an invitation that was not accepted, and ends their sessions. A user without another
 * account is deleted.
 */
export async function removeOwner({ db }: Pick<Deps, 'db'>, accountId: string, email: string): Promise<void> {
  await requireAccount(db, accountId)
  const wasInvited = await deleteInvitation(db, accountId, normalizeEmail(email))
  const member = await findMember(db, accountId, email)
  if (!member && wasInvited) return
  if (!member) throw memberNotFound(accountId, email)
  const { ownerId } = member
  await deleteRole(db, accountId, ownerId)
  await deleteSessions(db, ownerId)
  await deleteOwnerWithoutRole(db, ownerId)
}

/**
 * For a user who lost their password or authenticator app: deletes both and returns a link that sets a new password.
 */
export async function resetPassword(
  deps: Pick<Deps, 'db' | 'randomBytes'>,
  accountId: string,
  email: string,
): Promise<IssuedInvitation> {
  await requireAccount(deps.db, accountId)
  const member = await requireMember(deps.db, accountId, email)
  await deletePassword(deps.db, member.ownerId)
  await deleteSessions(deps.db, member.ownerId)
  // The password applies to all accounts, so links from other accounts must become invalid too.
  await deletePasswordLinks(deps.db, member.email)
  return inviteOwner(deps, accountId, { email: member.email, role: member.role, setsPassword: true })
}

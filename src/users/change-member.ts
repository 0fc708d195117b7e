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
 * Takes back what was given: the role or, from who has not accepted it yet, the invitation. Ends the
 * person's sessions too; one who has no other account is forgotten.
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

/** For whoever has lost their password or their authenticator app: both are forgotten, and a link gives a new password. */
export async function resetPassword(
  deps: Pick<Deps, 'db' | 'randomBytes'>,
  accountId: string,
  email: string,
): Promise<IssuedInvitation> {
  await requireAccount(deps.db, accountId)
  const member = await requireMember(deps.db, accountId, email)
  await deletePassword(deps.db, member.ownerId)
  await deleteSessions(deps.db, member.ownerId)
  // A password is one for all accounts: a link by way of another one would be a second key to it.
  await deletePasswordLinks(deps.db, member.email)
  return inviteOwner(deps, accountId, { email: member.email, role: member.role, setsPassword: true })
}

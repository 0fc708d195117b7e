import { requireAccount } from '../account/account.ts'
import type { Deps } from '../deps.ts'
import { inviteOwner, type IssuedInvitation } from './invitation.ts'
import { requireMember } from './member.ts'
import { deletePassword, deletePasswordLinks, deleteSessions } from './store.ts'

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
